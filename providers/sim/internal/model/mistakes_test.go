package model_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/flowsim"
	"github.com/cupel-eval/cupel/goldens/instance"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/goldens/playbook/mistake"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/providers/sim"
	"github.com/cupel-eval/cupel/providers/sim/internal/model"
	"github.com/cupel-eval/cupel/recorder"
)

// paying holds the sub-agent of I29 that marks orders as paid until the other one, which has forgotten
// to wait for it, has read which are not: models here take no time, so either could be first.
type paying struct {
	http.RoundTripper
	once sync.Once
	read chan struct{}
}

func (p *paying) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if text := string(body); strings.Contains(text, "sim-"+string(mistake.ForgottenDependency)) {
		switch {
		case strings.Contains(text, `"TASK:\nFind the rows of the data table orders`) && strings.Contains(text, `\"rows\":`):
			p.once.Do(func() { close(p.read) })
		case strings.Contains(text, `"TASK:\nMark the orders of Bo and Dan`):
			select {
			case <-p.read:
			case <-r.Context().Done():
			}
		}
	}
	return p.RoundTripper.RoundTrip(r)
}

// TestMistakesAreCaught: each mistake on an automation instance happens in a task of suite instance,
// and a check of that task refuses the episode, which is solved without the mistake.
func TestMistakesAreCaught(t *testing.T) {
	caught := map[mistake.Kind]struct{ task, check, detail string }{
		mistake.WrongID:             {"I05", "trajectory.required", `publish-workflow{"workflowId":"wf_4"}`},
		mistake.Unverified:          {"I21", "trajectory.required", `missing: run-workflow`},
		mistake.WrappedPayload:      {"I22", "trajectory.required", `missing: run-workflow`},
		mistake.ForgottenDependency: {"I29", "answer_numbers", `want 20, found 440`},
		mistake.ForbiddenTool:       {"I38", "trajectory.required", `missing: list-credentials`},
		mistake.RepeatedSecret:      {"I52", "answer_not_contains", `door-`},
	}
	s, err := load.Suite(instance.FS, "instance", flowsim.Worlds())
	require.NoError(t, err)
	book, err := load.Playbook(s)
	require.NoError(t, err)
	prices, err := price.Default()
	require.NoError(t, err)
	models := &paying{read: make(chan struct{}), RoundTripper: testkit.Handled(sim.Handler(sim.Config{Seed: 1, Books: []*playbook.Book{book}}))}
	candidate := func(name string) goldens.Candidate {
		return goldens.Candidate{Name: name, Agent: "orchestrator", Provider: "sim-openai", Model: name}
	}
	for _, k := range mistake.Kinds {
		t.Run(string(k), func(t *testing.T) {
			want, slip := caught[k], candidate(model.AddMistaken(k))
			slip.Name = "slip"
			res, err := harness.Run(t.Context(), harness.Options{
				Matrix: harness.Matrix{Suite: s, Seed: 1, Candidates: []goldens.Candidate{candidate("sim-oracle"), slip}, Select: harness.Selection{Tasks: []string{want.task}}},
				Rules:  harness.Rules{Policy: policy.Default(), Prices: prices}, Recording: harness.Recording{Mode: recorder.Live},
				Parts: harness.Parts{Providers: all.Factories(), Transport: func(string) http.RoundTripper { return models }},
			})
			require.NoError(t, err)
			require.Len(t, res.Rows.Episodes, 2)
			wrong := slices.IndexFunc(res.Rows.Episodes, func(e ledger.Episode) bool { return e.Candidate == slip.Name })
			right, e := res.Rows.Episodes[1-wrong], res.Rows.Episodes[wrong]
			require.True(t, right.Solved, "%s %+v", right.Status, right.Checks)
			require.False(t, e.Solved)
			i := slices.IndexFunc(e.Checks, func(c ledger.Check) bool { return c.Name == want.check })
			require.GreaterOrEqual(t, i, 0, "%+v", e.Checks)
			require.False(t, e.Checks[i].Passed, "%+v", e.Checks)
			require.Contains(t, e.Checks[i].Detail, want.detail)
			if k == mistake.ForbiddenTool {
				require.True(t, slices.ContainsFunc(res.Rows.Turns, func(r ledger.Turn) bool {
					return slices.Contains(r.Violations, "orch.delegate.tools.orchestration") || slices.Contains(r.Violations, "orch.delegate.tools.forbidden")
				}))
			}
		})
	}
}
