package drive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/scorer"
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

// score has the scorers of the task's outcomes judge the episode. An error is a failure of the
// harness: it says nothing about the model.
func score(ctx context.Context, e *driver) (map[string]scorer.Result, error) {
	results := map[string]scorer.Result{}
	var doc *scorer.Episode
	for _, outcome := range e.Task.Expect {
		for _, spec := range outcome.Scores {
			if _, done := results[spec.Name]; done || e.Scoring == ScoreNothing {
				continue
			}
			if doc == nil {
				doc = scored(e.Task, e.rows.outcome(*e.finish, e.clock))
			}
			result, err := scoreBy(ctx, e, spec, *doc)
			if err != nil {
				return nil, err
			}
			results[spec.Name] = result
		}
	}
	if e.recorder != nil {
		e.recorder.Skip(scorer.Host) // a scorer may be gone, or run again
	}
	return results, nil
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
	var to http.RoundTripper = toolTransport{secrets: e.Secrets}
	recorded := e.recorder != nil && e.Candidate.Agent != strategy.External && (e.Mode != recorder.Replay || e.Scoring == ScoreRecorded)
	if recorded {
		to = e.recorder
	}
	result, err := scorer.Ask(recorder.Ordered(ctx, e.issued+1), to, spec, doc)
	if _, ok := errors.AsType[*recorder.MissError](err); ok {
		return result, fmt.Errorf("score %s: cassette %s has no result of this program for this episode: the program changed, or was added after the recording; score a run again with cupel rescore RUN, or record again with: %s", spec.Name, e.Cassette, e.commandOf(e.Planned))
	}
	return result, err
}

// scored is what scorers read of an episode. It has no expectation but what its check passes on.
func scored(t goldens.Task, o goldens.Outcome) *scorer.Episode {
	doc := &scorer.Episode{
		Task: t.ID, Request: t.Request, Status: o.Status, StopReason: o.StopReason, Answer: o.Answer, Steps: o.Steps, Calls: []scorer.Call{},
		StateBefore: o.StateBefore, StateAfter: o.StateAfter,
	}
	for _, c := range o.Calls {
		doc.Calls = append(doc.Calls, scorer.Call{Tool: c.Call.Name, Args: string(c.Call.Args), Outcome: string(c.Outcome), Result: c.Result})
	}
	return doc
}

// score answers a request of a scorer below the recorder. Results and errors with credentials
// never reach it.
func (t toolTransport) score(req *http.Request) (*http.Response, error) {
	resp, err := scorer.Transport{}.RoundTrip(req)
	if err != nil {
		if t.secrets.Find(err.Error()) != "" {
			err = errors.New(t.secrets.Redact("score", err.Error()))
		}
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err == nil && t.secrets.Find(string(body)) != "" {
		err = fmt.Errorf("the result of the program at %s holds a credential and is withheld; leave it out of the reason", req.URL)
	}
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}
