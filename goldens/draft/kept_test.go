package draft

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/strategy"
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
