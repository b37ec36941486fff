// Package outerloop is a map: it holds no code.
//
// Research agents in sandboxes ask for experiments through files in one directory
// of their workspace, the channel; a trusted process outside, the kernel, does
// what they asked. Who builds a kernel in Go starts here:
//
//   - [github.com/outerloop-go/outerloop/channel] is the protocol, both halves.
//     Its example of a leg is the shortest whole picture.
//   - [github.com/outerloop-go/outerloop/watcher] answers questions beside live
//     sessions.
//   - [github.com/outerloop-go/outerloop/ledger] records launches.
//   - [github.com/outerloop-go/outerloop/slurm] runs jobs on a cluster, and
//     [github.com/outerloop-go/outerloop/slurm/local] on one machine.
//   - [github.com/outerloop-go/outerloop/channel/channeltest] tests a kernel.
//
// The programs are in cmd: one for each thing that an agent asks, and
// outerloop-tick, the operator's.
package outerloop
