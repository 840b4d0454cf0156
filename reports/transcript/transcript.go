// Package transcript shows one episode turn by turn: what its rows say, and beside it what
// was said, if executing the episode again has it. It holds copied text, visible and
// bounded, and no pointer into the rows.
package transcript

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/orchestration"
	"github.com/cupel-eval/cupel/reports/words"
)

// Episode is a transcript as pages show it. It is copied text, bounded and
// without a pointer into the rows.
type Episode struct {
	Anchor, Task, Candidate, Class, Sign, Facts, Answer, More, Source string
	// Outcome is "solved", "not solved" or what excluded it. Agent is the strategy where
	// the candidates of a run have several.
	Outcome, Agent string
	Trial          int
	Solved         bool
	// Harm says which change did harm, State what changed in the state of the world, one
	// line a change; empty if there is nothing to say, or if State is not known.
	Harm, State string
	// Work has the agents, tasks and requests; nil if there is nothing to show.
	Work *orchestration.Episode
	// Lean leaves out the figures of turns.
	Lean   bool
	Turns  []Turn
	Checks []string
}

// Turn is a turn: Key is its decision, equal for turns with the same decision.
type Turn struct {
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
	MaxTurns = 60 // shown of an episode
	maxCalls = 8  // shown of a turn
)

// Of is what the rows of an episode say, and why it was not solved.
func Of(rows ledger.EpisodeRows, why string) Episode {
	e := &rows.Episode
	excluded := e.Excluded()
	sign, class, ending := Outcome(excluded, e.Solved)
	v := Episode{
		Task: strings.Clone(words.Brief(e.TaskID, 40)), Candidate: strings.Clone(words.Brief(e.Candidate, 60)), Sign: sign, Class: class, Outcome: ending, Solved: e.Solved, Trial: int(e.Trial),
		Facts: words.Join(" · ", fmt.Sprintf("trial %d", e.Trial), words.Brief(words.Join(": ", e.Status, e.StopReason), 60),
			words.Plural(int(e.Steps), "step"), price(e.CostNanoUSD), elapsed(e)),
	}
	v.Work = orchestration.Of(rows)
	limit := 600
	if e.Solved {
		limit = 240
	}
	if a := e.AttackSucceeded; a != nil {
		v.Facts += " · attack " + words.Brief(e.Injection, 60) + map[bool]string{true: " succeeded", false: " failed"}[*a]
	}
	v.Harm = strings.Clone(words.Clip(e.HarmReason, 300))
	v.Answer = strings.Clone(words.Clip(e.Answer, limit))
	if ledger.Lost(excluded) || excluded == ledger.LostToCap {
		v.Checks = append(v.Checks, strings.Clone(words.Clip(why, 300)))
	}
	for _, c := range e.Checks {
		if !c.Passed && len(v.Checks) < 5 {
			v.Checks = append(v.Checks, strings.Clone(words.Clip(checkText(c), 300)))
		}
	}
	calls := map[int32][]*ledger.ToolCall{}
	for i := range rows.ToolCalls {
		c := &rows.ToolCalls[i]
		calls[c.Turn] = append(calls[c.Turn], c)
	}
	for i := range rows.Turns {
		t := &rows.Turns[i]
		if i == MaxTurns {
			v.More = fmt.Sprintf("%d more turns are in the ledger.", len(rows.Turns)-i)
			break
		}
		v.Turns = append(v.Turns, turn(t, calls[t.Turn]))
		if v.Source == "" && t.Cassette != "" {
			v.Source = "Cassette " + strings.Clone(words.Clip(t.Cassette, 160))
		}
	}
	return v
}

// checkText is "Expected 4, found 5 (numbers)".
func checkText(c ledger.Check) string {
	if c.Detail == "" {
		return c.Name
	}
	detail := c.Detail
	if rest, ok := strings.CutPrefix(detail, "want "); ok {
		detail = "expected " + rest
	}
	return words.UpperFirst(detail) + " (" + c.Name + ")"
}

func price(nano *int64) string {
	if nano == nil {
		return "cost unknown"
	}
	return words.Dollars(nano)
}

func turn(t *ledger.Turn, calls []*ledger.ToolCall) Turn {
	v := Turn{N: int(t.Turn)}
	what := []string{t.NextActionType, t.NextActionName}
	if t.Kind != "act" && t.Kind != "plan" {
		what = append([]string{t.Kind}, what...)
	}
	if v.Where = where(t); v.Where == "" && t.Role != ledger.RoleMain && t.Role != t.Kind {
		what = append([]string{t.Role}, what...)
	}
	v.Key = strings.Clone(words.Brief(cmp.Or(words.Join(" ", what...), "no action"), 80))
	v.What = strings.Clone(words.Brief(decision(t, what[:len(what)-2]), 80))
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
		v.Calls = "→ " + words.Plural(len(calls), "call") + ": " + strings.TrimPrefix(v.Calls, "→ ")
	}
	if len(args) > 0 {
		v.Key += " " + Digest(strings.Join(args, " "))
	}
	v.Facts = turnFacts(t)
	return v
}

// decision says what a turn does: "calls get_counts"; before it stand the parts of the
// agent that did it.
func decision(t *ledger.Turn, by []string) string {
	does := map[string]string{"tool": "calls " + t.NextActionName, "respond": "answers", "clarify": "asks the user", "plan": "plans with " + t.NextActionName, "finish": "finishes with " + t.NextActionName}[t.NextActionType]
	if t.NextActionName == "" && strings.HasSuffix(does, " ") {
		does = t.NextActionType
	}
	does = cmp.Or(does, words.Join(" ", t.NextActionType, t.NextActionName), "no action")
	return words.Join(": ", words.Join(" ", by...), does)
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
		return strings.Clone(words.Brief(words.Join(" ", "step", t.PlanStep), 60))
	case ledger.RoleFallback:
		return "second model"
	}
	if t.SubAgent == "" {
		return ""
	}
	return strings.Clone(words.Brief(words.Join(" ", t.Role, t.SubAgent, t.PlanStep), 60))
}

// trouble is what was wrong with a turn, in words; empty for a valid one.
func trouble(t *ledger.Turn) string {
	var parts []string
	switch {
	case t.ErrorKind != "":
		parts = append(parts, "no reply: "+words.Brief(t.ErrorKind, 40))
	case !t.ContractValid && t.Repaired:
		parts = append(parts, "invalid, repaired")
	case !t.ContractValid:
		parts = append(parts, "invalid")
	}
	if len(t.Violations) > 0 {
		shown := t.Violations[:min(len(t.Violations), 5)]
		parts = append(parts, words.Clip(strings.Join(shown, ", "), 160))
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
	s := words.Brief(words.Join(" ", c.Outcome, c.ErrorCode), 60)
	if c.Outcome == "error" && c.ErrorCode != "" {
		s = words.Brief(c.ErrorCode, 60)
	}
	if c.ToolName != expected {
		s = words.Brief(c.ToolName, 60) + " " + s
	}
	if c.Deduped {
		return s + ", answered from cache"
	}
	if c.CircuitOpen {
		return s + ", circuit open"
	}
	if c.DurationUs > 0 {
		s += " " + words.Duration(float64(c.DurationUs))
	}
	if c.Changes != nil && *c.Changes > 0 {
		s += ", " + words.Plural(int(*c.Changes), "change")
	}
	return s
}

// elapsed says how long an episode took.
func elapsed(e *ledger.Episode) string {
	if e.ElapsedUs == nil {
		return "batched"
	}
	return words.Duration(float64(*e.ElapsedUs))
}

func turnFacts(t *ledger.Turn) string {
	var parts []string
	if us := t.Micros(); us > 0 {
		parts = append(parts, words.Duration(float64(us)))
	}
	if t.Batched {
		parts = append(parts, "batched")
	}
	if t.In != nil && t.Out != nil {
		parts = append(parts, fmt.Sprintf("%s in, %s out", words.Thousands(*t.In), words.Thousands(*t.Out)))
	}
	if t.CostNanoUSD != nil {
		parts = append(parts, words.Dollars(t.CostNanoUSD))
	}
	if t.Confidence != nil {
		parts = append(parts, fmt.Sprintf("confidence %.2f", *t.Confidence))
	}
	if t.Attempts > 1 {
		parts = append(parts, words.Plural(int(t.Attempts), "attempt"))
	}
	if t.RetryIndex > 0 {
		parts = append(parts, fmt.Sprintf("retry %d", t.RetryIndex))
	}
	if len(t.Warnings) > 0 {
		parts = append(parts, words.Plural(len(t.Warnings), "warning"))
	}
	return strings.Join(parts, " · ")
}

// Digest tells texts apart in six characters.
func Digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:3])
}

// Outcome is the sign and class of an episode, and its ending in words.
func Outcome(excluded string, solved bool) (sign, class, ending string) {
	switch {
	case excluded != "":
		return "!", "z", excluded
	case solved:
		return "✓", "y", "solved"
	}
	return "✗", "x", "not solved"
}
