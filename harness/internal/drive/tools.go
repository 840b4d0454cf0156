package drive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/httptool"
)

// These are error codes of calls that were refused before they ran.
const (
	codeRefused   = "E_ARGS"      // unknown tool, or arguments that fail its schema
	codeDenied    = "E_DENIED"    // the user declined or could not be asked
	codeForbidden = "E_FORBIDDEN" // the suite forbids it
	codeBlocked   = "E_BLOCKED"   // the same, of a tool of a world that has permissions
	codeSkipped   = "E_SKIPPED"   // the user skipped what the call is for
)

// carryOutTool runs a tool, or records an answer that the machine already has. It repeats the
// agent's checks of the arguments because strategies are not trusted.
//
// A call that needs an answer of a person runs when that has come.
func carryOutTool(ctx context.Context, e *driver, c agent.CallTool) {
	action, given := e.actionID(c.ID, e.clock), c.Given
	if faults := e.Params.Tools.Validate(c.Call); given == nil && len(faults) > 0 {
		given = &tool.Result{Outcome: tool.Rejected, Code: codeRefused, Message: strings.Join(faults, ", ")}
	}
	done := func(ctx context.Context, given *tool.Result) completion { return callTool(ctx, e, c, given, action) }
	if given != nil {
		e.calls.add(done(ctx, given))
		return
	}
	permit(ctx, e, c, done)
}

// callTool runs a call, unless its result is given, and writes its row.
func callTool(ctx context.Context, e *driver, c agent.CallTool, given *tool.Result, action string) completion {
	start := e.clock
	var effect world.Effect
	if given != nil {
		effect.Result = *given
	} else {
		var err error
		effect, err = runTool(ctx, e, c, episode.CallInfo{
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
	result := &effect.Result
	at := start.Add(result.Duration)
	row := e.rows.tool(c, effect, action, start, at)
	e.emit(episode.Trace{Tool: &c, Result: result, Asked: int(e.rows.asked[c.Parent])})
	return completion{
		at: at, id: c.ID, event: agent.ToolReturned{At: at, ID: c.ID, Result: *result},
		apply: func(r agent.Ready, _ bool) { e.rows.toolDone(row, r) },
	}
}

// runTool runs one call after the checks that precede any side effect.
func runTool(ctx context.Context, e *driver, c agent.CallTool, info episode.CallInfo) (world.Effect, error) {
	run := toolFunc(e, c.Call.Name)
	if run == nil {
		return e.world.Call(ctx, c.Call, info.At)
	}
	info.IdempotencyKey = idempotency(c.Key)
	return e.world.Around(c.Call, info.At, func(at time.Time) (world.Effect, error) {
		info.At = at
		res, err := run(ctx, c.Call, info)
		return world.Effect{Result: res}, err
	})
}

// toolFunc returns the function that runs a tool; nil means the world. A Go function takes
// precedence over the suite's own; neither runs a forbidden tool.
func toolFunc(e *driver, name string) episode.ToolFunc {
	if value, ok := e.Suite.Fixed[name]; ok {
		return func(context.Context, tool.Call, episode.CallInfo) (tool.Result, error) {
			return tool.Result{Outcome: tool.OK, Value: value}, nil
		}
	}
	if f, ok := e.Tools[name]; ok {
		return guarded(f)
	}
	if spec, ok := e.Suite.HTTP[name]; ok {
		return httptool.Tool{Spec: spec, Headers: e.headers[name], Transport: toolsTransport(e), Missing: e.missing}.Call
	}
	if server, ok := e.Suite.MCP[name]; ok {
		return serverTool(e, server.Name)
	}
	return nil
}

// guarded turns a panic of a Go function into an error, so that the rows of other episodes
// are not lost.
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

// idempotency encodes a key for a header, because keys contain raw JSON.
func idempotency(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "sha256:" + hex.EncodeToString(sum[:])
}
