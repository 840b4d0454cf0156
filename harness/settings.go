package harness

import (
	"fmt"
	"reflect"

	"github.com/cupel-eval/cupel/agent/orchestrator/limits"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/clip"
)

// agentPart returns the settings of a candidate that only some agents have, for digests;
// nil if it has none, so that older digests stay valid.
func agentPart(c goldens.Candidate) any {
	part := struct {
		System, Fallback string              `json:",omitempty"`
		MaxIterations    int                 `json:",omitempty"`
		FinalRetries     *int                `json:",omitempty"`
		NoImages         bool                `json:",omitempty"`
		Memory           goldens.Memory      `json:",omitzero"`
		Batch            strategy.Batch      `json:",omitzero"`
		Plan             strategy.PlanBounds `json:",omitzero"`
		Orchestrator     limits.Bounds       `json:",omitzero"`
		External         any                 `json:",omitempty"`
	}{c.System, c.Fallback, c.MaxIterations, c.FinalRetries, c.NoImages, c.Memory, c.Batch, c.Plan, c.Orchestrator, c.Digestible()}
	if reflect.ValueOf(part).IsZero() {
		return nil
	}
	return part
}

// agentSettings returns the same settings as text, except the other models, which have
// their own fields. Of a system prompt it shows the beginning and a digest of the whole.
func agentSettings(c goldens.Candidate) []manifest.Setting {
	var out []manifest.Setting
	add := func(name string, set bool, format string, args ...any) {
		if set {
			out = append(out, manifest.Setting{Name: name, Value: fmt.Sprintf(format, args...)})
		}
	}
	add("system", c.System != "", "%q (%.12s)", clip.Bytes(c.System, 120), drive.DigestOf(c.System))
	add("max_iterations", c.MaxIterations != 0, "%d", c.MaxIterations)
	if c.FinalRetries != nil {
		add("final_retries", true, "%d", *c.FinalRetries)
	}
	add("no_images", c.NoImages, "true")
	add("memory.turns", c.Memory.Turns != 0, "%d", c.Memory.Turns)
	add("memory.tokens", c.Memory.Tokens != 0, "%d", c.Memory.Tokens)
	add("memory.off", c.Memory.Off, "true")
	add("batch.size", c.Batch.Size != 0, "%d", c.Batch.Size)
	add("batch.delay", c.Batch.Delay != 0, "%v", c.Batch.Delay)
	add("batch.stop_on_fail", c.Batch.StopOnFail, "true")
	add("plan.attempts", c.Plan.Attempts != 0, "%d", c.Plan.Attempts)
	add("plan.steps", c.Plan.Steps != 0, "%d", c.Plan.Steps)
	add("plan.concurrency", c.Plan.Concurrency != 0, "%d", c.Plan.Concurrency)
	add("plan.context_tokens", c.Plan.ContextTokens != 0, "%d", c.Plan.ContextTokens)
	for _, s := range append(c.Orchestrator.Shown(), c.Shown()...) {
		add(s[0], true, "%s", clip.Bytes(s[1], 400))
	}
	return out
}
