package exec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/itchyny/gojq"
)

// What one run of a jq program may take.
const (
	jqTimeout  = 5 * time.Second
	jqMaxBytes = 16 << 20 // of its output, as JSON
)

// JQ is a compiled jq program.
type JQ struct {
	code *gojq.Code
	// OneObject says that every run surely gives one output at most, an object.
	OneObject bool
}

// jqVariables are bound in every program, in the order in which run gives them.
var jqVariables = []string{"$args", "$status", "$headers"}

// ParseJQ compiles a program of github.com/itchyny/gojq. It sees no
// environment and no files.
func ParseJQ(src string) (*JQ, error) {
	q, err := gojq.Parse(src)
	if err != nil {
		return nil, err
	}
	code, err := gojq.Compile(q, gojq.WithVariables(jqVariables))
	if err != nil {
		return nil, err
	}
	return &JQ{code: code, OneObject: oneObject(q)}, nil
}

// jqError is a failure of a program, not of the answer that it was given.
type jqError struct{ err error }

func (e *jqError) Error() string { return e.err.Error() }
func (e *jqError) Unwrap() error { return e.err }

// said gives the text with which a program ended a call by error("…"): it has
// found a refusal that the API sent as a success, and speaks for itself.
func said(err error) (string, bool) {
	v, ok := errors.AsType[gojq.ValueError](err)
	if !ok {
		return "", false
	}
	text, ok := v.Value().(string)
	return text, ok
}

// all gives the program's outputs. Every error is a *jqError.
func (j *JQ) all(ctx context.Context, input any, values ...any) ([]json.RawMessage, error) {
	own, cancel := context.WithTimeout(ctx, jqTimeout)
	defer cancel()
	var out []json.RawMessage
	size := 0
	iter := j.code.RunWithContext(own, input, values...)
	for {
		v, ok := iter.Next()
		if !ok {
			return out, nil
		}
		if err, ok := v.(error); ok {
			var halt *gojq.HaltError
			switch {
			case errors.As(err, &halt) && halt.Value() == nil:
				return out, nil
			case ctx.Err() == nil && own.Err() != nil:
				err = fmt.Errorf("it ran longer than %s", jqTimeout)
			case ctx.Err() != nil:
				err = errors.New("the time of the call was over before it had ended")
			}
			return nil, &jqError{err}
		}
		b, err := gojq.Marshal(v)
		if err != nil {
			return nil, &jqError{err}
		}
		if size += len(b) + 1; size > jqMaxBytes {
			return nil, &jqError{fmt.Errorf("it gives more than %d bytes", jqMaxBytes)}
		}
		out = append(out, b)
	}
}

// run gives the program's one output, or a list of them when there are several
// or none.
func (j *JQ) run(ctx context.Context, input any, values ...any) (json.RawMessage, error) {
	out, err := j.all(ctx, input, values...)
	if err != nil || len(out) == 1 {
		return first(out), err
	}
	return array(out), nil
}

func first(out []json.RawMessage) json.RawMessage {
	if len(out) == 0 {
		return nil
	}
	return out[0]
}

// array gives a list of JSON values as JSON.
func array(list []json.RawMessage) json.RawMessage {
	raw := make([][]byte, len(list))
	for i, r := range list {
		raw[i] = r
	}
	return append(append(json.RawMessage{'['}, bytes.Join(raw, []byte{','})...), ']')
}

// decode gives JSON as jq sees it, digits kept.
func decode(data json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
