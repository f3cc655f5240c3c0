// SPDX-License-Identifier: Apache-2.0

// Package main shows an operator at work: it starts a control plane of its own, runs the operator of examples/webapp
// under its own role, and drives it through creation, changes, repairs, rest and deletion, while it counts every
// request that the operator sends. It fails if one is sent that isn't needed.
//
// On a terminal the graphs of the applications stand below each step's title and move with every run; elsewhere a line
// says what has changed. Logs of the operator and the control plane are discarded, as they would tear the picture
// apart. NO_COLOR takes the colours off, and with KEEP=1 everything stays up until Ctrl-C instead of being deleted.
package main
