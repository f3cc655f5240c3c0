// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"net"
	"testing"
)

func TestFreePortIsFree(t *testing.T) {
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatalf("listening on the suggested port: %v", err)
	}
	_ = listener.Close()
}
