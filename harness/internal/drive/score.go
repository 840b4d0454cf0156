package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/helper"
	"github.com/cupel-eval/cupel/goldens/rubric"
	"github.com/cupel-eval/cupel/goldens/scorer"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/local"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
)

// Scoring says where a replay gets the results of programs that score.
type Scoring string

// The ways to score.
const (
	ScoreRecorded Scoring = ""    // from the cassette
	ScoreAgain    Scoring = "run" // by running the programs
	ScoreNothing  Scoring = "no"  // not at all: the checks fail, and nothing reads them
)

// score has the scorers and judges of the task's outcomes judge the episode. An error is a failure of the
// harness: it says nothing about the model.
func score(ctx context.Context, e *driver) (map[string]scorer.Result, error) {
	results := map[string]scorer.Result{}
	var doc *scorer.Episode
	add := func(name, digest string, least *float64, passed func(scorer.Result) bool, find func() (scorer.Result, error)) error {
		if _, done := results[name]; done || e.Scoring == ScoreNothing {
			return nil
		}
		if doc == nil {
			doc = Scored(e.Task, e.rows.outcome(*e.finish, e.clock))
		}
		result, err := find()
		if err != nil {
			return err
		}
		results[name] = result
		e.rows.scores = append(e.rows.scores, ledger.Score{Name: name, Score: result.Score, AtLeast: least, Pass: passed(result), Digest: digest, Reason: e.Secrets.Redact("episodes.scores.reason", result.Reason)})
		return nil
	}
	for _, outcome := range e.Task.Expect {
		for _, spec := range outcome.Scores {
			if err := add("score."+spec.Name, spec.Digest, spec.AtLeast, spec.Passed, func() (scorer.Result, error) { return scoreBy(ctx, e, spec, *doc) }); err != nil {
				return nil, err
			}
		}
		for _, c := range outcome.Judges {
			if err := add(string(helper.Judge)+"."+c.Name, c.Bound(), c.AtLeast, c.Passed, func() (scorer.Result, error) { return judgeBy(ctx, e, c, *doc) }); err != nil {
				return nil, err
			}
		}
	}
	if e.recorder != nil {
		e.recorder.Skip(scorer.Host, string(helper.Judge)) // a scorer or judge may be gone, or run again
	}
	return results, nil
}

// judgeTokens bounds a verdict of a judge without max_tokens.
const judgeTokens = 1000

// judgeBy asks a judge about the episode. A reply that is not a verdict is asked for again; a
// judge that gives none has failed, and the candidate has not.
func judgeBy(ctx context.Context, e *driver, c helper.Check, doc scorer.Episode) (scorer.Result, error) {
	doc.With = c.With
	system, message, err := rubric.Prompt(c.Judge.Rubric, c.Judge.Sees, doc)
	if err != nil {
		return scorer.Result{}, err
	}
	call := providers.Call{System: system, Messages: []providers.Message{{Role: providers.RoleUser, Text: message}}, MaxTokens: judgeTokens}
	if mode := c.Judge.Model.Mode; mode != "" && mode != "prompt" {
		call.Format = &providers.Format{Mode: providers.Mode(mode), Name: "verdict", Schema: []byte(rubric.Schema)}
	}
	var fault error
	for range rubric.Attempts {
		reply, err := askHelper(ctx, e, c.Helper(), e.issued+1, call)
		if err != nil {
			return scorer.Result{}, err
		}
		var result scorer.Result
		if result, fault = rubric.Parse(reply.Text); fault == nil {
			return result, nil
		}
		call.Messages = append(call.Messages, providers.Message{Role: providers.RoleAssistant, Text: cmp.Or(strings.TrimSpace(reply.Text), "(no text)")},
			providers.Message{Role: providers.RoleUser, Text: rubric.Again(fault)})
	}
	return scorer.Result{}, fmt.Errorf("judge %s gave no verdict in %d replies: %w", c.Name, rubric.Attempts, fault)
}

// scoreBy has one scorer judge the episode.
func scoreBy(ctx context.Context, e *driver, spec scorer.Spec, doc scorer.Episode) (scorer.Result, error) {
	if spec.Exec == nil {
		f := e.Checks[spec.Check]
		if f == nil {
			return scorer.Result{}, fmt.Errorf("score %s: no Go function is named %q; add it to cmd.App.Checks", spec.Name, spec.Check)
		}
		return spec.Call(ctx, f, doc)
	}
	var to http.RoundTripper = local.Transport{Secrets: e.Secrets}
	// The mode is that of the run: what an external agent did is replayed in every mode.
	if mode := e.helpers.Mode; e.recorder != nil && (mode == recorder.Record || mode == recorder.Replay && e.Scoring == ScoreRecorded) {
		to = e.recorder.Source()
	}
	result, err := scorer.Ask(recorder.Ordered(ctx, e.issued+1), to, spec, doc)
	if _, ok := errors.AsType[*recorder.MissError](err); ok {
		return result, fmt.Errorf("score %s: cassette %s has no result of this program for this episode: the program changed, or was added after the recording; score a run again with cupel rescore RUN, or record again with: %s", spec.Name, e.Cassette, e.commandOf(*e.Planned))
	}
	return result, err
}

// Scored is what scorers read of an episode. It has no expectation but what its check passes on.
func Scored(t goldens.Task, o goldens.Outcome) *scorer.Episode {
	doc := &scorer.Episode{
		Task: t.ID, Request: t.Request, Status: o.Status, StopReason: o.StopReason, Answer: o.Answer, Steps: o.Steps, Calls: []scorer.Call{},
		StateBefore: o.StateBefore, StateAfter: o.StateAfter,
	}
	for _, c := range o.Calls {
		doc.Calls = append(doc.Calls, scorer.Call{Tool: c.Call.Name, Args: string(c.Call.Args), Outcome: string(c.Outcome), Result: c.Result})
	}
	return doc
}

// AddJudges adds the judges that checks of a task name to those of a run.
func AddJudges(list []manifest.Judge, t goldens.Task) []manifest.Judge {
	for _, e := range t.Expect {
		for _, c := range e.Judges {
			j := manifest.Judge{Check: manifest.JudgePrefix + c.Name, Provider: c.Judge.Model.Provider, Model: c.Judge.Model.Model, AtLeast: c.AtLeast, Digest: c.Bound(), Prompt: rubric.Version()}
			if j.Rubric, j.Settings = c.Judge.Parts(); !slices.ContainsFunc(list, func(o manifest.Judge) bool { return o.Digest == j.Digest && o.Check == j.Check }) {
				list = append(list, j)
			}
		}
	}
	return list
}
