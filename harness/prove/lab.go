package prove

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/persona"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// lab runs single episodes of strategy tools in process, each with its own model, without sending
// prompts. It is safe for concurrent use.
type lab struct {
	env     *drive.Env
	planned map[string]drive.Planned // by task
}

// The candidate of the lab, and the provider whose policy it has.
const (
	labName     = "reference"
	labProvider = "sim-openai"
)

// newLab plans an episode of each task.
func newLab(base harness.Options, suite *goldens.Suite, tasks []goldens.Task, book *playbook.Book) (*lab, error) {
	l := &lab{planned: map[string]drive.Planned{}, env: &drive.Env{
		RunID: "prove", Mode: recorder.Live, Tools: map[string]episode.ToolFunc{}, Answers: drive.NewAnswerBook(),
		Command: func(string, string, int) string { return "cupel suite prove" }, Secrets: secrets.New(), Cleaners: &sync.Pool{},
		LookupEnv: base.LookupEnv, Factories: map[string]providers.Factory{labProvider: func(providers.Options) (providers.Model, error) { return player{book}, nil }},
	}}
	for _, t := range suite.Tools {
		if suite.Remote(t.Name) {
			l.env.Tools[t.Name] = offline
		}
	}
	maps.Copy(l.env.Tools, base.Tools)
	s := *suite
	s.Tasks = slices.Clone(tasks)
	for i := range s.Tasks {
		s.Tasks[i].Budgets.MaxCostNanoUSD = 0 // its model costs nothing
	}
	plan, err := harness.NewPlan(harness.Options{
		Matrix:    harness.Matrix{Suite: &s, Candidates: []goldens.Candidate{{Name: labName, Agent: strategy.Tools, Provider: labProvider, Model: labName}}},
		Rules:     harness.Rules{Policy: policy.Default()},
		Recording: harness.Recording{Mode: recorder.Live},
		Parts: harness.Parts{
			Tools: l.env.Tools, LookupEnv: base.LookupEnv, Now: tasks[0].World.Now.UTC,
			Providers: map[string]providers.Factory{labProvider: func(providers.Options) (providers.Model, error) { return &solver{}, nil }},
		},
	})
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	for _, p := range plan.Episodes() {
		l.planned[p.Task.ID] = p
	}
	return l, nil
}

// player plays the simulated users and judges of the lab.
type player struct{ book *playbook.Book }

// Call implements providers.Model.
func (p player) Call(_ context.Context, c providers.Call) (providers.Reply, error) {
	if said, ok := p.book.Verdict(c.System, c.Messages[0].Text, playbook.Rates{Sensitivity: 1, Specificity: 1}, 0); ok {
		return providers.Reply{Text: said}, nil
	}
	said, _ := persona.Play(c.System, c.Messages[len(c.Messages)-1].Text, persona.Plain)
	return providers.Reply{Text: said}, nil
}

// errOffline says that a solution needs a network.
var errOffline = errors.New("it is run over HTTP or by an MCP server, and suites are proved without a network")

// offline replaces a tool that runs over HTTP or on an MCP server.
func offline(context.Context, tool.Call, episode.CallInfo) (tool.Result, error) {
	return tool.Result{}, errOffline
}

// run runs one episode.
func (l *lab) run(ctx context.Context, task string, s *solver) (o goldens.Outcome, rows ledger.EpisodeRows) {
	p := l.planned[task]
	p.Factory = func(providers.Options) (providers.Model, error) { return s, nil }
	rows = l.env.Run(ctx, &p, func(t episode.Trace) {
		if t.Outcome != nil {
			o = *t.Outcome
		}
	})
	return o, rows
}

// reference is what the unchanged solution of a task does.
type reference struct {
	task    goldens.Task
	talk    *talk
	outcome goldens.Outcome
	columns []column
	key     string
	// writes are the tools whose calls changed the world.
	writes []string
}

// reference runs the solution of a task as it is. refused says why the task does not accept
// it; the error, why the solution has no result.
func (l *lab) reference(ctx context.Context, t goldens.Task, s solution) (ref *reference, refused string, err error) {
	sol := newSolver(s, t, change{})
	o, rows := l.run(ctx, t.ID, sol)
	if which, _, offline := strings.Cut(rows.Episode.ErrorText, errOffline.Error()); offline {
		return nil, "", fmt.Errorf("%s%w", which, errOffline)
	}
	if rows.Episode.Excluded() != "" || sol.first == nil {
		return nil, "", fmt.Errorf("its solution does not come to a result: %s", rows.Episode.ErrorText)
	}
	if !accepts(rows.Episode) {
		refused = whyUnsolved(rows.Episode)
	}
	ref = &reference{task: t, talk: sol.first, outcome: o, columns: columnsOf(sol.first), key: keyOf(o)}
	for _, c := range rows.ToolCalls {
		if c.Changes != nil && *c.Changes > 0 {
			ref.writes = append(ref.writes, c.ToolName)
		}
	}
	return ref, refused, nil
}

// outcome is what a mutant comes to, and whether its task accepts that.
func (l *lab) outcome(ctx context.Context, ref *reference, s solution, m *mutant) (o goldens.Outcome, accepted bool) {
	switch {
	case m.extra != nil:
		o, accepted, changed := l.changing(ctx, ref, s, m)
		if !changed {
			return ref.outcome, true
		}
		return o, accepted
	case m.answer == nil:
		o, rows := l.run(ctx, ref.task.ID, newSolver(s, ref.task, m.change))
		return o, accepts(rows.Episode)
	}
	o = ref.outcome
	o.Answer = *m.answer
	accepted, _ = goldens.Score(ref.task, o)
	return o, accepted
}

// keyOf is equal for episodes with the same result: the same status, answer, questions and state of the
// world, and the tools returned the same, however often and in whatever order.
func keyOf(o goldens.Outcome) string {
	var seen []string
	for _, c := range o.Calls {
		if c.Outcome == tool.OK {
			seen = append(seen, fmt.Sprintf("%s %s", c.Call.Name, c.Result))
		}
	}
	slices.Sort(seen)
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d %q %s", o.Status, o.StopReason, o.Answer, o.Clarifies, slices.Compact(seen), o.StateAfter))
	return string(sum[:])
}
