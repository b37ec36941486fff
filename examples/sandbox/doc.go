// Package sandbox holds no code: ways of putting the verbs into sandboxes are beside it,
// and the test that runs them where there is nothing else.
package sandbox
