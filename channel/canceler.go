package channel

import "github.com/outerloop-go/outerloop/internal/dirfd"

// Canceler is the part of a context.Context that ends a wait early. Every
// context is one; the type is narrower than a context so that the syscall
// programs, which wait without one, stay small.
type Canceler = dirfd.Canceler
