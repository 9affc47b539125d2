package main

import (
	"context"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// patience is how long a command may take to end after a signal. CUE takes no
// context: while it evaluates nothing but the end of the process stops it.
const patience = 2 * time.Second

// inOrder is the key of what a command has set in its context that ends in order by
// itself: a server lets running calls finish.
type inOrder struct{}

// endsInOrder says that from here on the command ends by itself once its context
// has ended, in a time of its own.
func endsInOrder(ctx context.Context) {
	if own, ok := ctx.Value(inOrder{}).(*atomic.Bool); ok {
		own.Store(true)
	}
}

// interruptible gives a context that ends with the first signal. A second signal ends
// the process at once, and so does patience that runs out, with the status of a shell:
// 128 and the signal's number. stop ends the watch.
func interruptible(parent context.Context, signals <-chan os.Signal, exit func(status int)) (ctx context.Context, stop func()) {
	var own atomic.Bool
	ctx, cancel := context.WithCancel(context.WithValue(parent, inOrder{}, &own))
	done := make(chan struct{})
	go func() {
		var last os.Signal
		select {
		case last = <-signals:
		case <-done:
			return
		}
		cancel()
		select {
		case last = <-signals:
		case <-time.After(patience):
			if own.Load() {
				select {
				case last = <-signals:
				case <-done:
					return
				}
			}
		case <-done:
			return
		}
		status := 1
		if n, ok := last.(syscall.Signal); ok {
			status = 128 + int(n)
		}
		exit(status)
	}()
	return ctx, func() {
		close(done)
		cancel()
	}
}
