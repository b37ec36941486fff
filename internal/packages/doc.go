// Package packages holds no code, only tests of what is shipped: the Debian and RPM
// packages that "make packages" builds, installed, used and removed again, and the
// examples and first steps that an operator copies.
package packages
