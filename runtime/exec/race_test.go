//go:build race

package exec_test

// raced says that the race detector is on.
const raced = true
