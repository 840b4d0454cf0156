package harness

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/sim"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

const userSuite = `name: shop
candidates:
  - {name: contract, agent: contract, provider: sim-openai, model: sim-oracle}
  - {name: tools, agent: tools, provider: sim-openai, model: sim-oracle}
  - {name: plan, agent: plan, provider: sim-openai, model: sim-oracle}
tools:
  - {name: refund, description: Refunds., schema: {type: object, properties: {order: {type: string}}, required: [order], additionalProperties: false}, rules: [{append: {refunds: "{{args.order}}"}, returns: {ok: true}}]}
worlds: {shop: {state: {refunds: []}}}
defaults: {world: shop, budgets: {max_steps: 8}}
tasks:
  - id: T
    request: Refund my order.
    user: {persona: In a hurry., goal: You want your money back., facts: {order_number: O7, reason: {value: it is broken, asked: [why]}}, model: {provider: sim-anthropic, model: sim-oracle}}
    expect: {status: answered_after_clarify, contains_all: [refunded], calls: [refund: {order: O7}], at_most: {clarifies: 2}}
  - {id: U, request: Refund order O8., expect: {status: answered, contains_all: [refunded], calls: [refund: {order: O8}]}}
`

const userBook = `playbook:
  T: [{ask: "Which order number is it?", as: reply}, {call: refund, args: {order: O7}, as: done}, {answer: "It is refunded."}]
  U: [{call: refund, args: {order: O8}, as: done}, {answer: "It is refunded."}]
`

// withUser returns options that record a suite with simulated models.
func withUser(t *testing.T, dir, suite string) Options {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "suite.yaml"), []byte(suite), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "playbook.yaml"), []byte(userBook), 0o600))
	s, err := load.Suite(os.DirFS(dir), dir, nil)
	require.NoError(t, err)
	book, err := load.Playbook(s)
	require.NoError(t, err)
	models := testkit.Handled(sim.Handler(sim.Config{Seed: 1, Books: []*playbook.Book{book}}))
	o := ownOptions(t, s)
	o.Select.Candidates, o.Mode, o.CassetteDir = nil, recorder.Record, filepath.Join(dir, "cassettes")
	o.Providers, o.Transport = all.Factories(), func(string) http.RoundTripper { return models }
	return o
}

// A simulated user answers what the agent asks. Its requests are on the cassette in a role of their
// own, from which a replay answers; its tokens and cost are not the candidate's. It sees nothing that
// the task expects, and strategies that cannot ask are left out and counted.
func TestUser(t *testing.T) {
	dir := t.TempDir()
	o := withUser(t, dir, userSuite)
	res := finished(t, o)
	require.Len(t, res.Rows.Episodes, 5)
	for _, e := range res.Rows.Episodes {
		if e.TaskID == "U" {
			require.Zero(t, e.UserCalls)
			continue
		}
		require.Empty(t, e.ErrorText)
		require.True(t, e.Solved, e.Checks)
		require.EqualValues(t, 1, e.Clarifies)
		require.EqualValues(t, 1, e.UserCalls)
		require.Positive(t, *e.UserTokensIn)
		require.Positive(t, *e.UserCostNanoUSD)
		require.Empty(t, e.UserFaults)
		var in int64
		for _, turn := range res.Rows.Turns {
			if turn.EpisodeID == e.EpisodeID {
				in += *turn.In
			}
		}
		require.Equal(t, in, *e.In, "the user's tokens are not the candidate's")
	}
	require.Equal(t, []int{0, 0, 1}, []int{res.Manifest.Candidates[0].Incapable, res.Manifest.Candidates[1].Incapable, res.Manifest.Candidates[2].Incapable})

	text, err := os.ReadFile(filepath.Join(o.CassetteDir, "tools", "T", "1.yaml"))
	require.NoError(t, err)
	require.Contains(t, string(text), "The order number is O7.")
	data, err := cassette.Inspect(cassette.File{FS: os.DirFS(o.CassetteDir), Path: "tools/T/1.yaml"})
	require.NoError(t, err)
	roles := map[string]int{}
	for i := range data.Interactions {
		roles[data.Recorded(i).Role]++
	}
	require.Equal(t, map[string]int{"": 3, "user": 1}, roles)

	replay := o
	replay.Mode, replay.Transport = recorder.Replay, nil
	again := finished(t, replay)
	require.Equal(t, res.Rows.Digest(), again.Rows.Digest())

	// Another goal: the cassettes are stale. Another expectation: they are not.
	replay.Select.Candidates, replay.Select.Tasks = []string{"tools"}, []string{"T"}
	replay.Suite = withUser(t, dir, strings.Replace(userSuite, "contains_all: [refunded]", "contains_all: [refunded, is]", 1)).Suite
	require.Equal(t, cassettes.Fresh, statusOf(t, replay))
	replay.Suite = withUser(t, dir, strings.Replace(userSuite, "money back", "cup back", 1)).Suite
	require.Equal(t, cassettes.Stale, statusOf(t, replay))
}

// What a user does wrong is in a column of its own, and it ends by its stop word or its bound.
func TestUserFaults(t *testing.T) {
	for name, c := range map[string]struct {
		model, turns string
		calls        int
		silent       bool
		faults       string
	}{
		"plays by the rules": {"sim-oracle", "", 1, false, ""},
		"tells everything":   {"sim-weak", "", 1, false, "disclosed a fact unasked: reason"},
		"leaves its role":    {"sim-erratic", "", 1, false, "left the persona"},
		"ends at once":       {"sim-nop", "", 1, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := withUser(t, t.TempDir(), strings.Replace(userSuite, "provider: sim-anthropic, model: sim-oracle", "provider: sim-anthropic, model: "+c.model, 1))
			o.Mode, o.Select.Candidates, o.Select.Tasks = recorder.Live, []string{"tools"}, []string{"T"}
			res, _ := runOne(t, o)
			e := res.Rows.Episodes[0]
			require.Empty(t, e.ErrorText)
			require.EqualValues(t, c.calls, e.UserCalls)
			require.Equal(t, c.faults, e.UserFaults)
			require.Equal(t, c.silent, e.Status == "clarify", e.Status)
		})
	}
}

// A user whose provider fails says nothing about the candidate.
func TestUserFails(t *testing.T) {
	o := withUser(t, t.TempDir(), userSuite)
	models := o.Transport("")
	o.Transport = func(provider string) http.RoundTripper {
		if provider == "sim-anthropic" {
			return testkit.Transport(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}, Body: http.NoBody}, nil
			})
		}
		return models
	}
	o.Mode, o.Select.Candidates, o.Select.Tasks = recorder.Live, []string{"tools"}, []string{"T"}
	res, _ := runOne(t, o)
	e := res.Rows.Episodes[0]
	require.Equal(t, ledger.StatusInfraError, e.Status, e.ErrorText)
	require.Contains(t, e.ErrorText, "user user: ")
	require.False(t, e.Solved)
}

// The key of a user's model is needed only where it may be asked: not by a strategy that cannot ask,
// and not if a person answers.
func TestKeyOfUser(t *testing.T) {
	o := withUser(t, t.TempDir(), userSuite)
	o.Mode = recorder.Live
	o.Key = func(c goldens.Candidate) (string, error) {
		if c.Provider == "sim-anthropic" {
			return "", errors.New("set A_KEY")
		}
		return "", nil
	}
	_, err := Run(t.Context(), o)
	require.EqualError(t, err, "task T: user user: set A_KEY")
	o.Select.Candidates = []string{"plan"}
	require.Len(t, finished(t, o).Rows.Episodes, 1)
	o.Select.Candidates = []string{"tools"}
	o.Human = func(context.Context, episode.Question) (episode.Answer, bool) {
		return episode.Answer{Text: "O7"}, true
	}
	require.Len(t, finished(t, o).Rows.Episodes, 2)
}

// listener is an agent that only listens, and says one thing each time.
type listener struct {
	said []string
	id   int
}

func (m *listener) Step(ev agent.Event) (r agent.Ready) {
	if _, silent := ev.(agent.UserReplied); silent || m.id == len(m.said) {
		r.Commands = []agent.Command{agent.Finish{Status: agent.Answered, Answer: "Done."}}
		return r
	}
	m.id++
	r.Commands = []agent.Command{agent.Listen{ID: m.id, Said: m.said[m.id-1]}}
	return r
}

// A user continues the conversation of an agent that listens, until its stop word or its bound.
func TestUserContinues(t *testing.T) {
	for name, c := range map[string]struct {
		turns string
		said  []string
		calls int
	}{
		"until it has what it wants": {"", []string{"Which order number?", "Why?", "It is refunded.", "Why?"}, 3},
		"as often as it may":         {"turns: 1, ", []string{"Which order number?", "Why?", "It is refunded."}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := withUser(t, t.TempDir(), strings.Replace(userSuite, "user: {", "user: {"+c.turns, 1))
			o.Mode, o.Select.Candidates, o.Select.Tasks = recorder.Live, []string{"own"}, []string{"T"}
			o.Candidates = []goldens.Candidate{{Name: "own", Agent: "own", Provider: "sim-openai", Model: "sim-oracle"}}
			o.Strategies = map[string]agent.Strategy{"own": {Version: "own/1", New: func(agent.Params) (agent.Machine, error) { return &listener{said: c.said}, nil }}}
			res, _ := runOne(t, o)
			e := res.Rows.Episodes[0]
			require.Empty(t, e.ErrorText)
			require.EqualValues(t, c.calls, e.UserCalls)
			require.Equal(t, "Done.", e.Answer)
			require.Empty(t, e.UserFaults)
		})
	}
}
