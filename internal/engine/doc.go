// Package engine moves runs through their lives: legs, parks, wakes, the gate
// and the end.
//
// # A run's life
//
// A run is a directory below the state root, and its state is one word in
// run.json. Each step is on disk there before it is an act, so whatever dies,
// the next process that looks knows what to do:
//
//	ready    the next leg may start at once: a new run, or one that is woken
//	         because its request was refused
//	parked   the jobs of a sleep are out; the next leg waits for them
//	running  a leg's process has the run
//	parking  a request was accepted and charged; its jobs are going in
//	ended    nothing moves any more
//
// The process that starts a leg is itself a job of the backend ("wake"), queued
// behind the launches of the sleep before it, so waiting costs no process and
// a wake needs no tick. The tick, [Engine.Pass], is what submits the first leg,
// and what takes a run on when one of its processes died.
//
// Whoever changes a run holds its lock, and what it changes becomes durable in one
// place, [Run.save]. A step that fails is taken again, see [Engine.trouble].
package engine
