package agent

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/orchestrator/limits"
	"github.com/cupel-eval/cupel/agent/person"
)

// lines shows each task as "plan.id agent state reason start–end", times in seconds.
func (r *instanceRun) lines() (out []string) {
	second := func(at time.Time) string {
		if at.IsZero() {
			return "?"
		}
		return fmt.Sprint(at.Sub(testStart).Seconds())
	}
	for _, w := range r.work {
		out = append(out, fmt.Sprintf("%d.%s %s %s %s %s–%s", w.Plan, w.ID, w.Agent, w.State, w.Reason, second(w.Start), second(w.End)))
	}
	return out
}

// A model call takes a second, so the times below count turns.
func TestTasksAreReported(t *testing.T) {
	// says returns a person who answers the n-th request with the n-th word, and nothing after them.
	says := func(words ...string) func(person.Request) (person.Answer, bool) {
		return func(person.Request) (person.Answer, bool) {
			if len(words) == 0 {
				return person.Answer{}, false
			}
			a := person.Answer{Say: words[0]}
			words = words[1:]
			return a, true
		}
	}
	broken := fmt.Errorf("it broke")
	tests := []struct {
		name    string
		replies map[string][]any
		human   func(person.Request) (person.Answer, bool)
		limits  limits.Bounds
		want    []string
	}{
		{"two overlap, a checkpoint follows", map[string][]any{
			"":     {planning("build-workflow a", "delegate b", "checkpoint c<a"), saying("It runs."), saying("ok"), calling("verify-built-workflow", `{"workItemId":"wi_1"}`), saying("It works.")},
			"bg_1": {calling("build-workflow", `{"code":"{}"}`), saying("Built.")},
		}, nil, limits.Bounds{}, []string{"1.a bg_1 succeeded  1–3", "1.b bg_2 succeeded  1–2", "1.c  succeeded  3–5"}},
		{"what depends on a failure is cancelled, another plan follows", map[string][]any{
			"":     {planning("delegate a", "delegate b<a"), saying("It runs."), planning("delegate a", "delegate c"), saying("ok")},
			"bg_1": {broken},
		}, nil, limits.Bounds{}, []string{"1.a bg_1 failed error 1–2", "1.b  cancelled  ?–2", "2.a bg_2 succeeded  3–4", "2.c bg_3 succeeded  3–4"}},
		{"a new plan cancels what runs", map[string][]any{
			"":     {planning("delegate a", "delegate b"), saying("It runs."), planning("delegate c", "delegate d"), saying("ok")},
			"bg_1": {broken}, "bg_2": {calling("list-workflows", `{}`), calling("list-workflows", `{"x":1}`), calling("list-workflows", `{"x":2}`)},
		}, nil, limits.Bounds{}, []string{"1.a bg_1 failed error 1–2", "1.b bg_2 cancelled  1–3", "2.c bg_3 succeeded  3–4", "2.d bg_4 succeeded  3–4"}},
		{"a revised plan replaces the first", map[string][]any{"": {planning("delegate a", "delegate b"), planning("delegate c", "delegate d"), saying("ok")}},
			says(person.Feedback, person.Approve), limits.Bounds{}, []string{"2.c bg_1 succeeded  2–3", "2.d bg_2 succeeded  2–3"}},
		{"a denied plan", map[string][]any{"": {planning("delegate a", "delegate b")}},
			says(person.Deny), limits.Bounds{}, []string{"1.a  cancelled  ?–1", "1.b  cancelled  ?–1"}},
		{"a plan that nobody reviews", map[string][]any{"": {planning("delegate a", "delegate b")}},
			says(), limits.Bounds{}, []string{"1.a  planned  ?–?", "1.b  planned  ?–?"}},
		{"delegates outside of plans", map[string][]any{
			"":     {delegating("list-workflows"), delegating("list-workflows")},
			"dg_1": {calling("list-workflows", `{}`), saying("wf_1")}, "dg_2": {broken},
		}, nil, limits.Bounds{}, []string{"0. dg_1 succeeded  1–3", "0. dg_2 failed error 4–5"}},
		{"a background task is cancelled", map[string][]any{
			"":     {building("Build it.\nWith care."), calling("cancel-background-task", `{"taskId":"bg_1"}`)},
			"bg_1": {calling("list-workflows", `{}`), calling("list-workflows", `{"x":1}`)},
		}, nil, limits.Bounds{}, []string{"0. bg_1 cancelled  1–2"}},
		{"a builder saves nothing", map[string][]any{
			"": {building("Build it.")},
		}, nil, limits.Bounds{}, []string{"0. bg_1 blocked error 1–2"}},
		{"a task takes too many turns", map[string][]any{
			"":     {planning("delegate a", "delegate b"), saying("It runs."), saying("It failed.")},
			"bg_1": {calling("list-workflows", `{}`), calling("list-workflows", `{"x":1}`)},
		}, nil, limits.Bounds{DelegateTurns: 1}, []string{"1.a bg_1 failed max_turns 1–2", "1.b bg_2 succeeded  1–2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := (&instanceRun{t: t, replies: tt.replies, human: tt.human, results: saves, Params: Params{Orchestrator: tt.limits}}).run()
			require.Equal(t, tt.want, r.lines())
		})
	}
}
