package reports

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
)

// episodeView is a transcript as pages show it. It is copied text, bounded and
// without a pointer into the rows.
type episodeView struct {
	Anchor, Task, Candidate, Class, Sign, Facts, Answer, More, Source string
	Trial                                                             int
	Solved                                                            bool
	// Lean leaves out the figures of turns.
	Lean   bool
	Turns  []turnView
	Checks []string
}

// turnView is a turn: Key is its decision, equal for turns that decide alike.
type turnView struct {
	N                                int
	Key, What, Trouble, Calls, Facts string
	// Where is the part of the strategy that decides, such as a step of its plan; empty
	// in a main loop.
	Where string
	// Said is what the ledger does not hold; nil where it is not shown.
	Said *saidView
}

// Bounds of a transcript.
const (
	maxTurns = 60 // shown of an episode
	maxCalls = 8  // shown of a turn
)

// transcript is what the rows of an episode say, and why it was not solved.
func transcript(rows ledger.EpisodeRows, why string) episodeView {
	e := &rows.Episode
	excluded := e.Excluded()
	sign, class, ending := outcome(excluded, e.Solved)
	v := episodeView{
		Task: strings.Clone(brief(e.TaskID, 40)), Candidate: strings.Clone(brief(e.Candidate, 60)), Sign: sign, Class: class, Solved: e.Solved, Trial: int(e.Trial),
		Facts: join(" · ", fmt.Sprintf("trial %d", e.Trial), ending, brief(join(": ", e.Status, e.StopReason), 60),
			plural(int(e.Steps), "step"), duration(float64(e.ElapsedUs)), price(e.CostNanoUSD)),
	}
	limit := 600
	if e.Solved {
		limit = 240
	}
	v.Answer = strings.Clone(clip(e.Answer, limit))
	if ledger.Lost(excluded) || excluded == ledger.LostToCap {
		v.Checks = append(v.Checks, strings.Clone(clip(why, 300)))
	}
	for _, c := range e.Checks {
		if !c.Passed && len(v.Checks) < 5 {
			v.Checks = append(v.Checks, strings.Clone(clip(join(": ", c.Name, c.Detail), 300)))
		}
	}
	calls := map[int32][]*ledger.ToolCall{}
	for i := range rows.ToolCalls {
		c := &rows.ToolCalls[i]
		calls[c.Turn] = append(calls[c.Turn], c)
	}
	for i := range rows.Turns {
		t := &rows.Turns[i]
		if i == maxTurns {
			v.More = fmt.Sprintf("%d more turns are in the ledger.", len(rows.Turns)-i)
			break
		}
		v.Turns = append(v.Turns, turn(t, calls[t.Turn], e.Solved))
		if v.Source == "" && t.Cassette != "" {
			v.Source = "cassette " + strings.Clone(clip(t.Cassette, 160))
		}
	}
	return v
}

func price(nano *int64) string {
	if nano == nil {
		return "cost unknown"
	}
	return dollars(nano)
}

func turn(t *ledger.Turn, calls []*ledger.ToolCall, solved bool) turnView {
	v := turnView{N: int(t.Turn)}
	what := []string{t.NextActionType, t.NextActionName}
	if t.Kind != "act" && t.Kind != "plan" {
		what = append([]string{t.Kind}, what...)
	}
	if v.Where = where(t); v.Where == "" && t.Role != ledger.RoleMain && t.Role != t.Kind {
		what = append([]string{t.Role}, what...)
	}
	if v.What = strings.Clone(brief(join(" ", what...), 80)); v.What == "" {
		v.What = "no action"
	}
	v.Trouble = strings.Clone(trouble(t))
	var did, args []string
	for i, c := range calls {
		args = append(args, c.ToolName+c.ArgsHash)
		if i < maxCalls {
			did = append(did, call(c, t.NextActionName))
		}
	}
	if more := len(calls) - maxCalls; more > 0 {
		did = append(did, fmt.Sprintf("%d more calls", more))
	}
	if len(did) > 0 {
		v.Calls = "→ " + strings.Join(repeated(did), ", ")
	}
	if len(calls) > 1 {
		v.Calls = "→ " + plural(len(calls), "call") + ": " + strings.TrimPrefix(v.Calls, "→ ")
	}
	if v.Key = v.What; len(args) > 0 {
		v.Key += " " + digest(strings.Join(args, " "))
	}
	v.Facts = turnFacts(t)
	if t.Interaction >= 0 && !solved {
		v.Facts += fmt.Sprintf(" · exchange %d", t.Interaction)
	}
	return v
}

// repeated writes texts that follow their like once: "5 × ok 150 ms".
func repeated(list []string) (out []string) {
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && list[to] == list[from] {
			to++
		}
		text := list[from]
		if to-from > 1 {
			text = fmt.Sprintf("%d × %s", to-from, text)
		}
		out, from = append(out, text), to
	}
	return out
}

// where names the part of the strategy that a turn belongs to, if there are parts.
func where(t *ledger.Turn) string {
	switch t.Role {
	case ledger.RolePlanner:
		return "planner"
	case ledger.RoleStep:
		return strings.Clone(brief(join(" ", "step", t.PlanStep), 60))
	case ledger.RoleFallback:
		return "second model"
	}
	return ""
}

// trouble is what was wrong with a turn, in words; empty for a valid one.
func trouble(t *ledger.Turn) string {
	var parts []string
	switch {
	case t.ErrorKind != "":
		parts = append(parts, "no reply: "+brief(t.ErrorKind, 40))
	case !t.ContractValid && t.Repaired:
		parts = append(parts, "invalid, repaired")
	case !t.ContractValid:
		parts = append(parts, "invalid")
	}
	if len(t.Violations) > 0 {
		shown := t.Violations[:min(len(t.Violations), 5)]
		parts = append(parts, clip(strings.Join(shown, ", "), 160))
	}
	if t.Thrash {
		parts = append(parts, "thrash")
	}
	if t.Stall {
		parts = append(parts, "stall")
	}
	return strings.Join(parts, " · ")
}

// call is a tool call's outcome; the tool's name only where the turn names another.
func call(c *ledger.ToolCall, expected string) string {
	s := brief(join(" ", c.Outcome, c.ErrorCode), 60)
	if c.ToolName != expected {
		s = brief(c.ToolName, 60) + " " + s
	}
	if c.Deduped {
		return s + ", answered from cache"
	}
	if c.CircuitOpen {
		return s + ", circuit open"
	}
	return s + " " + duration(float64(c.DurationUs))
}

func turnFacts(t *ledger.Turn) string {
	parts := []string{}
	if t.In != nil && t.Out != nil {
		parts = append(parts, fmt.Sprintf("%s in, %s out", thousands(*t.In), thousands(*t.Out)))
	}
	if t.CostNanoUSD != nil {
		parts = append(parts, dollars(t.CostNanoUSD))
	}
	parts = append(parts, duration(float64(t.DurationUs)))
	if t.Confidence != nil {
		parts = append(parts, "confidence "+trimmed(*t.Confidence, 2))
	}
	if t.Attempts > 1 {
		parts = append(parts, plural(int(t.Attempts), "attempt"))
	}
	if len(t.Warnings) > 0 {
		parts = append(parts, plural(len(t.Warnings), "warning"))
	}
	return strings.Join(parts, " · ")
}

// digest tells texts apart in six characters.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:3])
}

// outcome is the sign and class of an episode, and its ending in words.
func outcome(excluded string, solved bool) (sign, class, ending string) {
	switch {
	case excluded != "":
		return "!", "z", excluded
	case solved:
		return "✓", "y", "solved"
	}
	return "✗", "x", "not solved"
}
