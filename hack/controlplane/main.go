// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

// run is the program without the process around it. It expects to be in the module's folder.
func run(ctx context.Context, args []string, out *os.File) error {
	flags := flag.NewFlagSet("controlplane", flag.ContinueOnError)
	onlyPrint := flags.Bool("print", false, "print the cache folder and build nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	goMod, err := os.ReadFile("go.mod")
	if err != nil {
		return fmt.Errorf("reading the pinned versions: %w: run this in hack/controlplane", err)
	}
	pins, err := readPins(string(goMod))
	if err != nil {
		return err
	}
	root, err := cacheRoot(os.Getenv, os.UserCacheDir)
	if err != nil {
		return err
	}
	folder := pins.folder(root, runtime.GOOS, runtime.GOARCH)
	if *onlyPrint {
		_, err := io.WriteString(out, folder+"\n")
		return err
	}
	c := &cache{
		folder:   folder,
		programs: pins.programs(),
		tools:    goTools{},
		progress: newProgress(out, isTerminal(out)),
	}
	return c.fill(ctx)
}
