package imports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/draft"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/clip"
)

// maxTitle bounds the title of a task, in bytes.
const maxTitle = 80

// Draft makes a task for a suite of an imported episode: its request, in the world and with the
// budgets of the suite's first task, and what happened as the outcome to edit. Calls of tools that
// the suite lacks are left out, and named in the comments.
func Draft(suite *goldens.Suite, m manifest.Manifest, e ledger.Episode, o goldens.Outcome) (draft.Draft, error) {
	i := slices.IndexFunc(m.Tasks, func(t manifest.Task) bool { return t.ID == e.TaskID })
	if i < 0 || m.Tasks[i].Request == "" {
		return draft.Draft{}, fmt.Errorf("the imported files do not say what was asked in %s, so it makes no task", e.TaskID)
	}
	first := slices.IndexFunc(suite.Tasks, func(t goldens.Task) bool { return !t.Scripted })
	if first < 0 {
		return draft.Draft{}, fmt.Errorf("suite %s has no task whose world and budgets a task could take over; write one first", suite.Path)
	}
	like := suite.Tasks[first]
	t := goldens.Task{ID: e.TaskID, Title: clip.Bytes(m.Tasks[i].Title, maxTitle), Tier: like.Tier, Request: m.Tasks[i].Request, Tools: like.Tools, World: like.World, Budgets: like.Budgets}
	known := func(name string) bool {
		return slices.ContainsFunc(suite.Tools, func(s tool.Spec) bool { return s.Name == name })
	}
	comments := []string{
		fmt.Sprintf("From the imported run %s, episode %s.", m.RunID, e.EpisodeID),
		"No check scored it: what is expected below is what happened, right or wrong. Edit it.",
		fmt.Sprintf("World, tools and budgets are those of task %s.", like.ID),
	}
	var missing []string
	for _, c := range o.Calls {
		switch name := c.Call.Name; {
		case !known(name) && !slices.Contains(missing, name):
			missing = append(missing, name)
		case known(name) && !slices.Contains(t.Tools, name):
			t.Tools = append(slices.Clone(t.Tools), name)
		}
	}
	if missing != nil {
		comments = append(comments, "Left out, because the suite has no such tools: calls of "+strings.Join(missing, ", "))
	}
	expect := goldens.Pin(t, o)
	expect.Trajectory.Required = slices.DeleteFunc(expect.Trajectory.Required, func(c goldens.CallMatch) bool { return !known(c.Tool) })
	if expect.Trajectory.Order = goldens.AnyOrder; len(expect.Trajectory.Required) == 0 {
		expect.Trajectory = goldens.Trajectory{}
	}
	t.Expect = []goldens.Expect{expect}
	return draft.Draft{Task: t, From: suite, Pinned: true, Comments: comments}, nil
}

// CandidateOf is the candidate of a suite that a task made of an import is recorded with first.
func CandidateOf(suite *goldens.Suite, e ledger.Episode) string {
	if len(suite.Candidates) == 0 {
		return e.Candidate
	}
	return cmp.Or(suite.Candidates[0].Name, e.Candidate)
}
