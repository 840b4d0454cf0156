package harness_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/recorder"
)

// An observer receives the text of a model, also in a replay.
func ExampleOptions_observe() {
	suite, err := load.Suite(counts.FS, "builtin:counts", counts.Worlds())
	if err != nil {
		log.Fatal(err)
	}
	var mu sync.Mutex // episodes run at the same time
	_, err = harness.Run(context.Background(), harness.Options{
		Matrix: harness.Matrix{Suite: suite, Select: harness.Selection{Tasks: []string{"G01"}, Candidates: []string{"strong"}}},
		Parts:  harness.Parts{Providers: all.Factories()},
		Rules:  harness.Rules{Policy: policy.Default()},
		Observers: harness.Observers{
			Observe: func(e episode.StreamEvent) {
				mu.Lock()
				defer mu.Unlock()
				switch e.Kind {
				case episode.StreamBegin:
					fmt.Printf("%s turn %d asks %s\n", e.Task, e.Turn, e.Model)
				case episode.StreamText:
					_, message, _ := strings.Cut(e.Text, `"next_action":`)
					fmt.Printf("  %.41s\n", message)
				case episode.StreamToolCall:
					fmt.Printf("  calls %s %s\n", e.Call.Name, e.Call.Args)
				case episode.StreamEnd:
					fmt.Println("  end:", e.Finish)
				}
			},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// G01 turn 1 asks sim-strong
	//   {"type":"tool","name":"today_range","args
	//   end: stop
	// G01 turn 2 asks sim-strong
	//   {"type":"tool","name":"get_counts","args"
	//   end: stop
	// G01 turn 3 asks sim-strong
	//   {"type":"respond","message":"We got 449 a
	//   end: stop
}

// watcher collects the events of each episode.
type watcher struct {
	mu     sync.Mutex
	events map[string][]episode.StreamEvent
}

func (w *watcher) observe(e episode.StreamEvent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.events == nil {
		w.events = map[string][]episode.StreamEvent{}
	}
	name := fmt.Sprintf("%s/%s/%d", e.Task, e.Candidate, e.Trial)
	w.events[name] = append(w.events[name], e)
}

// texts returns the texts of the turns of an episode and the number of their pieces.
func (w *watcher) texts(t *testing.T, id string) (texts []string, pieces int) {
	t.Helper()
	open := false
	for _, e := range w.events[id] {
		switch e.Kind {
		case episode.StreamBegin:
			require.False(t, open)
			texts, open = append(texts, ""), true
			require.Equal(t, len(texts), e.Turn)
		case episode.StreamText:
			require.True(t, open)
			texts[len(texts)-1] += e.Text
			pieces++
		case episode.StreamEnd:
			require.True(t, open)
			open = false
			require.NoError(t, e.Err)
			require.Equal(t, providers.FinishStop, e.Finish)
		}
	}
	require.False(t, open)
	return texts, pieces
}

// An observer receives all texts of the models, streamed or not, recorded or replayed.
func TestObserverReceivesEveryText(t *testing.T) {
	o := recordOptions(t, "G01", "G39")
	o.Candidates = []goldens.Candidate{
		{Name: "whole", Provider: "sim-openai", Model: "sim-strong"},
		{Name: "stream", Provider: "sim-openai", Model: "sim-strong", Stream: true},
	}
	said := map[string][]string{}
	var mu sync.Mutex
	o.Traced = func(rows ledger.EpisodeRows, traces []episode.Trace) {
		mu.Lock()
		defer mu.Unlock()
		name := fmt.Sprintf("%s/%s/%d", rows.Episode.TaskID, rows.Episode.Candidate, rows.Episode.Trial)
		said[name] = nil
		for _, x := range traces {
			if x.Answer != nil {
				said[name] = append(said[name], x.Answer.Text)
			}
		}
	}
	var recorded, replayed watcher
	o.Observe = recorded.observe
	_, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	o.Mode, o.Cassettes, o.Observe = recorder.Replay, os.DirFS(o.CassetteDir), replayed.observe
	_, err = harness.Run(context.Background(), o)
	require.NoError(t, err)

	require.Len(t, said, 4)
	for name, want := range said {
		texts, pieces := replayed.texts(t, name)
		require.Equal(t, want, texts, name)
		if strings.Contains(name, "stream") {
			require.Greater(t, pieces, 2*len(want), "in pieces")
		} else {
			require.Equal(t, len(want), pieces, "each at once")
		}
		live, n := recorded.texts(t, name)
		require.Equal(t, want, live)
		require.Equal(t, pieces, n, "a replay has the pieces of its recording")
	}
}

// caller is a model whose turn has text, reasoning and tool calls, and that then fails.
type caller struct {
	mu sync.Mutex
	n  int
}

func (c *caller) Call(_ context.Context, call providers.Call) (providers.Reply, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n++; c.n > 1 {
		return providers.Reply{}, &fault.Error{Provider: "own", Kind: fault.InvalidRequest}
	}
	for _, d := range []providers.Delta{
		{Kind: providers.DeltaReasoning, Text: "hm"}, {Kind: providers.DeltaText, Text: "Let me "}, {Kind: providers.DeltaText}, {Kind: providers.DeltaText, Text: "see."},
		{Kind: providers.DeltaCall, Text: "f"}, {Kind: providers.DeltaArgs, Text: `{"a":1}`},
	} {
		call.OnDelta(d)
	}
	return providers.Reply{
		Text: "Let me see.", Finish: providers.FinishTools,
		Calls: []providers.ToolCall{{ID: "1", Name: "f", Args: `{"a":1}`}, {ID: "2", Name: "g", Args: `{}`}},
	}, nil
}

// twice is a strategy of two turns, the second of which asks the fallback model.
type twice struct{ agent.Tally }

func (m *twice) Step(ev agent.Event) agent.Ready {
	m.Take(ev)
	var c agent.Command
	switch ev := ev.(type) {
	case agent.Started:
		c = m.Model(agent.CallModel{Role: turn.RoleStep, Kind: turn.KindAct, Step: "read[2]"})
	case agent.ModelReplied:
		c = m.Model(agent.CallModel{Role: turn.RoleFallback, Kind: turn.KindAct, Whom: turn.RoleFallback})
	case agent.ModelFailed:
		c = m.Finish(agent.Finish{Status: agent.Failed, Err: ev.Err})
	}
	return agent.Ready{Commands: []agent.Command{c}, Judgement: judged(ev)}
}

func judged(ev agent.Event) *agent.Judgement {
	if _, ok := ev.(agent.ModelReplied); ok {
		return &agent.Judgement{}
	}
	return nil
}

func TestObserverReceivesCallsAndFailures(t *testing.T) {
	o := talkOptions(t, &echoModel{})
	o.Mode, o.Runs, o.Trials = recorder.Live, "", 1
	o.Select.Tasks = []string{"S1"}
	o.Candidates = []goldens.Candidate{{Name: "x", Agent: "twice", Provider: "sim-openai", Model: "m", Fallback: "n", Stream: true}}
	o.Strategies = map[string]agent.Strategy{"twice": {New: func(agent.Params) (agent.Machine, error) { return &twice{}, nil }}}
	o.Providers = map[string]providers.Factory{"sim-openai": func(providers.Options) (providers.Model, error) { return &caller{}, nil }}
	var w watcher
	o.Observe = w.observe
	_, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	events := w.events["S1/x/1"]
	var got []string
	for _, e := range events {
		got = append(got, fmt.Sprintf("%d %s %s %s %s %s", e.Turn, e.Role, e.Step, e.Model, e.Kind, e.Text))
		if e.Call != nil {
			got[len(got)-1] += e.Call.Name + e.Call.Args
		}
	}
	require.Equal(t, []string{
		"1 step read[2] m begin ", "1 step read[2] m text Let me ", "1 step read[2] m text see.",
		`1 step read[2] m tool_call f{"a":1}`, "1 step read[2] m tool_call g{}", "1 step read[2] m end ",
		"2 fallback  n begin ", "2 fallback  n end ",
	}, got)
	var failed *fault.Error
	require.True(t, errors.As(events[len(events)-1].Err, &failed))
	require.NotEmpty(t, events[0].EpisodeID)
	require.True(t, slices.ContainsFunc(events, func(e episode.StreamEvent) bool { return e.Finish == providers.FinishTools }))
}
