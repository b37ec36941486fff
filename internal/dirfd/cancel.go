package dirfd

// Canceler is the part of a context.Context that a wait needs, and takes any of
// them. The whole interface has a Deadline method, and through the type of that
// method a program that links any context links all that can be done with a
// time.Time as well: 110 kB for each verb.
type Canceler interface {
	Done() <-chan struct{}
	Err() error
}
