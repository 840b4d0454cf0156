package harness_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	drift "github.com/cupel-eval/cupel/harness/canary"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// echoing answers the prompts of the canary with themselves, and the task correctly.
type echoing struct {
	mu     sync.Mutex
	served string
	calls  []providers.Call
	fail   func(providers.Call) error
	say    string
}

func (m *echoing) Call(_ context.Context, call providers.Call) (providers.Reply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if call.System != "" || len(call.Messages) != 1 || !isPrompt(call.Messages[0].Text) {
		return providers.Reply{Text: answer, Model: m.served, Finish: providers.FinishStop, Usage: providers.Usage{Reported: true, Input: 10, Output: 5}}, nil
	}
	m.calls = append(m.calls, call)
	if m.fail != nil {
		if err := m.fail(call); err != nil {
			return providers.Reply{}, err
		}
	}
	p := -0.25
	reply := providers.Reply{Text: m.say + call.Messages[0].Text, Model: m.served, Fingerprint: "fp", Finish: providers.FinishStop, Usage: providers.Usage{Reported: true, Input: 20, Output: 7, Reasoning: 1}}
	if call.LogProbs {
		reply.LogProb = &p
	}
	return reply, nil
}

func isPrompt(text string) bool {
	for _, p := range drift.Prompts() {
		if p.Text == text {
			return true
		}
	}
	return false
}

// canaryOptions returns a live run of one task with two candidates of one model.
func canaryOptions(t *testing.T) (harness.Options, *echoing) {
	t.Helper()
	o, _ := smallOptions(t, "budgets: {max_steps: 4}", "title: x", goldens.Candidate{Model: "priced"})
	m := &echoing{served: "priced-1"}
	most := 100
	second := o.Candidates[0]
	second.Name, o.Candidates[0].MaxTokens, second.MaxTokens = "d", &most, &most
	o.Candidates = append(o.Candidates, second)
	o.Providers["fake"] = func(providers.Options) (providers.Model, error) { return m, nil }
	o.Runs, o.Canary, o.Retry.Sleep = t.TempDir(), true, noSleep
	return o, m
}

func canaryHistory(t *testing.T, runs string) []drift.Observation {
	t.Helper()
	history, unreadable, err := drift.Load(runs)
	require.NoError(t, err)
	require.Zero(t, unreadable)
	return history
}

// nextDay advances the clock of a run by a day.
func nextDay(o *harness.Options) {
	at := o.Now().Add(24 * time.Hour)
	o.Now = func() time.Time { return at }
}

func TestRunMakesOneCanaryObservationADay(t *testing.T) {
	o, m := canaryOptions(t)
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "complete", res.Manifest.Status)
	require.Len(t, m.calls, len(drift.Prompts()), "both candidates have one model")
	for _, c := range m.calls {
		require.Zero(t, *c.Temperature)
		require.True(t, c.LogProbs)
		require.Equal(t, drift.MaxTokens, c.MaxTokens)
	}
	cost := int64(10 * (20 + 7 + 1) * 1000)
	history := canaryHistory(t, o.Runs)
	require.Len(t, history, 1)
	require.Equal(t, int64(8), *history[0].Answers[0].Tokens)
	require.InDelta(t, -0.25, *history[0].Answers[9].LogProb, 0)
	saved, err := manifest.Read(res.Dir)
	require.NoError(t, err)
	for _, c := range saved.Candidates {
		require.Equal(t, manifest.Canary{
			Status: manifest.CanaryTooFew, Asked: "2026-05-20T00:00:00Z", Served: []string{"priced-1"}, Fingerprints: []string{"fp"},
			Answers: history[0].Digest(), Nights: 1, CostNanoUSD: &cost,
		}, c.Canary)
	}

	o.Seed = 2 // another run of the same day
	res, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Len(t, m.calls, len(drift.Prompts()))
	require.Zero(t, *res.Manifest.Candidates[0].Canary.CostNanoUSD)
	require.Equal(t, []string{"priced-1"}, res.Manifest.Candidates[0].Canary.Served)

	nextDay(&o)
	m.served = "priced-2"
	res, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Len(t, m.calls, 2*len(drift.Prompts()))
	found := res.Manifest.Candidates[1].Canary
	require.Equal(t, manifest.CanaryChanged, found.Status)
	require.Equal(t, res.Manifest.Started, found.ChangedOn)
	require.Equal(t, []string{"served model priced-1 → priced-2"}, found.Evidence)
	require.Len(t, canaryHistory(t, o.Runs), 2)

	// A separate canary command always makes an observation.
	again, err := harness.Canary(context.Background(), o)
	require.NoError(t, err)
	require.Len(t, m.calls, 3*len(drift.Prompts()))
	require.Len(t, again, 1)
	require.Equal(t, []string{"c", "d"}, again[0].Candidates)
	require.Len(t, canaryHistory(t, o.Runs), 3)
}

func TestCanaryIsOffByDefault(t *testing.T) {
	o, m := canaryOptions(t)
	o.Canary = false
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Empty(t, m.calls)
	require.Empty(t, canaryHistory(t, o.Runs))
	text, err := os.ReadFile(filepath.Join(res.Dir, "run.json"))
	require.NoError(t, err)
	require.NotContains(t, string(text), "canary")
}

// A candidate with another extra body has a separate history, because its answers may differ.
func TestCanaryDistinguishesSettings(t *testing.T) {
	o, m := canaryOptions(t)
	o.Candidates[1].Body = map[string]any{"top_p": 0.5}
	found, err := harness.Canary(context.Background(), o)
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Len(t, m.calls, 2*len(drift.Prompts()))
	history := canaryHistory(t, o.Runs)
	require.NotEqual(t, history[0].Set, history[1].Set)
	o.Select.Candidates = []string{"d"}
	found, err = harness.Canary(context.Background(), o)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, []string{"d"}, found[0].Candidates)
}

// A failing call never fails the run, and an observation with one is not compared.
func TestAFailingCanaryIsUnknown(t *testing.T) {
	o, m := canaryOptions(t)
	m.fail = func(c providers.Call) error {
		if strings.Contains(c.Messages[0].Text, "Mongolia") {
			return &fault.Error{Kind: fault.Overloaded, Provider: "fake", Status: 529, Message: "busy"}
		}
		return nil
	}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "complete", res.Manifest.Status)
	found := res.Manifest.Candidates[0].Canary
	require.Equal(t, manifest.CanaryUnknown, found.Status)
	require.Contains(t, found.Problem, "prompt capital: ")
	require.Contains(t, found.Problem, "busy")
	require.Equal(t, []string{"priced-1"}, found.Served)
	require.Empty(t, canaryHistory(t, o.Runs)[0].Answers)

	// A history that cannot be read has the same result, without any request.
	asked := len(m.calls)
	require.NoError(t, os.Remove(filepath.Join(o.Runs, drift.File)))
	require.NoError(t, os.Mkdir(filepath.Join(o.Runs, drift.File), 0o755))
	res, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Contains(t, res.Manifest.Candidates[0].Canary.Problem, "read canary history")
	require.Len(t, m.calls, asked)
}

// The canary omits parameters that a provider rejects: log probabilities, then the temperature.
func TestCanaryOmitsRejectedParameters(t *testing.T) {
	o, m := canaryOptions(t)
	m.fail = func(c providers.Call) error {
		if c.LogProbs || c.Temperature != nil {
			return &fault.Error{Kind: fault.InvalidRequest, Provider: "fake", Status: 400, Message: "unsupported"}
		}
		return nil
	}
	found, err := harness.Canary(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, manifest.CanaryTooFew, found[0].Status)
	require.Len(t, m.calls, 3*len(drift.Prompts()))
	require.Nil(t, canaryHistory(t, o.Runs)[0].Answers[0].LogProb)

	m.fail = func(providers.Call) error {
		return &fault.Error{Kind: fault.InvalidRequest, Provider: "fake", Status: 400, Message: "no such model"}
	}
	found, err = harness.Canary(context.Background(), o)
	require.NoError(t, err)
	require.Contains(t, found[0].Problem, "no such model")
}

// The calls count towards the caps of the run.
func TestCanaryCountsTowardsCaps(t *testing.T) {
	o, m := canaryOptions(t)
	o.Caps = admission.Caps{Requests: 4}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Len(t, m.calls, 4)
	require.Equal(t, "partial", res.Manifest.Status)
	require.Contains(t, res.Manifest.Stopped, "cap")
	require.Contains(t, res.Manifest.Candidates[0].Canary.Problem, "cap")

	o.Candidates[0].Model, o.Caps = "nobody-has-priced-this", admission.Caps{CostNanoUSD: 1}
	_, err = harness.Canary(context.Background(), o)
	require.ErrorContains(t, err, "the price table has no price")
}

// A credential in a model's answer does not reach the history or the manifest.
func TestCanaryStoresNoSecret(t *testing.T) {
	o, m := canaryOptions(t)
	o.Key = func(goldens.Candidate) (string, error) { return canary, nil }
	m.say, m.served = "the key is "+canary+" ", "model-"+canary
	m.fail = func(c providers.Call) error {
		if strings.Contains(c.Messages[0].Text, "Mongolia") {
			return errors.New("refused: " + canary)
		}
		return nil
	}
	for range 2 {
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		require.Empty(t, inFiles(t, o.Runs, canary))
		require.NotContains(t, fmt.Sprint(res.Manifest), canary)
		m.fail = nil
		nextDay(&o)
	}
	require.Len(t, canaryHistory(t, o.Runs)[1].Answers, len(drift.Prompts()))
}

// Live runs detect a model that changes its answers after some nights.
func TestRunsDetectAChangeOfAnswers(t *testing.T) {
	o, m := canaryOptions(t)
	o.Candidates = o.Candidates[:1]
	var found manifest.Canary
	for night := range 23 {
		if night == 20 {
			m.say = "Well, "
		}
		all, err := harness.Canary(context.Background(), o)
		require.NoError(t, err)
		if found = all[0].Canary; found.Status == manifest.CanaryChanged {
			require.Equal(t, 21, night, "the second night after the change")
			break
		}
		nextDay(&o)
	}
	require.Equal(t, "2026-06-09T00:00:00Z", found.ChangedOn)
	require.Contains(t, found.Evidence[0], "10.0 of 10 answers differ where 0.0 is usual")
}
