package playbook_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/playbook"
)

var specs = []tool.Spec{
	{Name: "today", Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)},
	{Name: "count", Schema: json.RawMessage(`{"type":"object","properties":{"day":{"type":"string"},"label":{"type":"string","enum":["angry","praise"]}},"required":["day","label"],"additionalProperties":false}`)},
	{Name: "search", Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`)},
	{Name: "job", Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}`)},
	{Name: "refund", Schema: json.RawMessage(`{"type":"object","properties":{"order":{"type":"string"},"amount":{"type":"number"}},"required":["order"]}`)},
}

func toolSet(t testing.TB) *tool.Set {
	t.Helper()
	set, err := tool.NewSet(specs)
	require.NoError(t, err)
	return set
}

// read reads a playbook for tasks T1 and T2 from a text that is indented by tabs.
func read(t testing.TB, text string, tasks ...playbook.Task) (*playbook.Book, error) {
	t.Helper()
	if tasks == nil {
		tasks = []playbook.Task{{ID: "T1", Request: "How many?"}, {ID: "T2", Request: "Which one?"}}
	}
	for i := range tasks {
		if tasks[i].Tools == nil {
			tasks[i].Tools = toolSet(t)
		}
	}
	text = strings.ReplaceAll(text, "\t", "  ")
	return playbook.Read(fstest.MapFS{playbook.File: {Data: []byte(text)}}, "suite", tasks)
}

// play returns a solution of T1 with these steps.
func play(t testing.TB, steps string, tasks ...playbook.Task) *playbook.Play {
	t.Helper()
	book, err := read(t, "playbook:\n  T1:\n"+steps, tasks...)
	require.NoError(t, err)
	p, ok := book.Of("T1")
	require.True(t, ok)
	return p
}

func ok(name, args, value string) playbook.Result {
	return playbook.Result{Tool: name, Args: json.RawMessage(args), Value: json.RawMessage(value)}
}

func failed(name, args, code string) playbook.Result {
	return playbook.Result{Tool: name, Args: json.RawMessage(args), Code: code, Message: "down"}
}

// said returns actions, one per line.
func said(t testing.TB, p *playbook.Play, s playbook.Seen) string {
	t.Helper()
	actions, err := p.Next(s)
	if err != nil {
		return "error: " + err.Error()
	}
	var out []string
	for _, a := range actions {
		line := string(a.Kind) + " " + a.Tool + string(a.Args) + a.Text
		if a.Value != nil {
			line += " = " + string(a.Value)
		}
		if a.Code != "" {
			line += " (" + a.Code + ")"
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

const week = `
  - call: today
    as: day
  - let: {next: "addDays(day.date, 1)", labels: [angry, praise]}
  - each: labels
    as: label
    do:
      - call: count
        args: {day: "{{next}}", label: "{{label}}"}
        as: n
  - if: n[0].value > n[1].value
    then:
      - answer: More angry ({{n[0].value}}).
    else:
      - answer: "{{n[1].value}}"
        value: {praise: "{{n[1].value}}", of: ["{{n[0]}}", 3]}
`

func TestNextFollowsASolution(t *testing.T) {
	p := play(t, week)
	var s playbook.Seen
	require.Equal(t, `call today{}`, said(t, p, s))
	s.Results = append(s.Results, ok("today", "", `{"date":"2026-02-28"}`))
	both := `call count{"day":"2026-03-01","label":"angry"}` + "\n" + `call count{"day":"2026-03-01","label":"praise"}`
	require.Equal(t, both, said(t, p, s))
	s.Results = append(s.Results, ok("count", `{"label":"praise", "day":"2026-03-01"}`, `{"value":7}`), ok("count", `{"day":"2026-03-02","label":"angry"}`, `{"value":99}`))
	require.Equal(t, `call count{"day":"2026-03-01","label":"angry"}`, said(t, p, s), "results may come in any order, and those of other calls do not matter")
	less := s
	less.Results = append(less.Results[:3:3], ok("count", `{"day":"2026-03-01","label":"angry"}`, `{"value":5}`))
	require.Equal(t, `answer 7 = {"of":[{"value":5},3],"praise":7}`, said(t, p, less))
	more := s
	more.Results = append(more.Results[:3:3], ok("count", `{"day":"2026-03-01","label":"angry"}`, `{"value":9007199254740993}`))
	require.Equal(t, `answer More angry (9007199254740993).`, said(t, p, more))
}
