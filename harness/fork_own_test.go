package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder"
)

// script answers requests for a model with its outputs in order, in OpenAI's format, and stores
// the requests.
type script struct {
	mu      sync.Mutex
	outputs map[string][]string // by model
	asked   []string            // model and max_tokens
	refuse  int                 // so many requests are refused first
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var call struct {
		Model  string `json:"model"`
		Tokens int    `json:"max_tokens"`
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		return nil, err
	}
	s.asked = append(s.asked, fmt.Sprint(call.Model, " ", call.Tokens))
	if s.refuse > 0 {
		s.refuse--
		return always429{}.RoundTrip(r)
	}
	if len(s.outputs[call.Model]) == 0 {
		return nil, fmt.Errorf("nothing left to say for %s", call.Model)
	}
	text, err := json.Marshal(s.outputs[call.Model][0])
	s.outputs[call.Model] = s.outputs[call.Model][1:]
	body := fmt.Sprintf(`{"model":%q,"choices":[{"message":{"content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`, call.Model, text)
	return testkit.Reply(r, http.StatusOK, body), err
}

const nonsense = "I do not know."

func say(kind, what string) string {
	return fmt.Sprintf(`{"control":{"done":%t,"reason":%q},"next_action":{"type":%q,%s},"state_update":{"plan":"p","observation":"o","confidence":1}}`,
		kind == "respond", map[bool]string{true: "need_clarification", false: "ok"}[kind == "clarify"], kind, what)
}

func job(id string) string {
	return say("tool", `"name":"get_job_status","args":{"id":"`+id+`"}`)
}

// ownFork records candidate a on a suite of one task, and returns the options that fork it after
// a turn with candidate b.
func ownFork(t *testing.T, tool, task string, a, b goldens.Candidate, turn int, voice *script) harness.Options {
	t.Helper()
	suite, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(`name: own
worlds: {w: {now: 2026-05-13T12:00:00Z, zone: UTC, kind: counts, state: {job_status: [done]}}}
defaults: {world: w, budgets: {max_steps: 9, max_tool_calls: 9, max_seconds: 60}}
tools:
  - {name: get_job_status, description: Status., ` + tool + `schema: {type: object, properties: {id: {type: string}}, required: [id]}}
tasks:
  - {id: T, request: "Is it done?", ` + task + `expect: {status: answered}}
`)}}, "own", counts.Worlds())
	require.NoError(t, err)
	o := recordOver(t, func(string) http.RoundTripper { return voice })
	o.Suite, o.Select.Tasks = suite, nil
	o.Cassettes, o.Strategies = os.DirFS(o.CassetteDir), patience
	for name, c := range map[string]*goldens.Candidate{"a": &a, "b": &b} {
		c.Name, c.Provider, c.Model, c.BaseURL = name, "openai-compatible", name, "http://models.test/v1"
	}
	o.Candidates = []goldens.Candidate{a, b}
	o.Retry.Sleep = func(context.Context, time.Duration) error { return nil }
	o.Select.Candidates = []string{"a"}
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Empty(t, rowsOf(t, recorded).Episodes[0].ErrorText)
	voice.asked = nil
	o.Retry.Sleep = func(context.Context, time.Duration) error { panic("a replayed turn waits for nothing") }
	o.Select.Candidates, o.Fork = []string{"b"}, &harness.Fork{Task: "T", Candidate: "a", Turn: turn}
	return o
}

// forked records the fork and checks that its replay has the same rows.
func forked(t *testing.T, o harness.Options) ledger.Rows {
	t.Helper()
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Empty(t, rowsOf(t, recorded).Episodes[0].ErrorText)
	o.Mode, o.Transport, o.LookupEnv = recorder.Replay, nil, nil
	replayed, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, recorded.Manifest.LedgerDigest, replayed.Manifest.LedgerDigest)
	return rowsOf(t, recorded)
}

// A fork does not run the tools of replayed turns again, even if their answer came after the turn.
func TestForkReplaysHTTPTools(t *testing.T) {
	var hits atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"hit":%d,"path":%q}`, hits.Add(1), r.URL.Path)
	}))
	defer s.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	voice := &script{outputs: map[string][]string{
		"a": {job("7"), say("respond", `"message":"No."`)},
		"b": {job("8"), say("respond", `"message":"Yes."`)},
	}}
	o := ownFork(t, "http: {url: '"+s.URL+"/{id}'}, ", "", goldens.Candidate{}, goldens.Candidate{}, 1, voice)
	require.EqualValues(t, 1, hits.Load())
	rows := forked(t, o)
	require.EqualValues(t, 2, hits.Load(), "only the tool call after the fork")
	require.Equal(t, []bool{true, false}, []bool{rows.ToolCalls[0].Replayed, rows.ToolCalls[1].Replayed})
	require.Equal(t, "Yes.", rows.Episodes[0].Answer)
	require.Equal(t, []int32{0, 2, 4}, []int32{rows.Turns[0].Interaction, rows.Turns[1].Interaction, rows.Turns[2].Interaction})
}

// A fork asks the human only after the replayed turns, which have the task's replies.
func TestForkAsksTheHumanAfterIt(t *testing.T) {
	ask := func(text string) string { return say("clarify", `"message":"`+text+`"`) }
	voice := &script{outputs: map[string][]string{
		"a": {ask("Which one?"), job("7"), say("respond", `"message":"No."`)},
		"b": {ask("Really?"), say("respond", `"message":"Yes."`)},
	}}
	o := ownFork(t, "", "replies: [Seven., Yes.], ", goldens.Candidate{}, goldens.Candidate{}, 2, voice)
	var asked []string
	o.Human = func(_ context.Context, q episode.Question) (episode.Answer, bool) {
		asked = append(asked, q.Candidate+": "+q.Text)
		return episode.Answer{Text: "Yes."}, true
	}
	rows := forked(t, o)
	require.Equal(t, []string{"b.fork-a-1-2: Really?"}, asked)
	require.EqualValues(t, 2, rows.Episodes[0].Clarifies)
}

// After two invalid recorded turns, a candidate with a rescue model makes a rescue turn with its
// own sampling settings, although the recorded candidate had none.
func TestForkUsesItsOwnRescue(t *testing.T) {
	tokens := 77
	voice := &script{outputs: map[string][]string{
		"a": {nonsense, nonsense, say("respond", `"message":"No."`)}, "big": {say("respond", `"message":"Yes."`)},
	}}
	o := ownFork(t, "", "", goldens.Candidate{}, goldens.Candidate{Rescue: "big", MaxTokens: &tokens}, 2, voice)
	rows := forked(t, o)
	require.Equal(t, []string{"big 77"}, voice.asked)
	require.Equal(t, "rescue/rescue", rows.Turns[2].Role+"/"+rows.Turns[2].Kind)
	require.EqualValues(t, 2, rows.Episodes[0].Violations)
}

// A candidate without a rescue model cannot continue after a recorded rescue turn.
func TestForkRefusesDivergentCandidates(t *testing.T) {
	voice := &script{outputs: map[string][]string{
		"a": {nonsense, nonsense, say("respond", `"message":"No."`)}, "big": {job("7")},
		"b": {say("respond", `"message":"Yes."`)},
	}}
	o := ownFork(t, "", "", goldens.Candidate{Rescue: "big"}, goldens.Candidate{}, 3, voice)
	_, err := harness.Run(context.Background(), o)
	var config *harness.ConfigError
	require.ErrorAs(t, err, &config)
	require.ErrorContains(t, err, "fork T/a/1@3: candidate b: its settings diverge before the fork: at turn 3 it would ask for a turn (main/act), the recorded episode would ask for a turn (rescue/rescue); use the same budgets, rescue and compress")
	require.Empty(t, voice.asked)
	o.Fork.Turn = 2
	require.Equal(t, "Yes.", forked(t, o).Episodes[0].Answer, "before it their ways are one")
}

// A replayed turn repeats the recorded attempts without waiting, and the cassette of the fork
// contains them.
func TestForkReplaysRefusedRequests(t *testing.T) {
	onVirtualClock(t, func(t *testing.T) {
		voice := &script{refuse: 2, outputs: map[string][]string{
			"a": {job("7"), say("respond", `"message":"No."`)}, "b": {say("respond", `"message":"Yes."`)},
		}}
		o := ownFork(t, "", "", goldens.Candidate{}, goldens.Candidate{}, 1, voice)
		rows := forked(t, o)
		require.Len(t, voice.asked, 1)
		require.EqualValues(t, 3, rows.Turns[0].Attempts)
		require.EqualValues(t, 2, rows.Turns[0].Interaction)
		require.EqualValues(t, 3, rows.Turns[1].Interaction)
	})
}

// A fork rejects a stale episode, here one whose task no longer has the reply that it used.
func TestForkRefusesAStaleEpisode(t *testing.T) {
	voice := &script{outputs: map[string][]string{"a": {say("clarify", `"message":"Which one?"`), job("7"), say("respond", `"message":"No."`)}}}
	o := ownFork(t, "", "replies: [Seven.], ", goldens.Candidate{}, goldens.Candidate{}, 1, voice)
	taskNamed(t, o.Suite, "T").Replies = nil
	_, err := harness.Run(context.Background(), o)
	var stale *episode.StaleError
	require.ErrorAs(t, err, &stale)
	require.ErrorContains(t, err, "fork T/a/1@1: cassette a/T/1.yaml is stale: the episode ended with 2 of its recordings unused")
	require.ErrorContains(t, err, "--task T --candidate a")
	require.Empty(t, voice.asked)
}
