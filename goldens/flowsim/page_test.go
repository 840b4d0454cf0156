package flowsim

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// The suite on the page can be loaded, and its task accepts the workflow on the page and
// refuses one whose condition is a little different. The page names every part of a state.
func TestPage(t *testing.T) {
	page := testkit.Doc(t, "flowsim.md")
	block := func(language string) string {
		found := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindStringSubmatch(page)
		require.NotNil(t, found)
		return found[1]
	}
	s, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(block("yaml"))}}, "shop", Worlds())
	require.NoError(t, err)
	require.NoError(t, s.Lint())
	failed := func(code string) (names []string) {
		task := s.Tasks[0]
		w, err := goldens.OpenWorld(t.Context(), task, 1)
		require.NoError(t, err)
		play := &session{t, w, task.World.Now}
		play.ok("build-workflow", "code: "+strconv.Quote(code))
		o := goldens.Outcome{Status: "answered", Answer: "done"}
		o.StateBefore, o.StateAfter = w.States()
		_, checks := goldens.Score(task, o)
		for _, c := range checks {
			if !c.Passed {
				names = append(names, c.Name)
			}
		}
		return names
	}
	graph := block("json")
	require.Empty(t, failed(graph))
	require.Equal(t, []string{"workflow"}, failed(strings.Replace(graph, `"gte"`, `"gt"`, 1)))
	for _, part := range stateFields {
		require.Contains(t, page, "`"+part+"`")
	}
	for _, feature := range features {
		require.Contains(t, page, "`"+feature+"`")
	}
}
