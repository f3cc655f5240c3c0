// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockPoll is how often a waiting build looks again.
const lockPoll = 200 * time.Millisecond

// lock takes the lock file for this process and waits, after one call of waiting, while another one has it. The
// operating system drops the lock when its holder ends, however it ends.
func lock(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the lock file: %w", err)
	}
	for said := false; ; {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { _ = file.Close() }, nil
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			_ = file.Close()
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		if !said {
			waiting()
			said = true
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, fmt.Errorf("waiting for another build, which holds %s: %w", path, ctx.Err())
		case <-time.After(lockPoll):
		}
	}
}
