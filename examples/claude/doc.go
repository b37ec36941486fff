// Package claude holds no code: authors' commands for real agents are beside it, and
// the test that tries them.
package claude
