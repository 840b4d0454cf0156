package harness_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/research"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder"
)

// oneTask returns a suite of one task with a tool that needs approval.
func oneTask(t *testing.T, task string) *goldens.Suite {
	t.Helper()
	var img bytes.Buffer
	require.NoError(t, png.Encode(&img, image.NewGray(image.Rect(0, 0, 1, 1))))
	s, err := load.Suite(fstest.MapFS{"a.png": {Data: img.Bytes()}, "suite.yaml": {Data: []byte(`
name: one
worlds: {w: {now: 2026-05-13T12:00:00Z, zone: UTC, kind: counts, state: {job_status: [queued, running, done]}}}
defaults: {world: w, budgets: {max_steps: 20, max_tool_calls: 20, max_seconds: 600}}
tools:
  - {name: get_job_status, description: Status., approve: ask, schema: {type: object, properties: {id: {type: string}}, required: [id]}}
tasks:
  - {id: T, request: 'How are the jobs?', expect: {status: answered}, ` + task + `}
`)}}, "one", counts.Worlds())
	require.NoError(t, err)
	return s
}

// playedBy records one task with a strategy whose requests model answers, compares the recording
// with its replay, and returns the rows and the requests.
func playedBy(t *testing.T, task string, c goldens.Candidate, model func(chat) string) (ledger.EpisodeRows, []string) {
	t.Helper()
	var mu sync.Mutex
	var asked []string
	o, w := strategyOptions(t, 1, c.Agent, nil)
	w.fails, o.Retry.Attempts, o.Suite = false, 1, oneTask(t, task)
	w.says = func(request []byte) string {
		mu.Lock()
		asked = append(asked, string(request))
		mu.Unlock()
		var c chat
		_ = json.Unmarshal(request, &c) // the content of a message with images is a list: it stays empty
		return model(c)
	}
	c.Name, c.Provider, c.Model, c.BaseURL = "blow", "openai-compatible", "m", "http://models.test/v1"
	o.Candidates = []goldens.Candidate{c}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	requireSameEpisodes(t, res, replayed(t, o))
	return firstEpisode(t, res), asked
}

// onePlan is a plan of one step.
func onePlan(step string) string {
	return calls("create_task", `{"title":"Jobs","steps":[{"id":"look","instructions":"Look at the jobs."`+step+`}]}`)
}

// Of two calls in one turn a person approves one and declines the other. The model receives the
// refusal of that call, also in a step of a plan.
func TestCallsAreApprovedOneByOne(t *testing.T) {
	model := func(c chat) string {
		switch {
		case c.has("system", "You are the planner."):
			return onePlan("")
		case c.has("tool", ""):
			return text("One is known.")
		}
		return calls("get_job_status", `{"id":"1"}`, "get_job_status", `{"id":"2"}`)
	}
	for strategy, turn := range map[string]string{"tools": "1", "plan": "2"} {
		t.Run(strategy, func(t *testing.T) {
			rows, asked := playedBy(t, "approvals: [deny, approve]", goldens.Candidate{Agent: strategy}, model)
			require.Equal(t, "answered", rows.Episode.Status, rows.Episode.ErrorText)
			require.Equal(t, []string{turn + " get_job_status rejected", turn + " get_job_status ok"}, callsOf(rows))
			require.Equal(t, "E_DENIED", rows.ToolCalls[0].ErrorCode)
			require.Zero(t, rows.Episode.Clarifies)
			var last struct {
				Messages []struct {
					Role, Content string
					ID            string `json:"tool_call_id"`
				}
			}
			require.NoError(t, json.Unmarshal([]byte(asked[len(asked)-1]), &last))
			answers := last.Messages[len(last.Messages)-2:]
			require.Equal(t, []string{"c0", "c2"}, []string{answers[0].ID, answers[1].ID})
			require.Contains(t, answers[0].Content, "The user rejected this call")
			require.Contains(t, answers[0].Content, "do not make this call again")
			require.JSONEq(t, `{"id":"2","status":"queued"}`, answers[1].Content, "the one declined did not run")
		})
	}
}

// The request contains the unchanged bytes of a task's image, unless the candidate disables
// images.
func TestRequestsContainImages(t *testing.T) {
	data := base64.StdEncoding.EncodeToString(oneTask(t, "images: [a.png]").Tasks[0].Images[0].Data)
	model := func(c chat) string {
		switch {
		case c.has("system", "You are the planner."):
			return onePlan("")
		case c.has("system", "next_action"):
			return text(`{"control":{"done":true,"reason":"ok"},"next_action":{"type":"respond","message":"Grey."},"state_update":{"plan":"p","observation":"o","confidence":1}}`)
		}
		return text("Grey.")
	}
	for _, strategy := range []string{"contract", "tools", "plan"} {
		for _, blind := range []bool{false, true} {
			t.Run(fmt.Sprint(strategy, " without is ", blind), func(t *testing.T) {
				rows, asked := playedBy(t, "images: [a.png]", goldens.Candidate{Agent: strategy, NoImages: blind}, model)
				require.Equal(t, "answered", rows.Episode.Status, rows.Episode.ErrorText)
				require.NotEmpty(t, asked)
				for _, body := range asked {
					require.Equal(t, !blind, strings.Contains(body, "data:image/png;base64,"+data), body)
				}
			})
		}
	}
}

// The items of a list are processed in batches with a pause between them. A failed item has its
// error as its result, or ends the episode.
func TestItemsAreProcessedInBatches(t *testing.T) {
	b := "no message at all" // which no wire can read
	model := func(c chat) string {
		switch {
		case c.has("user", "ITEM:\n<data>\"a\""):
			return text("Yes a.")
		case c.has("user", "ITEM:\n<data>\"c\""):
			return text("Yes c.")
		}
		return b
	}
	const task = "inputs: {list: [a, b, c]}, each: list"
	rows, _ := playedBy(t, task, goldens.Candidate{Agent: "tools", Batch: strategy.Batch{Size: 2, Delay: time.Minute}}, model)
	require.Equal(t, "answered", rows.Episode.Status, rows.Episode.ErrorText)
	var answers []any
	require.NoError(t, json.Unmarshal([]byte(rows.Episode.Answer), &answers), rows.Episode.Answer)
	require.Len(t, answers, 3)
	require.Equal(t, "Yes a.", answers[0])
	require.Contains(t, answers[1], "error", "in its place")
	require.Equal(t, "Yes c.", answers[2])
	require.Len(t, rows.Turns, 3)
	require.Equal(t, rows.Turns[0].TsStart, rows.Turns[1].TsStart, "two at once")
	ended := max(rows.Turns[0].TsEnd, rows.Turns[1].TsEnd)
	require.Equal(t, ended+time.Minute.Microseconds(), rows.Turns[2].TsStart, "the pause")

	b = text("")
	rows, asked := playedBy(t, task, goldens.Candidate{Agent: "tools", Batch: strategy.Batch{StopOnFail: true}}, model)
	require.Equal(t, "contract_violation", rows.Episode.StopReason)
	require.Len(t, asked, 4, "none after the one that failed")
}

// The ledger has the signals of a conversation and the revisions of a plan.
func TestLedgerHasTheSignalsOfStrategies(t *testing.T) {
	var mu sync.Mutex
	tries := 0
	tests := []struct {
		name, strategy, stop string
		model                func(chat) string
		thrash, stall        int32
		revision             int32
	}{
		{"repeats itself", "tools", "thrash", func(chat) string { return calls("get_job_status", `{"id":"1"}`) }, 2, 0, 0},
		{"only asks", "tools", "stall", func(chat) string { return calls("ask_user", `{"question":"Which?"}`) }, 0, 1, 0},
		{"repeats itself in a step", "plan", "failed_step", func(c chat) string {
			if c.has("system", "You are the planner.") {
				return onePlan("")
			}
			return calls("get_job_status", `{"id":"1"}`)
		}, 2, 0, 0},
		{"plans again", "plan", "", func(c chat) string {
			if !c.has("system", "You are the planner.") {
				return text("Done.")
			}
			mu.Lock()
			defer mu.Unlock()
			if tries++; tries < 3 {
				return onePlan(`,"depends_on":["nobody"]`)
			}
			return onePlan("")
		}, 0, 0, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows, _ := playedBy(t, "approvals: [approve, approve, approve, approve], replies: [This, That]", goldens.Candidate{Agent: tt.strategy}, tt.model)
			require.Equal(t, tt.stop, rows.Episode.StopReason, rows.Episode.Answer)
			require.Equal(t, [2]int32{tt.thrash, tt.stall}, [2]int32{rows.Episode.ThrashEvents, rows.Episode.StallEvents})
			var thrash, stall, revision int32
			for _, turn := range rows.Turns {
				revision = max(revision, turn.PlanRev)
				if turn.Thrash {
					thrash++
				}
				if turn.Stall {
					stall++
				}
			}
			require.Equal(t, [3]int32{tt.thrash, tt.stall, tt.revision}, [3]int32{thrash, stall, revision})
			requireTree(t, rows)
		})
	}
}

// A turn that the provider refuses costs nothing, so that the cost of the episode is that of the
// fallback model.
func TestRefusedTurnsCostNothing(t *testing.T) {
	const price, tokens = 9*2500 + 1*10000, 9 + 1
	w := newRandomFaults(1)
	w.says = func(request []byte) string {
		var c chat
		if err := json.Unmarshal(request, &c); err == nil && c.has("system", "You are the planner.") {
			return onePlan("")
		}
		return text("Here I am.")
	}
	o := stormOptions(t, 1, refuses{w, "gpt-4o-mini"})
	w.fails, o.Retry.Attempts, o.Strategies = false, 1, nil
	for _, strategy := range []string{"tools", "plan"} {
		o.Candidates = []goldens.Candidate{{Name: strategy, Agent: strategy, Provider: "openai", Model: "gpt-4o-mini", Fallback: "gpt-4o"}}
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		rows := firstEpisode(t, res)
		require.Equal(t, "answered", rows.Episode.Status, rows.Episode.ErrorText)
		answered := int64(len(rows.Turns) / 2)
		require.Equal(t, answered*price, *rows.Episode.CostNanoUSD)
		require.Equal(t, answered*tokens, *rows.Episode.In+*rows.Episode.Out)
		require.Nil(t, rows.Turns[0].CostNanoUSD, "of the turn itself nothing is known")
		requireSameEpisodes(t, res, replayed(t, o))
	}
}

// refuses is a provider that rejects one of its models.
type refuses struct {
	next  http.RoundTripper
	model string
}

func (p refuses) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if !bytes.Contains(body, []byte(`"model":"`+p.model+`"`)) {
		return p.next.RoundTrip(r)
	}
	return testkit.Reply(r, http.StatusServiceUnavailable, `{"error":{"message":"overloaded"}}`), nil
}

// requireTree checks that every row except the first has an earlier row as its parent.
func requireTree(t *testing.T, rows ledger.EpisodeRows) {
	t.Helper()
	ended := map[string]int64{}
	for _, turn := range rows.Turns {
		ended[turn.ActionID] = turn.TsEnd
	}
	for _, call := range rows.ToolCalls {
		ended[call.ActionID] = call.TsEnd
	}
	about := rows.Episode.TaskID + " of " + rows.Episode.Candidate
	for i, turn := range rows.Turns {
		require.Equal(t, i == 0, turn.ParentActionID == "", "turn %d: %s", i+1, about)
		if i > 0 {
			require.Contains(t, ended, turn.ParentActionID, about)
			require.LessOrEqual(t, ended[turn.ParentActionID], turn.TsStart, "turn %d: %s", i+1, about)
		}
	}
	for _, call := range rows.ToolCalls {
		require.NotZero(t, call.Turn, about)
		asked := rows.Turns[call.Turn-1]
		require.Equal(t, asked.ActionID, call.ParentActionID, about)
		require.LessOrEqual(t, asked.TsEnd, call.TsStart, about)
	}
}

// In the recordings of the suite research, every row of every strategy has its parent, and no
// episode asks about something that the session already contains.
func TestRecordedResearch(t *testing.T) {
	suite, err := load.Suite(research.FS, "builtin:research", research.Worlds())
	require.NoError(t, err)
	o := countsOptions(t)
	o.Suite, o.Runs = suite, t.TempDir()
	if testing.Short() {
		o.Select.Candidates = []string{"tools-strong", "plan-strong"}
	}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	remembered := 0
	for rows, err := range ledger.Scan(res.Dir) {
		require.NoError(t, err)
		e := rows.Episode
		require.Empty(t, e.ErrorText, "%s of %s", e.TaskID, e.Candidate)
		requireTree(t, rows)
		if e.Candidate == "tools-strong" && (e.TaskID == "R49" || e.TaskID == "R50") {
			require.True(t, e.Solved)
			require.Positive(t, e.ToolCalls)
			require.Zero(t, e.Clarifies)
			remembered++
		}
	}
	require.Equal(t, 2, remembered)
}

// A simulated model processes the items of a research task in batches of two.
func TestBatchOfASimulatedModel(t *testing.T) {
	suite, err := load.Suite(research.FS, "research", research.Worlds())
	require.NoError(t, err)
	o := recordOptions(t, "R45")
	o.Suite, o.Candidates = suite, nil
	for _, size := range []int{1, 2, 3} {
		o.Candidates = append(o.Candidates, goldens.Candidate{
			Name: fmt.Sprint("size", size), Agent: "tools", Provider: "sim-openai", Model: "sim-strong", Batch: strategy.Batch{Size: size, Delay: 10 * time.Second},
		})
	}
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	for i, e := range rowsOf(t, recorded).Episodes {
		require.True(t, e.Solved, e.ErrorText)
		require.Equal(t, int64(2-i), *e.ElapsedUs/(10*time.Second).Microseconds(), "pauses of %s", e.Candidate)
	}
	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
	again, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, recorded.Manifest.LedgerDigest, again.Manifest.LedgerDigest)
}

// An observer receives the native calls of a turn, streamed or not, also in a replay.
func TestObserverReceivesNativeCalls(t *testing.T) {
	o := recordOptions(t, "G01", "C12")
	o.Candidates = []goldens.Candidate{
		{Name: "whole", Agent: "tools", Provider: "sim-anthropic", Model: "sim-strong"},
		{Name: "stream", Agent: "tools", Provider: "sim-anthropic", Model: "sim-strong", Stream: true},
	}
	var first, second watcher
	o.Observe = first.observe
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	o.Mode, o.Cassettes, o.Observe = recorder.Replay, os.DirFS(o.CassetteDir), second.observe
	_, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, first.events, second.events)
	for rows, err := range ledger.Scan(res.Dir) {
		require.NoError(t, err)
		events := first.events[fmt.Sprintf("%s/%s/1", rows.Episode.TaskID, rows.Episode.Candidate)]
		var kinds []episode.StreamKind
		var said []string
		for _, e := range events {
			if e.Kind == episode.StreamToolCall {
				said = append(said, fmt.Sprint(e.Turn, " ", e.Call.Name, " ok"))
			}
			if len(kinds) == 0 || kinds[len(kinds)-1] != e.Kind {
				kinds = append(kinds, e.Kind)
			}
		}
		require.Equal(t, callsOf(rows), said)
		require.Equal(t, episode.StreamBegin, kinds[0])
		require.Equal(t, []episode.StreamKind{episode.StreamBegin, episode.StreamText, episode.StreamEnd}, kinds[len(kinds)-3:])
		require.True(t, slices.Contains(kinds, episode.StreamToolCall))
	}
}
