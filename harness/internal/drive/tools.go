package drive

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
	"github.com/cupel-eval/cupel/harness/episode"
)

// maxToolValue bounds the JSON a Go function may return, in bytes.
const maxToolValue = 16 << 20

// Error codes of calls that were refused before they ran.
const (
	codeRefused   = "E_ARGS"      // unknown tool, or arguments that fail its schema
	codeDenied    = "E_DENIED"    // the user declined, or nobody was there to ask
	codeForbidden = "E_FORBIDDEN" // the suite forbids it
)

// carryOutTool runs a tool, or records an answer the machine already has.
func carryOutTool(ctx context.Context, e *driver, c agent.CallTool) completion {
	start, action := e.clock, e.actionID(c.ID, e.clock)
	var result tool.Result
	if c.Given != nil {
		result = *c.Given
	} else {
		var err error
		result, err = runTool(ctx, e, c, episode.CallInfo{
			RunID: e.RunID, StepID: action, ParentStep: e.rows.actions[c.Parent],
			At: start,
		})
		if ctx.Err() != nil {
			return completion{at: start, id: c.ID, event: agent.Cancelled{At: start}}
		}
		if err != nil {
			return completion{at: start, id: c.ID, failure: err}
		}
	}
	at := start.Add(result.Duration)
	row := e.rows.tool(c, result, action, start, at)
	e.emit(episode.Trace{Tool: &c, Result: &result, Asked: int(e.rows.asked[c.Parent])})
	return completion{
		at: at, id: c.ID, event: agent.ToolReturned{At: at, ID: c.ID, Result: result},
		apply: func(r agent.Ready, _ bool) { e.rows.toolDone(row, r) },
	}
}

// runTool runs one call past the checks that come before any side effect. What
// the agent has checked is checked again: strategies are not trusted with it.
func runTool(ctx context.Context, e *driver, c agent.CallTool, info episode.CallInfo) (tool.Result, error) {
	if faults := e.Params.Tools.Validate(c.Call); len(faults) > 0 {
		return tool.Result{Outcome: tool.Rejected, Code: codeRefused, Message: strings.Join(faults, ", ")}, nil
	}
	if refused := approve(ctx, e, c.Call); refused != nil {
		return *refused, nil
	}
	run := toolFunc(e, c.Call.Name)
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
func toolFunc(e *driver, name string) episode.ToolFunc {
	if f, ok := e.Tools[name]; ok {
		return guarded(f)
	}
	if spec, ok := e.Suite.HTTP[name]; ok {
		return httpTool{spec: spec, headers: e.headers[name], transport: toolsTransport(e), missing: e.missing}.call
	}
	return nil
}

// guarded turns a panic of a Go function into an error: one broken tool must
// not take the rows of the other episodes with it.
func guarded(f episode.ToolFunc) episode.ToolFunc {
	return func(ctx context.Context, c tool.Call, info episode.CallInfo) (res tool.Result, err error) {
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
