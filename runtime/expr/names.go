package expr

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname

	"cuelang.org/go/cue/cuecontext"
)

// CUE keeps every name of a field that it ever saw, of whatever context, in one
// table of the process (cuelang.org/go/internal/core/runtime, index.go), and has
// no way to forget one. Callers choose the keys of maps, so while serving the
// table would grow without end: by about 100 bytes for each name.
//
// So what came up while serving is taken out again. A value of CUE refers to
// names by their places in the table. Therefore it is done only at a moment in
// which nothing is evaluated and nobody makes values that last (Hold), it leaves
// the names that those values have, and from then on no worker of before is used.

//go:linkname cueLabels cuelang.org/go/internal/core/runtime.labels
var cueLabels []string

//go:linkname cueLabelMap cuelang.org/go/internal/core/runtime.labelMap
var cueLabelMap map[string]int

//go:linkname cueMutex cuelang.org/go/internal/core/runtime.mutex
var cueMutex sync.RWMutex

// maxNames is how many names may come up before they are forgotten.
const maxNames = 50_000

// forgetWait is how long an evaluation that runs on may keep names from being
// forgotten before that is put off.
const forgetWait = time.Second

var (
	// turns holds one token for each evaluation under way: as many as there are
	// processors, two at least, so that one that runs on leaves room for the next.
	turns = make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))
	// holds is read-locked while values that last are made.
	holds sync.RWMutex
	// keep is how many names of the table stay, forgetAt with how many names in it
	// the others go, and epoch how often they went.
	keep, forgetAt, epoch atomic.Int64
)

// Hold keeps names from being forgotten until release is called: what CUE values
// are made of in between stays. It is for the loading and compiling of a
// configuration while another one is served; Compile of package compile holds by
// itself. After the release, values of the configuration are for its Pool alone.
func Hold() (release func()) {
	holds.RLock()
	return func() {
		n := names()
		keep.Store(n) // n only grows while anyone holds
		forgetAt.Store(n + maxNames)
		holds.RUnlock()
	}
}

// names is the number of names in CUE's table.
func names() int64 {
	cueMutex.RLock()
	defer cueMutex.RUnlock()
	return int64(len(cueLabels))
}

// forget takes the names out that came up since the last Hold, when they are
// many. Whoever calls it has one of the turns and no value of CUE in hand.
func forget() {
	n := names()
	if keep.Load() == 0 || n < forgetAt.Load() || !known() || !holds.TryLock() {
		return
	}
	defer holds.Unlock()
	taken := 0
	defer func() {
		for range taken {
			<-turns
		}
	}()
	over := time.NewTimer(forgetWait)
	defer over.Stop()
	for taken < cap(turns)-1 {
		select {
		case turns <- struct{}{}:
			taken++
		case <-over.C:
			forgetAt.Store(n + maxNames/10)
			return
		}
	}
	cueMutex.Lock()
	defer cueMutex.Unlock()
	kept := int(keep.Load())
	clear(cueLabels[kept:])
	cueLabels = cueLabels[:kept]
	// A map from which much is deleted keeps its size, and more.
	cueLabelMap = make(map[string]int, kept)
	for i, name := range cueLabels {
		cueLabelMap[name] = i
	}
	forgetAt.Store(int64(kept + maxNames))
	epoch.Add(1)
}

// known says whether the table is what this file takes it for. TestForget fails
// when it is not, after a change of CUE; names are kept then.
var known = sync.OnceValue(func() bool {
	const name = "a name that metacue looks for"
	cuecontext.New().CompileString(`"` + name + `": 0`)
	cueMutex.RLock()
	defer cueMutex.RUnlock()
	i, ok := cueLabelMap[name]
	return ok && i < len(cueLabels) && cueLabels[i] == name && len(cueLabels) == len(cueLabelMap)
})
