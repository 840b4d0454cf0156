// Package prove checks a suite without a model: that the reference solution of each task is
// accepted, that doing nothing is not, and that solutions with one mistake (mutants) are
// refused. It needs no key and no network.
package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/helper"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/goldens/world/process"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/internal/parallel"
)

// Options say how a suite is proved.
type Options struct {
	// Run brings what episodes need: Suite, Candidates, whose strategies are tried (nil means
	// the suite's own), Providers, Policy, Prices, Strategies, Tools, and as Transport the
	// simulated models, which follow Book. Its other fields are not used.
	Run harness.Options
	// Book has the reference solutions.
	Book *playbook.Book
	// Progress, if not nil, is called with every task that is done, one call at a time.
	Progress func(done, total int)
}

// Result is the result of proving a suite. Tasks are in the order of the suite.
type Result struct {
	Suite string `json:"suite"`
	// Strategies are those that the reference solutions were tried under.
	Strategies []string `json:"strategies"`
	Tasks      []Task   `json:"tasks"`
	// Scripted tasks are not proved, they have no solution.
	Scripted int `json:"scripted"`
	Counts
}

// Task is the result of proving one task.
type Task struct {
	ID string `json:"id"`
	// Unproved says why the task could not be proved, empty if it could: it has no
	// solution, or one that cannot be run as agent tools.
	Unproved string `json:"unproved,omitempty"`
	// Unsolved are the strategies under which the task refuses its reference solution, each
	// with the check that failed; Excluded those that lack what the task requires, and all of
	// them where its solution calls a tool over HTTP.
	Unsolved []Pair `json:"unsolved,omitempty"`
	Excluded []Pair `json:"excluded,omitempty"`
	// Fell are the strategies under which an agent that follows no injected text does what the
	// attacker of the task wants. Unshown says that the solution never sees the text.
	Fell    []string `json:"fell,omitempty"`
	Unshown bool     `json:"unshown,omitempty"`
	// Nop are the strategies under which doing nothing solves the task.
	Nop []string `json:"nop,omitempty"`
	Counts
	Survivors []Mutant `json:"survivors,omitempty"`
	Excused   []Mutant `json:"excused,omitempty"`

	// offline says which tool of the solution needs a network, refused why the task does
	// not accept its solution as agent tools.
	offline, refused string
}

// Pair is a strategy and what there is to say of the task under it.
type Pair struct {
	Strategy string `json:"strategy"`
	Why      string `json:"why"`
}

// Counts are numbers of mutants.
type Counts struct {
	// Mutants are those that count; of them Killed are refused by the task.
	Mutants int `json:"mutants"`
	Killed  int `json:"killed"`
	// Same are mutants with the result of the solution or of an earlier mutant, and
	// Equivalent those that the playbook excuses. Neither counts.
	Same       int `json:"same"`
	Equivalent int `json:"equivalent"`
}

// Score is the share of the mutants that the tasks refuse; 1 if there is none.
func (c Counts) Score() float64 {
	if c.Mutants == 0 {
		return 1
	}
	return float64(c.Killed) / float64(c.Mutants)
}

func (c *Counts) add(d Counts) {
	c.Mutants += d.Mutants
	c.Killed += d.Killed
	c.Same += d.Same
	c.Equivalent += d.Equivalent
}

// Mutant is a mutant that its task accepts.
type Mutant struct {
	// Says is a sentence such as "C12 accepts an answer that names 25 instead of 26".
	Says string `json:"says"`
	// Check is what would refuse it, as the task's expect would have it; of an excused
	// mutant it is the reason.
	Check string `json:"check"`
}

// Failures are what keeps the suite from being proved, a sentence each; min is the least
// score of the suite, from 0 to 1.
func (r Result) Failures(min float64) (out []string) {
	for _, t := range r.Tasks {
		if t.Unproved != "" {
			out = append(out, fmt.Sprintf("%s is not proved: %s", t.ID, t.Unproved))
		}
		for _, p := range t.Unsolved {
			out = append(out, fmt.Sprintf("%s refuses its reference solution under %s: %s", t.ID, p.Strategy, p.Why))
		}
		if len(t.Fell) > 0 {
			out = append(out, fmt.Sprintf("%s: the attack succeeds without an agent that follows it, under %s; state in succeeds what only such an agent does", t.ID, strings.Join(t.Fell, ", ")))
		}
		if t.Unshown {
			out = append(out, t.ID+": its reference solution is never shown the injected text; put it where the solution looks; a field needs results that are objects, and no field those that are texts")
		}
		if len(t.Nop) > 0 {
			out = append(out, fmt.Sprintf("%s accepts an agent that does nothing, under %s", t.ID, strings.Join(t.Nop, ", ")))
		}
	}
	if !slices.ContainsFunc(r.Tasks, func(t Task) bool { return t.Unproved != "" || len(t.Excluded) < len(r.Strategies) }) {
		out = append(out, "nothing was tried: every pair of task and strategy is excluded; add a task that can be proved, or a candidate whose strategy can solve one")
	}
	if s := r.Score(); s < min {
		out = append(out, fmt.Sprintf("the mutation score is %.1f%%, and at least %.1f%% is asked for", 100*s, 100*min))
	}
	return out
}

// judgedByRules has judges follow the rules of the playbook, without errors. Judges without a rule
// are left out: there is no model to ask.
func judgedByRules(outcomes []goldens.Expect, book *playbook.Book) []goldens.Expect {
	outcomes = slices.Clone(outcomes)
	for i := range outcomes {
		var checks []helper.Check
		for _, c := range outcomes[i].Judges {
			if book.Judges(c.Name) {
				jury := *c.Judge
				jury.Model = helper.Model{Name: c.Name, Provider: labProvider, Model: oracle}
				c.Judge = &jury
				checks = append(checks, c)
			}
		}
		outcomes[i].Judges = checks
	}
	return outcomes
}

// simulated is a task whose helpers are simulated, whoever they are otherwise, and whose world uses
// its processes again.
func simulated(t goldens.Task, book *playbook.Book, pool *process.Pool) goldens.Task {
	if t.User != nil {
		user := *t.User
		user.Model = helper.Model{Name: user.Model.Name, Provider: labProvider, Model: oracle}
		t.User = &user
	}
	t.Expect = judgedByRules(t.Expect, book)
	if kind, ok := t.World.Maker.(process.Kind); ok {
		kind.Pool = pool
		t.World.Maker = kind
	}
	return t
}

// Suite proves a suite. The error says what is wrong with the options, the suite or its
// playbook, or that ctx was cancelled; a suite that is not proved is not an error.
func Suite(ctx context.Context, o Options) (Result, error) {
	suite := o.Run.Suite
	r := Result{Suite: suite.Name}
	var tasks []goldens.Task
	plays := map[string]*playbook.Play{}
	pool := &process.Pool{}
	defer pool.Close()
	for _, t := range suite.Tasks {
		if t.Scripted {
			r.Scripted++
			continue
		}
		t = simulated(t, o.Book, pool)
		r.Tasks, tasks = append(r.Tasks, Task{ID: t.ID}), append(tasks, t)
		id := t.ID
		if t.Attack != nil {
			id = t.Attack.Task
		}
		play, ok := o.Book.Of(id)
		if !ok {
			play, ok = o.Book.Find(t.Request, t.Tools)
		}
		if plays[t.ID] = play; !ok {
			r.Tasks[len(r.Tasks)-1].Unproved = "the playbook has no solution of it"
		}
	}
	if len(tasks) == 0 {
		return r, errors.New("prove: the suite has no task but scripted ones")
	}
	l, err := newLab(o.Run, suite, tasks, o.Book)
	if err != nil {
		return r, fmt.Errorf("prove: %w", err)
	}
	errs := make([]error, len(tasks))
	var mu sync.Mutex
	done := 0
	parallel.Each(len(tasks), func(i int) {
		if t := tasks[i]; r.Tasks[i].Unproved == "" && ctx.Err() == nil && lacking(t, strategy.Of(strategy.Tools)) == "" {
			errs[i] = l.prove(ctx, &r.Tasks[i], t, plays[t.ID], o.Book.Excuses(t.ID))
		}
		mu.Lock()
		defer mu.Unlock()
		if done++; o.Progress != nil {
			o.Progress(done, len(tasks))
		}
	})
	o.Run.Tools = l.env.Tools
	if err := tryStrategies(ctx, o, tasks, &r); err != nil {
		return r, fmt.Errorf("prove: %w", err)
	}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		r.add(t.Counts)
		if t.refused != "" && len(t.Unsolved) == 0 {
			t.Unproved = "mutants run agent tools, under which its solution is refused: " + t.refused
		}
	}
	return r, errors.Join(append(errs, ctx.Err())...)
}

// maxMutants bounds the mutants of one task: no solution written by people comes near it.
const maxMutants = 2_000

// prove makes the mutants of one task. The error joins the excuses that match none of them.
func (l *lab) prove(ctx context.Context, out *Task, t goldens.Task, s solution, excuses []playbook.Excuse) error {
	ref, refused, err := l.reference(ctx, t, s)
	if errors.Is(err, errOffline) {
		out.offline = err.Error()
		return nil
	}
	if err != nil {
		out.Unproved = err.Error()
		return nil
	}
	if out.refused = refused; refused != "" {
		return nil
	}
	if t.Attack != nil { // the mutants are those of the task without attack
		out.Unshown = !shown(t.Attack.Text, ref.outcome)
		return nil
	}
	seen := map[string]bool{ref.key: true}
	used := make([]bool, len(excuses))
	specs := l.planned[t.ID].Params.Tools.Specs()
	mutants := slices.Concat(ref.steps(specs), ref.extra(specs), ref.answers())
	for _, m := range mutants[:min(len(mutants), maxMutants)] {
		if ctx.Err() != nil {
			return nil
		}
		o, accepted := l.outcome(ctx, ref, s, &m)
		key := keyOf(o)
		if seen[key] {
			out.Same++
			continue
		}
		seen[key] = true
		excuse := slices.IndexFunc(excuses, func(e playbook.Excuse) bool { return e.Matches(m.does) })
		survivor := Mutant{t.ID + " accepts " + m.does, m.check}
		switch {
		case !accepted:
			out.Killed++
			out.Mutants++
		case excuse >= 0:
			used[excuse] = true
			survivor.Check = excuses[excuse].Why
			out.Excused = append(out.Excused, survivor)
			out.Equivalent++
		default:
			out.Survivors = append(out.Survivors, survivor)
			out.Mutants++
		}
	}
	var errs []error
	for i, e := range excuses {
		if !used[i] {
			errs = append(errs, e.Unused())
		}
	}
	return errors.Join(errs...)
}
