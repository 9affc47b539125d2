// Package expr evaluates what compiled Go cannot: the CUE expressions of a
// request, the rules across arguments, and the constraints that no JSON Schema
// can state. It is the one place where CUE runs while serving, and knows
// nothing of HTTP.
//
// CUE's evaluator promises no concurrent use of one context, cannot be
// stopped, and keeps every field name it ever saw. So values live in workers:
// each is used by one call at a time, one that outlives its call's deadline is
// abandoned, and all are replaced when CUE is made to forget names (names.go).
package expr

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	cuejson "cuelang.org/go/encoding/json"

	"github.com/metacue/metacue/runtime/bind"
)

// Pool holds the workers of one configuration.
type Pool struct {
	build func() (cue.Value, error)

	mu   sync.Mutex
	idle []*worker
}

// worker is one evaluated configuration in a context of its own.
type worker struct {
	root  cue.Value
	ctx   *cue.Context         // of what is filled in
	tools map[string]cue.Value // by path, looked up once
	epoch int64                // when it was made; in another one it must not be used
}

// NewPool makes a pool around first, the configuration already evaluated, from
// which further workers are built when they are needed. All that makes
// configurations does so under Hold.
func NewPool(first cue.Value, build func() (cue.Value, error)) *Pool {
	return &Pool{build: build, idle: []*worker{newWorker(first)}}
}

func newWorker(root cue.Value) *worker {
	return &worker{root: root, ctx: cuecontext.New(), tools: map[string]cue.Value{}, epoch: epoch.Load()}
}

// do runs f on a worker. When ctx ends first, do returns its error at once and
// the worker is dropped when f is done; until then it keeps its turn, so that
// evaluations that run on cannot pile up.
func (p *Pool) do(ctx context.Context, f func(*worker) error) error {
	select {
	case turns <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-turns }()
		w, err := p.take()
		if err == nil {
			err = guard(w, f)
		}
		if w != nil && ctx.Err() == nil {
			p.mu.Lock()
			p.idle = append(p.idle, w)
			p.mu.Unlock()
		}
		done <- err
		forget()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// take gives a worker to whoever has a turn.
func (p *Pool) take() (*worker, error) {
	p.mu.Lock()
	for len(p.idle) > 0 {
		w := p.idle[len(p.idle)-1]
		p.idle = slices.Delete(p.idle, len(p.idle)-1, len(p.idle))
		if w.epoch == epoch.Load() {
			p.mu.Unlock()
			return w, nil
		}
	}
	p.mu.Unlock()
	root, err := p.build()
	if err != nil {
		return nil, fmt.Errorf("the configuration cannot be evaluated again: %w", err)
	}
	return newWorker(root), nil
}

// guard turns a panic of the evaluator into an error: it concerns one call.
func guard(w *worker, f func(*worker) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the evaluator failed: %v", r)
		}
	}()
	return f(w)
}

var (
	inputPath = cue.ParsePath("input")
	stepsPath = cue.ParsePath("steps")
	checkPath = cue.ParsePath("check")
)

// fill gives the tool at path with s filled in.
func (w *worker) fill(path cue.Path, s *bind.Scope) (cue.Value, error) {
	key := path.String()
	tool, ok := w.tools[key]
	if !ok {
		tool = w.root.LookupPath(path)
		if err := tool.Err(); err != nil && !tool.Exists() {
			return tool, err
		}
		w.tools[key] = tool
	}
	v, err := w.extract(s.Args)
	if err != nil {
		return tool, err
	}
	tool = tool.FillPath(inputPath, v)
	for name, state := range s.Steps {
		if state == nil {
			continue // skipped: whatever refers to it is absent
		}
		v, err := w.value(state)
		if err != nil {
			return tool, err
		}
		tool = tool.FillPath(cue.MakePath(stepsPath.Selectors()[0], cue.Str(name)), v)
	}
	return tool, nil
}

// extract makes one CUE value of the arguments.
func (w *worker) extract(args bind.Args) (cue.Value, error) {
	b, err := json.Marshal(args)
	if err != nil {
		return cue.Value{}, err
	}
	return w.value(b)
}

// value makes a CUE value of JSON. It goes by way of syntax, which keeps every
// digit; filling in Go values would not.
func (w *worker) value(data json.RawMessage) (cue.Value, error) {
	x, err := cuejson.Extract("arguments", data)
	if err != nil {
		return cue.Value{}, err
	}
	v := w.ctx.BuildExpr(x)
	return v, v.Err()
}
