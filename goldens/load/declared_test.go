package load

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
	"github.com/cupel-eval/cupel/goldens/playbook"
)

// declaredSuite is a suite with one declared world; rules are those of its tool lend.
func declaredSuite(rules, worlds string) string {
	return `name: d
tools:
  - name: lend
    description: Lends.
    schema: {type: object, properties: {id: {type: string}}}
    ` + rules + `
worlds:
  ` + worlds + `
defaults: {world: w}
tasks: [{id: A, request: Hi, expect: {status: answered, contains_any: [x]}}]
`
}

const lendRules = `rules: [{set: {"books.{{args.id}}": lent}, returns: "{{state.books}}"}]`

func TestDeclaredWorld(t *testing.T) {
	for _, worlds := range []string{"w: {state: {books: {b: free}}}", "w: {kind: declared, state: {books: {b: free}}}", "v: {state: {books: {b: new}}}\n  w: {from: v, state: {books: {b: free}}}"} {
		s, err := Suite(suitetest.Folder(declaredSuite(lendRules, worlds)), "s", nil)
		require.NoError(t, err, worlds)
		if !strings.Contains(worlds, "v:") {
			require.NoError(t, s.Lint())
		}
		task := s.Tasks[0]
		require.Equal(t, "declared", task.World.Kind)
		tasks, err := PlaybookTasks(s)
		require.NoError(t, err)
		require.Equal(t, []string{"lend"}, tasks[0].Writes)
		for range 2 { // a world does not see what another changed
			w, err := goldens.OpenWorld(t.Context(), task, 1)
			require.NoError(t, err)
			e, err := w.Call(t.Context(), tool.Call{Name: "lend", Args: json.RawMessage(`{"id":"b"}`)}, task.World.Now)
			require.NoError(t, err)
			require.Equal(t, `{"b":"free"}`, string(e.Value))
			initial, now := w.States()
			require.Equal(t, `{"books":{"b":"free"}}`, string(initial))
			require.Equal(t, `{"books":{"b":"lent"}}`, string(now))
		}
	}
	digest := func(rules string) string {
		s, err := Suite(suitetest.Folder(declaredSuite(rules, "w: {state: {books: {}}}")), "s", nil)
		require.NoError(t, err)
		return s.Digest
	}
	require.NotEqual(t, digest(lendRules), digest(strings.Replace(lendRules, "lent", "gone", 1)))
}

func TestDeclaredProblems(t *testing.T) {
	for _, c := range []struct{ rules, worlds, want string }{
		{lendRules, "w: {state: {book: {}}}", `s/suite.yaml:6: tools[0].rules[0].set.books.{{args.id}}: no state of the suite has books (did you mean book?)`},
		{`rules: [{returns: "{{arg}}"}]`, "w: {state: {}}", `s/suite.yaml:6:26: tools[0].rules[0].returns: unknown name arg (did you mean args?)`},
		{`http: {url: "https://x/"}` + "\n    " + lendRules, "w: {state: {books: {}}}", `tools[0].http: a tool is run over HTTP or by rules, not both`},
		{"", "w: {kind: declared}", `worlds.w.kind: a declared world needs tools with rules`},
		{"let: {a: '1'}", "w: {}", `tools[0].rules: is missing`},
	} {
		_, err := Suite(suitetest.Folder(declaredSuite(c.rules, c.worlds)), "s", nil)
		require.ErrorContains(t, err, c.want)
	}
}

// The first suite of docs/worlds.md has no problems, and its solution solves its task.
func TestWorldsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/worlds.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(page), "```yaml\nname: library\n")
	require.True(t, ok)
	text, rest, _ := strings.Cut(rest, "```")
	_, rest, ok = strings.Cut(rest, "```yaml\nplaybook:\n")
	require.True(t, ok)
	book, _, _ := strings.Cut(rest, "```")
	s, err := Suite(suitetest.Folder("name: library\n"+text, playbook.File, "playbook:\n"+book), "library", nil)
	require.NoError(t, err)
	require.NoError(t, s.Lint())
	plays, err := Playbook(s)
	require.NoError(t, err)
	require.Empty(t, plays.Missing())

	task, play := s.Tasks[0], plays.Plays()[0]
	w, err := goldens.OpenWorld(t.Context(), task, 1)
	require.NoError(t, err)
	var seen playbook.Seen
	for {
		actions, err := play.Next(seen)
		require.NoError(t, err)
		if a := actions[0]; a.Kind != playbook.Call {
			o := goldens.Outcome{Status: "answered", Answer: a.Text}
			o.StateBefore, o.StateAfter = w.States()
			solved, checks := goldens.Score(task, o)
			require.True(t, solved, "%+v", checks)
			return
		}
		e, err := w.Call(t.Context(), tool.Call{Name: actions[0].Tool, Args: actions[0].Args}, task.World.Now)
		require.NoError(t, err)
		seen.Results = append(seen.Results, playbook.Result{Tool: actions[0].Tool, Args: actions[0].Args, Value: e.Value, Code: e.Code})
	}
}
