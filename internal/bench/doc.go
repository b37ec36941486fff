// Package bench measures what the project promises of its speed and size, each
// figure against a yardstick that is measured in the same run, in turn with it:
// a machine that is busy is busy for both. [Rows] makes the table that "make
// bench" prints, and [Soak] what "make soak-scale" does.
//
// It needs Linux, a C compiler and the go command.
package bench
