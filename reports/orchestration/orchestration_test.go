package orchestration

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/work"
)

const second = 1_000_000

func turn(n int32, agent, parent, role string, from, to int64) ledger.Turn {
	return ledger.Turn{
		Turn: n, SubAgent: agent, ParentAgent: parent, Role: role, TsStart: from * second, TsEnd: to * second, CostNanoUSD: new(int64(1_000_000)),
		Tokens: ledger.Tokens{In: new(int64(100)), Out: new(int64(10)), CacheRead: new(int64(0)), CacheWrite: new(int64(0)), Reasoning: new(int64(0))},
	}
}

// orchestrated is an episode of ten seconds with two tasks that overlap, one of which hands on
// work, and one that never began.
func orchestrated() ledger.EpisodeRows {
	rows := ledger.EpisodeRows{
		Episode: ledger.Episode{
			Key: ledger.Key{Agent: "orchestrator"}, ElapsedUs: new(int64(10 * second)),
			Tasks: []work.Task{
				{ID: "later", Plan: 2, Kind: "research", Title: "Read", State: "cancelled"},
				{ID: "build", Plan: 1, Kind: "build-workflow", Title: "Build it", SubAgent: "bg_1", State: "blocked", Reason: "error", TsStart: new(int64(2 * second)), TsEnd: new(int64(6 * second))},
				{Kind: "delegate", Title: "analyst", SubAgent: "dg_1", State: "running", TsStart: new(int64(4 * second))},
			},
			Requests: []work.Request{
				{Tool: "plan", Kind: "plan_review", Severity: "info", Message: "May it begin?", Say: "feedback", Text: "Later.", TsAsked: 1 * second, WaitUs: 3 * second},
				{SubAgent: "bg_1", Tool: "delete", Kind: "approval", Severity: "destructive", Message: "Allow it?", TsAsked: 5 * second},
			},
		},
		Turns: []ledger.Turn{
			turn(1, "", "", "orchestrator", 0, 1), turn(2, "bg_1", "", "builder", 2, 4), turn(3, "dg_1", "", "delegate", 4, 5),
			turn(4, "x", "bg_1", "reader", 5, 6), turn(5, "", "", "orchestrator", 6, 8),
		},
		ToolCalls: []ledger.ToolCall{{SubAgent: "bg_1"}, {SubAgent: "bg_1"}, {}},
	}
	rows.Turns[2].CostNanoUSD = nil
	return rows
}

func TestOf(t *testing.T) {
	e := Of(orchestrated())
	require.Equal(t, []Agent{
		{0, "orchestrator", "", 2, 1, "220", "$0.00200"},
		{1, "bg_1", "builder", 1, 2, "110", "$0.00100"},
		{2, "x", "reader", 1, 0, "110", "$0.00100"},
		{1, "dg_1", "delegate", 1, 0, "110", "unknown"},
	}, e.Agents)
	require.Equal(t, "10.0 s", e.Length)
	require.Equal(t, []Lane{
		{Name: "orchestrator", Span: &Span{0, 1}, Busy: []Span{{0, .1}, {.6, .8}}, Asked: []float64{.1}},
		{Name: "build", Title: "Build it", Agent: "bg_1", Time: "2.00 s to 6.00 s", State: "blocked: error", Bad: true, Span: &Span{.2, .6}, Busy: []Span{{.2, .4}}, Asked: []float64{.5}},
		{Name: "delegate", Title: "analyst", Agent: "dg_1", Time: "4.00 s to 10.0 s", State: "running", Span: &Span{.4, 1}, Busy: []Span{{.4, .5}}},
		{Name: "plan 2, later", Title: "Read", State: "cancelled"},
		{Name: "reader", Agent: "x", Time: "5.00 s to 6.00 s", Span: &Span{.5, .6}, Busy: []Span{{.5, .6}}},
	}, e.Lanes)
	require.Equal(t, []Request{
		{"1.00 s", "orchestrator", "plan review", "info", "May it begin?", "feedback: Later.", "3.00 s"},
		{"5.00 s", "bg_1", "approval: delete", "destructive", "Allow it?", "no answer", ""},
	}, e.Requests)
	require.Equal(t, strings.Join([]string{
		"── agents",
		"  orchestrator            2 turns  1 call   220 tokens  $0.00200",
		"    bg_1        builder   1 turn   2 calls  110 tokens  $0.00100",
		"      x         reader    1 turn   0 calls  110 tokens  $0.00100",
		"    dg_1        delegate  1 turn   0 calls  110 tokens  cost unknown",
		"── timeline, 0 to 10.0 s of virtual time: █ turn, ─ tools and waiting, ? request to a person",
		"  orchestrator         │███?───────────────███████──────│",
		"  build          bg_1  │      ███████───?──             │  2.00 s to 6.00 s  blocked: error",
		"  delegate       dg_1  │            ████────────────────│  4.00 s to 10.0 s  running",
		"  plan 2, later        │                                │                    cancelled",
		"  reader         x     │                ███             │  5.00 s to 6.00 s",
		"── requests to people",
		"  1.00 s  orchestrator  plan review       info         feedback: Later. after 3.00 s",
		"  5.00 s  bg_1          approval: delete  destructive  no answer", "",
	}, "\n"), e.Text())
}

func TestOfNothing(t *testing.T) {
	rows := ledger.EpisodeRows{Turns: []ledger.Turn{turn(1, "", "", "main", 0, 1)}}
	rows.Episode.Requests = []work.Request{{Kind: "question", Message: "Which?"}}
	require.Nil(t, Of(rows))
	var tally Tally
	tally.Add(&rows)
	require.Nil(t, tally.Totals())
	rows.Episode.Requests[0].Kind = "approval"
	e := Of(rows)
	require.Len(t, e.Requests, 1)
	require.Empty(t, e.Agents, "one agent is no tree")
	require.Empty(t, e.Lanes)
}

// Rows may come from other programs and from models: parents in a circle, times in disorder,
// hostile and endless names.
func TestHostileEpisode(t *testing.T) {
	hostile := "</svg><script>alert(1)</script>\x1b[31m\u202e\n" + strings.Repeat("x", 5000)
	rows := ledger.EpisodeRows{Episode: ledger.Episode{TsStart: 5 * second, ElapsedUs: new(int64(-1))}}
	for i := range int64(200) {
		rows.Turns = append(rows.Turns, turn(int32(i), fmt.Sprint("a", i, hostile), fmt.Sprint("a", (i+1)%200, hostile), hostile, 9-i, i-9))
		rows.Episode.Tasks = append(rows.Episode.Tasks, work.Task{ID: hostile, Kind: hostile, Title: hostile, SubAgent: fmt.Sprint("a", i, hostile), State: hostile, Reason: hostile, TsStart: new(-i * second), TsEnd: new(-2 * i * second)})
		rows.Episode.Requests = append(rows.Episode.Requests, work.Request{SubAgent: hostile, Tool: hostile, Kind: hostile, Severity: hostile, Message: hostile, Say: hostile, Text: hostile, TsAsked: -i})
	}
	e := Of(rows)
	require.Len(t, e.Agents, maxShown)
	require.Len(t, e.Lanes, maxShown)
	require.Len(t, e.Requests, maxShown)
	require.Contains(t, e.More, "more request")
	text := e.Text()
	require.Less(t, len(text), 200_000)
	require.NotContains(t, text, "\x1b")
	require.NotContains(t, text, "\u202e")
	for _, l := range e.Lanes {
		svg := l.SVG()
		require.NotContains(t, svg, "script")
		wellFormed(t, svg)
	}
	var tally Tally
	tally.Add(&rows)
	for i := range 2 * maxKinds {
		rows.Episode.Requests[0].Tool = fmt.Sprint(i)
		rows.Turns[0].Role = fmt.Sprint(i)
		rows.Episode.Tasks[0].Kind = fmt.Sprint(i)
		tally.Add(&rows)
	}
	total := tally.Totals()
	require.Len(t, total.Requests, maxKinds+1)
	require.Len(t, total.Tasks, maxKinds+1)
	require.Len(t, total.Agents, maxKinds+1)
	for _, g := range Grids([]Candidate{{"c", *total}}) {
		require.LessOrEqual(t, len(g.Rows), maxRows)
		for _, row := range g.Rows {
			require.Len(t, row, len(g.Columns))
		}
	}
}

// wellFormed checks that text is XML whose rectangles are within the drawing.
func wellFormed(t *testing.T, text string) {
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "rect" {
			continue
		}
		var x, width float64
		for _, a := range start.Attr {
			switch a.Name.Local {
			case "x":
				_, err = fmt.Sscan(a.Value, &x)
			case "width":
				_, err = fmt.Sscan(a.Value, &width)
			}
			require.NoError(t, err)
		}
		require.GreaterOrEqual(t, x, 0.0)
		require.Greater(t, width, 0.0)
		require.LessOrEqual(t, x+width, float64(svgWidth))
	}
}

func TestTotals(t *testing.T) {
	var tally Tally
	rows := orchestrated()
	tally.Add(&rows)
	tally.Add(&rows)
	total := tally.Totals()
	require.Equal(t, &Totals{
		Episodes: 2,
		Agents: []AgentTotal{
			{"builder", 2, 2, 4, new(int64(220)), new(int64(2_000_000))}, {"delegate", 2, 2, 0, new(int64(220)), nil}, {"reader", 2, 2, 0, new(int64(220)), new(int64(2_000_000))},
		},
		Tasks:    []TaskTotal{{"build-workflow", "blocked", "error", 2, 8 * second}, {"delegate", "running", "", 2, 0}, {"research", "cancelled", "", 2, 0}},
		Requests: []RequestTotal{{"approval", "delete", "destructive", "", 2, 0}, {"plan_review", "plan", "info", "feedback", 2, 6 * second}},
	}, total)
	all := []Candidate{{"one", *total}, {"none", Totals{}}}
	require.Equal(t, []Grid{
		{"Requests to people", []string{"Candidate", "Asked", "Feedback", "No answer", "Mean wait"}, 1, [][]string{{"one", "4", "2", "2", "3.00 s"}}},
		{"Requests by what was asked", []string{"Request", "Severity", "Asked", "Feedback", "No answer", "Mean wait"}, 2, [][]string{
			{"approval: delete", "destructive", "2", "0", "2", "–"}, {"plan review", "info", "2", "2", "0", "3.00 s"},
		}},
		{"Tasks by final state", []string{"Candidate", "Tasks", "Blocked", "Cancelled", "Running at the end", "Mean time"}, 1, [][]string{{"one", "6", "2", "2", "2", "4.00 s"}}},
		{"Sub-agents by role", []string{"Candidate", "Role", "Agents", "Turns", "Tool calls", "Tokens", "Cost"}, 2, [][]string{
			{"one", "builder", "2", "2", "4", "220", "$0.00200"}, {"one", "delegate", "2", "2", "0", "220", "unknown"}, {"one", "reader", "2", "2", "0", "220", "$0.00200"},
		}},
	}, Grids(all))
	require.Equal(t, []string{"6 sub-agents: 2 builder, 2 delegate, 2 reader", "6 tasks: 2 blocked, 2 cancelled, 2 running at the end", "4 requests: 2 feedback, 2 no answer"}, Lines(all))
}

// People who answer at once, and tasks without a time, need no column for it.
func TestNoTimeIsNoColumn(t *testing.T) {
	var tally Tally
	rows := orchestrated()
	for i := range rows.Episode.Requests {
		rows.Episode.Requests[i].WaitUs = 0
	}
	tally.Add(&rows)
	grids := Grids([]Candidate{{"one", *tally.Totals()}})
	require.Equal(t, Grid{"Requests to people", []string{"Candidate", "Asked", "Feedback", "No answer"}, 1, [][]string{{"one", "2", "1", "1"}}}, grids[0])
	require.NotContains(t, grids[1].Columns, "Mean wait")
	require.Contains(t, grids[2].Columns, "Mean time")
}
