package main

import (
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestInterruptible shows when a signal ends the process although its command does
// not, and with which status.
func TestInterruptible(t *testing.T) {
	for name, test := range map[string]struct {
		first   os.Signal
		second  time.Duration // after the first; 0 means none
		returns time.Duration // after the first
		inOrder bool
		status  int           // -1 means that the command returns by itself
		after   time.Duration // the first
	}{
		"returns":                   {first: os.Interrupt, returns: time.Second, status: -1},
		"evaluates, SIGINT":         {first: os.Interrupt, returns: time.Hour, status: 130, after: patience},
		"evaluates, SIGTERM":        {first: syscall.SIGTERM, returns: time.Hour, status: 143, after: patience},
		"a second signal":           {first: syscall.SIGTERM, second: time.Second, returns: time.Hour, status: 143, after: time.Second},
		"a server":                  {first: syscall.SIGTERM, returns: 10 * time.Second, inOrder: true, status: -1},
		"a server, a second signal": {first: syscall.SIGTERM, second: 5 * time.Second, returns: 10 * time.Second, inOrder: true, status: 143, after: 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				signals, status, start := make(chan os.Signal, 2), make(chan int, 1), time.Now()
				ctx, stop := interruptible(t.Context(), signals, func(n int) { status <- n })
				if test.inOrder {
					endsInOrder(ctx)
				}
				signals <- test.first
				if test.second > 0 {
					time.AfterFunc(test.second, func() { signals <- test.first })
				}
				<-ctx.Done()
				select {
				case got := <-status:
					if took := time.Since(start); got != test.status || took != test.after {
						t.Errorf("the process ends with %d after %v; want %d after %v", got, took, test.status, test.after)
					}
				case <-time.After(test.returns):
					if test.status != -1 {
						t.Errorf("the process goes on after %v", test.returns)
					}
				}
				stop()
			})
		})
	}
}
