package failure

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/harness/ledger"
)

// sound checks properties of every cause, for any rows.
func sound(t require.TestingT, c Cause) {
	require.Contains(t, Kinds(), c.Kind)
	says, ok := strings.CutPrefix(c.Signature, string(c.Kind)+": ")
	require.True(t, ok, "%q", c.Signature)
	require.NotEmpty(t, says)
	require.LessOrEqual(t, len(c.Signature), maxSignature)
	require.True(t, utf8.ValidString(c.Signature), "%q", c.Signature)
	require.Equal(t, -1, strings.IndexFunc(c.Signature, func(r rune) bool { return unicode.IsNumber(r) || !unicode.IsPrint(r) }), "%q", c.Signature)
}

// word draws a word of the ledger, or any text.
func word(t *rapid.T, label string, known ...string) string {
	return rapid.OneOf(rapid.SampledFrom(known), rapid.String()).Draw(t, label)
}

// anyRows draws an episode with %d in every place that can have a number.
func anyRows(t *rapid.T) ledger.EpisodeRows {
	var r ledger.EpisodeRows
	r.Episode.Status = word(t, "status", "answered", "clarify", "cannot_proceed", "stopped", "stopped", "error", "cancelled", "infra_error", "budget_stop")
	r.Episode.StopReason = word(t, "stop", "", "max_steps", "thrash", "contract_violation", "invalid_plan", "final_schema", "failed_step")
	r.Episode.ErrorKind = word(t, "error", "", "overloaded", "kind_%d")
	r.Episode.InfraError = rapid.Bool().Draw(t, "infra")
	r.Episode.Solved = rapid.Bool().Draw(t, "solved") && r.Episode.Excluded() == ""
	for range rapid.IntRange(0, 4).Draw(t, "checks") {
		name := word(t, "check", "status", "answer_numbers", "trajectory.required", "trajectory.order", "max_steps", "signal.repaired", "own_%d")
		detail := word(t, "detail", "want %d, found %d in \"%d\"", "want 1, found no number in \"x\"", `missing: get_counts{"start_date":"%d"}; got get_counts{"label":%d}`)
		r.Episode.Checks = append(r.Episode.Checks, ledger.Check{Name: name, Detail: detail, Passed: rapid.Bool().Draw(t, "passed")})
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "turns") {
		r.Turns = append(r.Turns, ledger.Turn{
			Turn: int32(i + 1), Role: word(t, "role", "main", "rescue", "compress", "planner", "step"), Kind: word(t, "kind", "act", "rescue"),
			Actionable: rapid.Bool().Draw(t, "actionable"), Repaired: rapid.Bool().Draw(t, "repaired"), Thrash: rapid.Bool().Draw(t, "thrash"),
			Violations: rapid.SliceOfN(rapid.SampledFrom([]string{"not_json", "truncated", "code_%d"}), 0, 2).Draw(t, "violations"),
		})
		if tool := word(t, "tool", "", "get_counts", "tool_%d"); tool != "" {
			r.ToolCalls = append(r.ToolCalls, ledger.ToolCall{
				Turn: int32(i + 1), ToolName: tool, Outcome: word(t, "outcome", "ok", "timeout", "error", "rejected"), ErrorCode: word(t, "code", "", "E_RATE", "E_BUDGET", "E_%d"),
			})
		}
	}
	return r
}

// numbered returns the rows for another task, day and trial, with n for each %d.
func numbered(r ledger.EpisodeRows, n int) ledger.EpisodeRows {
	put := func(s *string) { *s = strings.ReplaceAll(*s, "%d", fmt.Sprint(n)) }
	key := ledger.Key{EpisodeID: fmt.Sprintf("01JD0Q3V7M%016X", n), TaskID: fmt.Sprint("T", n), Trial: int32(n), Seed: int64(n)}
	r.Episode.Key, r.Episode.TsStart, r.Episode.ElapsedUs, r.Episode.Steps = key, int64(n), new(int64(n)), int32(n)
	r.Episode.Answer, r.Episode.ErrorText = fmt.Sprint("On 2026-05-13: ", n), fmt.Sprint("request ", n)
	put(&r.Episode.ErrorKind)
	r.Episode.Checks, r.Turns, r.ToolCalls = slices.Clone(r.Episode.Checks), slices.Clone(r.Turns), slices.Clone(r.ToolCalls)
	for i := range r.Episode.Checks {
		put(&r.Episode.Checks[i].Name)
		put(&r.Episode.Checks[i].Detail)
	}
	for i := range r.Turns {
		u := &r.Turns[i]
		u.Key, u.TsEnd, u.DurationUs, u.ActionID = key, int64(n), new(int64(n)), fmt.Sprint(n)
		u.Violations = slices.Clone(u.Violations)
		for k := range u.Violations {
			put(&u.Violations[k])
		}
	}
	for i := range r.ToolCalls {
		c := &r.ToolCalls[i]
		c.Key, c.ArgsHash, c.IdempotencyKey = key, fmt.Sprint(n), fmt.Sprint(n)
		put(&c.ToolName)
		put(&c.ErrorCode)
	}
	return r
}

func TestEveryUnsolvedEpisodeHasACauseWithoutItsNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyRows(t)
		one, ok := Of(numbered(r, 7))
		require.Equal(t, !r.Episode.Solved, ok)
		if !ok {
			require.Zero(t, one)
			return
		}
		sound(t, one)
		again, _ := Of(numbered(r, 7))
		require.Equal(t, one, again)
		other, _ := Of(numbered(r, 90210))
		require.Equal(t, one, other, "another task, day and trial")
	})
}

func FuzzOf(f *testing.F) {
	f.Add("answered", "", "answer_numbers", "want 7, found 1 in \"1\"", "get_counts", "ok", "", "not_json", false)
	f.Add("stopped", "max_steps", "", "", "get\xff_counts", "error", "E_7\u202e", "", false)
	f.Add("", "", "trajectory.required", "missing: ½{", strings.Repeat("é", 99), "timeout", "", "", true)
	f.Fuzz(func(t *testing.T, status, stop, check, detail, tool, outcome, code, violation string, infra bool) {
		c, ok := Of(rows(func(r *sample) {
			r.Status, r.StopReason, r.InfraError, r.ErrorKind = status, stop, infra, code
			r.Checks = []ledger.Check{{Name: check, Detail: detail}}
			r.Calls = calls(call(tool, outcome, code))
			r.Turns = []ledger.Turn{{Role: outcome, Violations: []string{violation}, Thrash: infra}}
		}))
		require.True(t, ok)
		sound(t, c)
	})
}

func TestNamesAreBounded(t *testing.T) {
	for in, want := range map[string]string{
		"get_counts": "get_counts", "v2.10": "v#.#", "½¾Ⅳ": "#", "a\x00\u202eb\xffc": "a??b?c", "٤٤٩x": "#x",
		strings.Repeat("a", 33): strings.Repeat("a", 29) + "…", strings.Repeat("é", 20): strings.Repeat("é", 14) + "…",
	} {
		require.Equal(t, want, name(in))
	}
	require.Equal(t, "answer: "+strings.Repeat("é", 54)+"…", signature(Answer, strings.Repeat("é", 99)))
}

// Floor: a solved episode takes three comparisons. Every other one costs its signature,
// which joins two or three texts.
func BenchmarkOf(b *testing.B) {
	all := cases()
	at := func(name string) ledger.EpisodeRows {
		return rows(all[slices.IndexFunc(all, func(c failureCase) bool { return c.name == name })].edit)
	}
	for name, r := range map[string]ledger.EpisodeRows{
		"solved": rows(func(r *sample) { r.Solved = true }), "answer": at("text"), "tool": at("tool, gave up"), "steps": at("steps, invalid outputs"),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Of(r)
			}
		})
	}
}

// The table in the documentation has the rules in their order. In each line, the rule
// decides the example, and no earlier rule does.
func TestRulesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/evidence.md")
	require.NoError(t, err)
	lines := regexp.MustCompile("(?m)^\\| (\\d+) \\| ([a-z ]+) \\| .* \\| `([^`]+)` \\|$").FindAllStringSubmatch(string(text), -1)
	all := rules()
	require.Len(t, lines, len(all))
	decided := map[string]int{} // signature → rule
	for _, c := range cases() {
		r := rows(c.edit)
		e := episode{Episode: &r.Episode, turns: r.Turns, calls: r.ToolCalls}
		e.readChecks()
		decided[c.want] = slices.IndexFunc(all[:], func(r rule) bool { return r.says(&e) != "" })
	}
	for i, l := range lines {
		require.Equal(t, fmt.Sprint(i+1), l[1])
		require.Equal(t, string(all[i].kind), l[2], l[0])
		at, known := decided[l[3]]
		require.True(t, known, "%s is the signature of a case", l[3])
		require.Equal(t, i, at, l[0])
	}
	for _, k := range Kinds() {
		require.Regexp(t, `(?m)^\| `+string(k)+` \| `, string(text))
	}
}
