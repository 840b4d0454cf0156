package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
)

// ToolFunc runs one call of a tool whose name and arguments are already
// checked. Every way to run a tool is one: a Go function, an HTTP endpoint, the
// world. What goes wrong for the agent to deal with is an outcome of the Result;
// an error says that the runner itself is broken, and ends the episode as an
// infrastructure failure. Result.Duration moves the virtual clock. Episodes call
// it concurrently.
type ToolFunc func(ctx context.Context, call tool.Call, info CallInfo) (tool.Result, error)

// CallInfo says which execution a ToolFunc is asked for.
type CallInfo struct {
	// RunID is the run, StepID this call, ParentStep the turn that asked for it.
	// A live run has ids of its own; those of a replay are reproducible.
	RunID, StepID, ParentStep string
	// IdempotencyKey is sha256: and the hex digest of name and canonical
	// arguments: equal for calls that mean the same.
	IdempotencyKey string
	// At is the world's time.
	At time.Time
}

// maxToolValue bounds the JSON a Go function may return, in bytes.
const maxToolValue = 16 << 20

// Error codes of calls that were refused before they ran.
const (
	codeRefused   = "E_ARGS"      // unknown tool, or arguments that fail its schema
	codeDenied    = "E_DENIED"    // the user declined, or nobody was there to ask
	codeForbidden = "E_FORBIDDEN" // the suite forbids it
)

// runTool runs one call past the checks that come before any side effect. What
// the agent has checked is checked again: strategies are not trusted with it.
func (e *episode) runTool(ctx context.Context, c agent.CallTool, info CallInfo) (tool.Result, error) {
	if faults := e.params.Tools.Validate(c.Call); len(faults) > 0 {
		return tool.Result{Outcome: tool.Rejected, Code: codeRefused, Message: strings.Join(faults, ", ")}, nil
	}
	if refused := e.approve(ctx, c.Call); refused != nil {
		return *refused, nil
	}
	run := e.toolFunc(c.Call.Name)
	if run == nil {
		return e.world.Call(c.Call, info.At), nil
	}
	info.IdempotencyKey = idempotency(c.Key)
	return e.world.Around(c.Call, info.At, func(at time.Time) (tool.Result, error) {
		info.At = at
		res, err := run(ctx, c.Call, info)
		if err == nil {
			err = checkResult(&res)
		}
		if err != nil {
			return tool.Result{}, fmt.Errorf("tool %s: %w", c.Call.Name, err)
		}
		return res, nil
	})
}

// toolFunc returns what runs a tool; nil is the world. A Go function comes
// before the suite's own.
func (e *episode) toolFunc(name string) ToolFunc {
	if f, ok := e.funcs[name]; ok {
		return guarded(f)
	}
	if spec, ok := e.suite.HTTP[name]; ok {
		return httpTool{spec: spec, headers: e.headers[name], transport: e.transport(), missing: e.missing}.call
	}
	return nil
}

// guarded turns a panic of a Go function into an error: one broken tool must
// not take the rows of the other episodes with it.
func guarded(f ToolFunc) ToolFunc {
	return func(ctx context.Context, c tool.Call, info CallInfo) (res tool.Result, err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("its Go function panicked: %v", r)
			}
		}()
		return f(ctx, c, info)
	}
}

// checkResult says what is wrong with a Result, and cuts its duration to the
// ledger's microseconds.
func checkResult(r *tool.Result) error {
	switch {
	case !slices.Contains([]tool.Outcome{tool.OK, tool.Error, tool.Timeout, tool.Rejected}, r.Outcome):
		return fmt.Errorf("outcome %q: must be ok, error, timeout or rejected", r.Outcome)
	case r.Outcome != tool.OK && r.Value != nil:
		return fmt.Errorf("outcome %s has a value: only ok has one", r.Outcome)
	case r.Outcome == tool.OK && len(r.Value) > maxToolValue:
		return fmt.Errorf("its value is longer than %d bytes", maxToolValue)
	case r.Outcome == tool.OK && !json.Valid(r.Value):
		return errors.New("its value is not JSON")
	case r.Duration < 0:
		return fmt.Errorf("duration %v is negative", r.Duration)
	}
	r.Duration = r.Duration.Truncate(time.Microsecond)
	return nil
}

// idempotency is a key as it may stand in a header: keys hold raw JSON.
func idempotency(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// checkTools finds Go functions for tools the suite does not have.
func (o Options) checkTools() error {
	var errs []error
	for _, name := range sortedKeys(o.Tools) {
		has := slices.ContainsFunc(o.Suite.Tools, func(s tool.Spec) bool { return s.Name == name })
		if !has || o.Tools[name] == nil {
			var names []string
			for _, s := range o.Suite.Tools {
				names = append(names, s.Name)
			}
			errs = append(errs, fmt.Errorf("tool %q: a Go function must be non-nil and have the name of one of the suite's tools: %s", name, abridge(names, 80)))
		}
	}
	return errors.Join(errs...)
}
