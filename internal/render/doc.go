// Package render turns answers of the channel into text for people and agents.
//
// It opens nothing and knows no clock: what is printed depends on the answer
// and the time zone that are passed in, and on nothing else. Text that other
// agents, jobs or the scheduler wrote goes through [Line] or [Text] first,
// whoever prints it.
package render
