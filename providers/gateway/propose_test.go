package gateway_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers/gateway"
)

func TestPropose(t *testing.T) {
	const (
		uuid  = `\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b`
		idA   = "6f1c2a34-0b7e-4c55-9d1e-1234567890ab"
		idB   = "0a9b8c7d-1111-4222-8333-abcdefabcdef"
		many  = `{"m":["x","x","x"]}`
		stamp = `\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?`
		mixed = `[0-9A-Za-z]*(?:\d[A-Za-z]|[A-Za-z]\d)[0-9A-Za-z]*`
		path  = `\w*(?:\d[A-Za-z]|[A-Za-z]\d|[a-z][A-Z])\w*`
	)
	content := func(text string) string { return `{"messages":[{"role":"user","content":"` + text + `"}]}` }
	for _, c := range []struct {
		name, recorded, now string
		want                []string
	}{
		{"a member", `{"session":{"id":"` + idA + `"}}`, `{"session":{"id":"` + idB + `"}}`, []string{"ignore: [/session/id]"}},
		{"a number", `{"sent":1763900000,"n":1}`, `{"sent":1763900007,"n":1}`, []string{"ignore: [/sent]"}},
		{"in a message", content("run " + idA + "."), content("run " + idB + "."), []string{"replace: ['^run " + uuid[2:] + "']"}},
		{"a complete message", content(idA), content(idB), []string{"replace: ['^" + uuid[2:] + "']"}},
		{"a complete input", `{"input":"` + idA + `"}`, `{"input":"` + idB + `"}`, []string{"replace: ['^" + uuid[2:] + "']"}},
		{"a time", content("at 2026-11-23T13:00:01Z go"), content("at 2026-11-24T08:10:59.5Z go"), []string{"replace: ['^at " + stamp + "']"}},
		{"a time on a line", content(`do this:\n'now: 2026-11-23T13:00:01Z`), content(`do this:\n'now: 2026-11-24T08:10:59.5Z`), []string{`replace: ['^do this:\n''now: ` + stamp + "']"}},
		{"behind much", content(strings.Repeat("word ", 99) + "trace 8f3a2b1c9d"), content(strings.Repeat("word ", 99) + "trace 0c1d2aabb3"), []string{`replace: ['word word word word word trace ` + mixed + `']`}},
		{"a temporary path", content("see /tmp/job-8f3a2b/in.txt"), content("see /tmp/job-77Zx01/in.txt"), []string{`replace: ['^see /tmp/job-` + path + `']`}},
		{"one of Python", content("see /var/tmp/tmpa8_k2lqx"), content("see /var/tmp/tmp0b9cz_3d"), []string{`replace: ['^see /var/tmp/tmp\w{6,10}\b']`}},
		{"one of macOS", content("/var/folders/x1/8f3a2b1c/T/job-aB3dE5/x"), content("/var/folders/x1/8f3a2b1c/T/job-Zz9yX8/x"), []string{`replace: ['/T/job-` + path + `']`}},
		{"one of Windows", content(`C:\\Users\\me\\AppData\\Local\\Temp\\job-aB3dE5`), content(`C:\\Users\\me\\AppData\\Local\\Temp\\job-Zz9yX8`), []string{`replace: ['Users\\me\\AppData\\Local\\Temp\\job-` + path + `']`}},
		{"hexadecimal", content("trace 8f3a2b1c9d"), content("trace 0c1d2aabb3"), []string{`replace: ['^trace ` + mixed + `']`}},
		{"a suffix", content("thread_Zx81kLmq0 says"), content("thread_7pQrstUv2 says"), []string{`replace: ['^thread_` + mixed + `']`}},
		{"both", `{"id":"` + idA + `","m":["at 2026-11-23 13:00:01"]}`, `{"id":"` + idB + `","m":["at 2026-11-23 13:00:02"]}`, []string{"ignore: [/id]", "replace: ['^at " + stamp + "']"}},
		{"the same one twice", `{"m":["` + idA + `","` + idA + `"]}`, `{"m":["` + idB + `","` + idB + `"]}`, []string{"replace: ['^" + uuid[2:] + "']"}},
		{"two in one text", content(idA + " x 6f1c2a34-0b7e-4c55-9d1e-000000000000"), content(idB + " x 6f1c2a34-0b7e-4c55-9d1e-000000000001"), []string{"replace: ['^" + uuid[2:] + "', '" + uuid + "']"}},
		{"a name that needs quotes", `{"a b":"` + idA + `"}`, `{"a b":"` + idB + `"}`, []string{"replace: ['^" + uuid[2:] + "']"}},
		{"equal", many, many, nil},
		{"a date", content("Today's date is 2026-11-23."), content("Today's date is 2026-11-24."), nil},
		{"a date in words", content("Monday, November 23"), content("Tuesday, November 24"), nil},
		{"a time somebody chose", content("book 2026-11-23T13:00:00Z"), content("book 2026-11-23T14:30:00Z"), nil},
		{"a text", content("hello " + idA), content("goodbye " + idB), nil},
		{"an order", content("order-12345678"), content("order-87654321"), nil},
		{"an order in hexadecimal digits", content("order 12345678"), content("order 87654321"), nil},
		{"a call number", content("call 1712345678"), content("call 1798765432"), nil},
		{"a number as a text", `{"phone":"1712345678"}`, `{"phone":"1798765432"}`, nil},
		{"a version", content("model-v2beta10"), content("model-v2beta11"), nil},
		{"a year", content("report-2025budget"), content("report-2026outlay"), nil},
		{"a file", content("/tmp/report.txt"), content("/tmp/notes.txt"), nil},
		{"a numbered file", content("/tmp/order-123456"), content("/tmp/order-654321"), nil},
		{"a named file", content("/tmp/my-report"), content("/tmp/my-result"), nil},
		{"words in capitals", content("lang-JavaScript"), content("lang-TypeScript"), nil},
		{"another of the known ones", `{"a":"` + idA + `","known":["` + idA + `","` + idB + `"]}`, `{"a":"` + idB + `","known":["` + idA + `","` + idB + `"]}`, nil},
		{"no words before it", content("1 2026-11-23T13:00:01Z"), content("1 2026-11-24T08:10:59Z"), nil},
		{"a model", `{"model":"gpt-4o20240513"}`, `{"model":"gpt-4o20250513"}`, nil},
		{"a setting", `{"temperature":0.1}`, `{"temperature":0.2}`, nil},
		{"a missing member", `{"a":1,"id":"` + idA + `"}`, `{"id":"` + idB + `"}`, nil},
		{"another kind", `{"a":"1"}`, `{"a":1}`, nil},
		{"no JSON", "x", "y", nil},
		{"too many", `["` + strings.Repeat(idA+`","`, 65) + `"]`, `["` + strings.Repeat(idB+`","`, 65) + `"]`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := gateway.Propose([]byte(c.recorded), []byte(c.now))
			require.Equal(t, c.want, got.Lines())
			require.Equal(t, c.want != nil, c.recorded != c.now && got.Equal([]byte(c.recorded), []byte(c.now)))
		})
	}
}

// content makes texts of tasks: words, numbers, dates and times that somebody chose.
func content(r *rand.Rand) string {
	words := []string{"count", "praise", "Order", "deadbeef", "facade", "JavaScript", "trace", "session", "effaced", "v2beta10", "2nd", "10am"}
	var out []string
	for range 1 + r.IntN(6) {
		switch r.IntN(7) {
		case 0:
			out = append(out, fmt.Sprint(r.Int64N(2_000_000_000)))
		case 1:
			out = append(out, fmt.Sprintf("%d.%02d", r.IntN(1000), r.IntN(100)))
		case 2:
			out = append(out, fmt.Sprintf("2026-%02d-%02d", 1+r.IntN(12), 1+r.IntN(28)))
		case 3:
			out = append(out, fmt.Sprintf("2026-05-04T%02d:%02d:00Z", r.IntN(24), 15*r.IntN(4)))
		case 4:
			out = append(out, fmt.Sprintf("%s-%d", words[r.IntN(len(words))], r.IntN(100_000_000)))
		default:
			out = append(out, words[r.IntN(len(words))])
		}
	}
	return strings.Join(out, " ")
}

// volatileText makes a text that differs from one run to the next, such as an id.
func volatileText(r *rand.Rand, kind int) string {
	hex := func(n int) string {
		text := ""
		for range n {
			text += string("0123456789abcdef"[r.IntN(16)])
		}
		return text
	}
	switch kind {
	case 0:
		return hex(8) + "-" + hex(4) + "-" + hex(4) + "-" + hex(4) + "-" + hex(12)
	case 1:
		return fmt.Sprintf("2026-11-%02dT%02d:%02d:%02d.%03dZ", 1+r.IntN(28), r.IntN(24), r.IntN(60), 1+r.IntN(59), 1+r.IntN(999))
	case 2:
		return "run_" + hex(16)
	case 3:
		return "/tmp/job-a1" + hex(8)
	}
	return hex(32)
}

// TestProposeHidesNothing: rules are never proposed for numbers and words of a task's content,
// also beside something volatile, and rules that are proposed for the latter make no two other
// contents equal.
func TestProposeHidesNothing(t *testing.T) {
	proposed := 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 1))
		kind := r.IntN(5)
		where := []string{"Your session is ", "Trace: ", "You are helpful.\nWorking folder: "}[r.IntN(3)]
		body := func(id, text string) []byte {
			out, err := json.Marshal(map[string]any{"model": "m", "n": 3, "messages": []any{
				map[string]any{"role": "system", "content": where + id + " and go on"}, map[string]any{"role": "user", "content": text}}})
			require.NoError(t, err)
			return out
		}
		id, other, text, changed := volatileText(r, kind), volatileText(r, kind), content(r), content(r)
		rules := gateway.Propose(body(id, text), body(other, text))
		if len(rules.Replace) > 0 {
			proposed++
		}
		if text == changed {
			continue
		}
		require.Empty(t, gateway.Propose(body(id, text), body(id, changed)).Lines(), "%q, %q", text, changed)
		require.Empty(t, gateway.Propose(body(id, text), body(other, changed)).Lines(), "%q, %q", text, changed)
		require.False(t, rules.Equal(body(id, text), body(other, changed)), "%v: %q, %q", rules.Lines(), text, changed)
		require.False(t, rules.Equal(body(text, id), body(changed, id)), "%v: %q, %q", rules.Lines(), text, changed)
	}
	require.Greater(t, proposed, 900, "and something volatile has a rule")
}

// FuzzPropose: no bodies crash it, and what it proposes makes them equal.
func FuzzPropose(f *testing.F) {
	f.Add(`{"m":["at 2026-11-23 13:00:01"],"id":"6f1c2a34-0b7e-4c55-9d1e-1234567890ab"}`, `{"m":["at 2026-11-23 13:00:02"],"id":"0a9b8c7d-1111-4222-8333-abcdefabcdef"}`)
	f.Add(`["thread_Zx81kLmq0 says\n\u0000\ud800'"]`, `["thread_7pQrstUv2 says\n\u0000\ud800'"]`)
	f.Add(`{"a":{"b":1763900000}}`, `{"a":{"b":1763900001}}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		rules := gateway.Propose([]byte(a), []byte(b))
		lines := rules.Lines()
		require.Equal(t, lines != nil, len(rules.Ignore)+len(rules.Replace) > 0)
		if lines != nil {
			require.True(t, rules.Equal([]byte(a), []byte(b)))
			require.NotContains(t, strings.Join(lines, ""), "\n")
		}
	})
}
