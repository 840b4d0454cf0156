// Package pairwise asks a judge which of two episodes on the same task is better, once in each
// order, because judges tend to prefer a place. Each question is an episode of a run without a
// folder: caps, rates, retries, recordings and interrupts are those of every run.
package pairwise

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/helper"
	"github.com/cupel-eval/cupel/goldens/rubric"
	"github.com/cupel-eval/cupel/goldens/scorer"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/recorder"
)

// Pair are two episodes of one task and trial. With of Baseline is what the task adds to the rubric.
type Pair struct {
	Task          string
	Trial         int
	Baseline, New scorer.Episode
}

// Work returns an episode as judges see it. outcome is nil if only status and answer are known.
func Work(task goldens.Task, status, answer string, outcome *goldens.Outcome) scorer.Episode {
	if outcome == nil {
		return scorer.Episode{Task: task.ID, Request: task.Request, Status: status, Answer: answer}
	}
	return *drive.Scored(task, *outcome)
}

// Answer is what a judge says of a pair.
type Answer struct {
	// Same means that the judge would see no difference, so that it was not asked.
	Same bool
	// Orders has the preference with the baseline shown first, and with the new one shown first.
	Orders [2]Said
}

// Said is a preference of a judge. Without one, Failure says why.
type Said struct {
	rubric.Preference
	Failure string
}

// Asked is what a judge says of pairs, with what its calls used, those of recorded answers included.
type Asked struct {
	Answers []Answer // in the order of the pairs
	Calls   int
	// Tokens, of all input and all output classes, and cost are nil if those of a call are unknown.
	TokensIn, TokensOut, CostNanoUSD *int64
	// Interrupted means that the run was drained or cancelled before its end.
	Interrupted bool
}

// MissingError means that a replay lacks recorded answers.
type MissingError struct{ Missing, Of int }

func (e *MissingError) Error() string {
	return fmt.Sprintf("%d of %d answers of the judge are not recorded", e.Missing, e.Of)
}

// Ask asks about each pair in both orders. The options are those of a run: mode, caps, providers
// and cassettes; suite, candidates, selection and run folder are replaced. Cassettes are named by
// what the judge sees, so they hold for any two runs with the same texts, and record mode asks
// only what is not recorded yet. A judge that gives no preference is a Failure of its answer.
func Ask(ctx context.Context, o harness.Options, jury helper.Jury, pairs []Pair) (a Asked, err error) {
	a.Answers = make([]Answer, len(pairs))
	a.TokensIn, a.TokensOut, a.CostNanoUSD = new(int64), new(int64), new(int64)
	suite, places, err := questions(jury, pairs, a.Answers)
	if err != nil || len(suite.Tasks) == 0 {
		return a, err
	}
	o = asking(o, jury, suite)
	failures := map[string]string{}
	if o.Mode == recorder.Record {
		res, err := harness.Run(ctx, o)
		if err != nil && !errors.Is(err, harness.ErrAllFresh) {
			return a, err
		}
		a.Interrupted = res.Interrupted
		for _, e := range res.Rows.Episodes {
			failures[e.TaskID] = failureOf(e)
		}
		o.Progress, o.Watch, o.Drain = nil, nil, nil // what is recorded is read in any case
	}
	if o.Mode != recorder.Live {
		missing, err := replay(&o)
		if err != nil {
			return a, err
		}
		if missing > 0 && len(failures) == 0 && !a.Interrupted {
			return a, &MissingError{missing, len(suite.Tasks)}
		}
		if missing == len(suite.Tasks) {
			return a, fill(&a, suite.Tasks, nil, places, failures)
		}
	}
	res, err := harness.Run(ctx, o)
	if err != nil {
		return a, err
	}
	a.Interrupted = a.Interrupted || res.Interrupted
	return a, fill(&a, suite.Tasks, res.Rows.Episodes, places, failures)
}

// Questions returns the options of the run that Ask would make, for a forecast: each question is an
// episode. The suite has no task if the judge would see no difference in any pair.
func Questions(o harness.Options, jury helper.Jury, pairs []Pair) (harness.Options, error) {
	suite, _, err := questions(jury, pairs, make([]Answer, len(pairs)))
	if err != nil {
		return o, err
	}
	return asking(o, jury, suite), nil
}

// asking makes options those of a run that asks questions. A recording asks those that are not recorded.
func asking(o harness.Options, jury helper.Jury, questions *goldens.Suite) harness.Options {
	o.Matrix = harness.Matrix{Suite: questions, Candidates: []goldens.Candidate{candidate(jury)}, Trials: 1, Seed: o.Seed}
	o.RunFolder = harness.RunFolder{}
	o.Strategies = map[string]agent.Strategy{strategyName: {New: func(p agent.Params) (agent.Machine, error) { return newMachine(jury, p), nil }}}
	o.Stale = o.Mode == recorder.Record
	return o
}

// replay makes options those of a replay of what is recorded, and counts what is not.
func replay(o *harness.Options) (missing int, err error) {
	o.Mode, o.Stale = recorder.Replay, false
	list, err := harness.Cassettes(*o)
	if err != nil {
		return 0, err
	}
	recorded := map[string]bool{}
	for _, s := range list {
		recorded[s.Path] = s.State != cassettes.Missing
	}
	o.Select.Episode = func(task, candidate string, trial int) bool {
		return recorded[cassettes.Path(task, candidate, trial)]
	}
	for _, t := range o.Suite.Tasks {
		if !recorded[cassettes.Path(t.ID, o.Candidates[0].Name, 1)] {
			missing++
		}
	}
	return missing, nil
}

// place is an order of a pair.
type place struct{ pair, order int }

// questions makes a task of each question. Equal questions are one.
func questions(jury helper.Jury, pairs []Pair, answers []Answer) (s *goldens.Suite, places map[string][]place, err error) {
	s = &goldens.Suite{Name: "comparisons", Path: "comparisons"}
	places = map[string][]place{}
	for i, p := range pairs {
		p.New.With = p.Baseline.With
		var messages [2]string
		for order, two := range [2][2]scorer.Episode{{p.Baseline, p.New}, {p.New, p.Baseline}} {
			two[0].Request = p.Baseline.Request
			if _, messages[order], err = rubric.PairPrompt(jury.Rubric, jury.Sees, two[0], two[1]); err != nil {
				return nil, nil, fmt.Errorf("task %s, trial %d: %w", p.Task, p.Trial, err)
			}
		}
		if answers[i].Same = messages[0] == messages[1]; answers[i].Same {
			continue
		}
		for order, message := range messages {
			id := p.Task + "-" + jury.Model.Digest(rubric.PairVersion(), message)[:16]
			if places[id] == nil {
				s.Tasks = append(s.Tasks, goldens.Task{
					ID: id, Request: message, World: world.Spec{Now: world.DefaultNow, Zone: time.UTC}, Expect: []goldens.Expect{{Status: string(agent.Answered)}},
					Budgets: guard.Budgets{MaxSteps: rubric.Attempts},
				})
			}
			places[id] = append(places[id], place{i, order})
		}
	}
	s.Digest = drive.DigestOf(s.Tasks)
	return s, places, nil
}

// candidate is the judge as the candidate of the run. How its output is formatted is up to the machine.
func candidate(jury helper.Jury) goldens.Candidate {
	c := goldens.Candidate{}.Asking(jury.Model)
	c.Name, c.Agent, c.Mode, c.MaxTokens = jury.Model.Name, strategyName, "", new(maxTokens(jury))
	return c
}

// failureOf says why an episode has no preference; empty if it has one.
func failureOf(e ledger.Episode) string {
	if why := e.Excluded(); why != "" {
		return cmp.Or(e.ErrorText, why)
	}
	return ""
}

// fill reads the answers from the rows of a run. failures are those of the recording before.
func fill(a *Asked, tasks []goldens.Task, rows []ledger.Episode, places map[string][]place, failures map[string]string) error {
	said := map[string]Said{}
	for _, e := range rows {
		s := Said{Failure: failureOf(e)}
		if s.Failure == "" {
			if err := json.Unmarshal([]byte(e.Answer), &s.Preference); err != nil {
				return fmt.Errorf("answer of a judge %s: %w", strconv.Quote(e.TaskID), err)
			}
		}
		said[e.TaskID] = s
		a.Calls += int(e.Steps)
		add(&a.TokensIn, e.In, cmp.Or(e.CacheRead, new(int64)), cmp.Or(e.CacheWrite, new(int64)))
		add(&a.TokensOut, e.Out, cmp.Or(e.Reasoning, new(int64)))
		add(&a.CostNanoUSD, e.CostNanoUSD)
	}
	for _, t := range tasks {
		s, asked := said[t.ID]
		if !asked {
			if s.Failure = failures[t.ID]; s.Failure == "" {
				s.Failure = "not asked yet"
			}
		}
		for _, at := range places[t.ID] {
			a.Answers[at.pair].Orders[at.order] = s
		}
	}
	return nil
}

// add adds numbers to a sum, which is nil once one of them is unknown.
func add(sum **int64, numbers ...*int64) {
	for _, n := range numbers {
		if n == nil || *sum == nil {
			*sum = nil
			return
		}
		**sum += *n
	}
}
