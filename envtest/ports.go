// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// loopback is the only address that anything listens on.
const loopback = "127.0.0.1"

// freePort suggests a port that nothing listens on. Somebody else may take it before the program does; that is
// unlikely, as it lies below the range from which systems draw ports for outgoing connections and above the usual
// services, and a start that meets it is repeated.
func freePort() (int, error) {
	const low, high, tries = 20000, 30000, 100
	for range tries {
		port := low + rand.IntN(high-low)
		listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
		if err == nil {
			return port, listener.Close()
		}
	}
	return 0, errors.New("finding a free port on " + loopback + ": none between 20000 and 30000")
}
