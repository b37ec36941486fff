// Package packages holds no code, only the test of the Debian and RPM packages that
// "make packages" builds: installed, used as installed, and removed again.
package packages
