package draft

import (
	"encoding/json"
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/research"
)

// Every task of the suite that has a library, written into a folder, is read back
// as it was.
func TestDraftKeepsDocuments(t *testing.T) {
	from, err := load.Suite(research.FS, "builtin:research", research.Worlds())
	require.NoError(t, err)
	for _, task := range from.Tasks {
		a, err := Draft{Task: task, From: from}.AddTo(os.DirFS(t.TempDir()+"/none"), "mine")
		require.NoError(t, err, task.ID)
		require.Equal(t, string(task.World.State), string(a.Suite.Tasks[0].World.State))
		require.True(t, sameTasks([]goldens.Task{task}, a.Suite.Tasks), task.ID)
	}
	empty := from.Tasks[0]
	empty.World.State = []byte(`{"documents":{"1e3":{"date":"0001-01-01","fields":{"no":"true","null":null,"y":-0.5},"text":"x` + "\u2028" + ` #","title":"2020-01-02"},"null":{"date":"2020-01-02","fields":{},"text":"- a: b","title":"#"}}}`)
	a, err := Draft{Task: empty, From: from}.AddTo(os.DirFS(t.TempDir()+"/none"), "mine")
	require.NoError(t, err)
	require.Equal(t, string(empty.World.State), string(a.Suite.Tasks[0].World.State))
}

// The command of a process world is kept, and its program must be there.
func TestDraftKeepsProcesses(t *testing.T) {
	program := &fstest.MapFile{Data: []byte("print(1)")}
	from, err := load.Suite(fstest.MapFS{"world.py": program, "suite.yaml": {Data: []byte(`name: p
tools: [{name: lend, description: Lends., schema: {type: object}}]
worlds: {w: {process: {command: [python3, world.py, "a b"], timeout: 3s, mcp: true, env: [TOKEN]}, state: {n: 1}}}
tasks: [{id: A, request: Lend., world: w, expect: {status: answered, contains_any: [ok]}}]
`)}}, "p", nil)
	require.NoError(t, err)
	draft := Draft{Task: from.Tasks[0], From: from}
	a, err := draft.AddTo(fstest.MapFS{"world.py": program}, "p")
	require.NoError(t, err)
	require.Equal(t, from.Tasks[0].World.Maker, a.Suite.Tasks[0].World.Maker)
	_, err = draft.AddTo(fstest.MapFS{}, "mine")
	require.EqualError(t, err, "the files that the command of task A's world names are not in mine; copy them from p first")
}

// Tools are written as load reads them.
func TestTools(t *testing.T) {
	specs := []tool.Spec{
		{Name: "lend", Description: "Lends: a \"book\" # now.\nTwice.", Schema: json.RawMessage(`{"type":"object","properties":{"no":{"enum":["yes",1.50,null]}}}`)},
		{Name: "null", Description: "x", Schema: json.RawMessage(`{"type":"object"}`)},
	}
	text, err := Tools(specs)
	require.NoError(t, err)
	got, err := load.Tools(fstest.MapFS{"tools.yaml": {Data: text}}, "tools.yaml", "", nil)
	require.NoError(t, err, string(text))
	require.Len(t, got, 2)
	for i := range specs {
		require.Equal(t, specs[i].Description, got[i].Description)
		require.JSONEq(t, string(specs[i].Schema), string(got[i].Schema))
	}
}

// What is written into another folder is what was read, images included.
func TestDraftGiven(t *testing.T) {
	img := suitetest.Picture(t)
	from, err := load.Suite(suitetest.Folder(suitetest.Head+"tasks:"+suitetest.Given, "pictures/a.png", string(img), "b", "GIF89a\x01\x00"), "s", suitetest.Worlds())
	require.NoError(t, err)
	a, err := Draft{Task: from.Tasks[0], From: from}.AddTo(fstest.MapFS{}, "new")
	require.NoError(t, err)
	require.Equal(t, []string{"tasks/A.yaml", "images/A-1.png", "images/A-2.gif", load.SuiteFile}, []string{a.Files[0].Path, a.Files[1].Path, a.Files[2].Path, a.Files[3].Path})
	require.Equal(t, img, a.Files[1].Text)
	got := a.Suite.Tasks[0]
	require.Equal(t, from.Tasks[0].Inputs, got.Inputs)
	require.Equal(t, from.Tasks[0].AnswerSchema, got.AnswerSchema)
	require.Equal(t, "Coast.1", got.Session)
	require.Equal(t, "pictures/a.png", from.Tasks[0].Images[0].File, "the suite it comes from stays as it is")

	same := fstest.MapFS{"images/A-1.png": {Data: img}}
	a, err = Draft{Task: from.Tasks[0], From: from}.AddTo(same, "new")
	require.NoError(t, err)
	require.Len(t, a.Files, 3, "an image that is there is not written again")
	same["images/A-1.png"] = &fstest.MapFile{Data: []byte("other")}
	_, err = Draft{Task: from.Tasks[0], From: from}.AddTo(same, "new")
	require.ErrorIs(t, err, ErrTaken)
	require.ErrorContains(t, err, "new/images/A-1.png")
}

// A candidate is written back with all that is said to its agent.
func TestDraftAgentSettings(t *testing.T) {
	from, err := load.Suite(suitetest.Folder(suitetest.Head+"tasks: ["+suitetest.Task+"]\n"), "s", suitetest.Worlds())
	require.NoError(t, err)
	c := goldens.Candidate{
		Name: "a", Agent: "tools", Provider: "p", Model: "m", System: "Be brief.\n", Fallback: "n", MaxIterations: 4, FinalRetries: new(0), NoImages: true,
		Memory: goldens.Memory{Turns: 1, Off: true}, Batch: strategy.Batch{Size: 2, Delay: 1500, StopOnFail: true},
	}
	c.Batch.Delay *= 1000
	a, err := Draft{Task: from.Tasks[0], From: from, Candidates: []goldens.Candidate{c}}.AddTo(fstest.MapFS{}, "new")
	require.NoError(t, err)
	require.Equal(t, []goldens.Candidate{c}, a.Suite.Candidates)
}
