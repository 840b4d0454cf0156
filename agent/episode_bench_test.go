package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/providers"
)

// longEpisode is an episode of many turns: different tool calls, a question in every tenth turn, and
// the answer.
type longEpisode struct {
	params  Params
	replies []string
	result  tool.Result
	// sizes are those of the prompts in bytes, turn by turn; nil measures nothing.
	sizes *[]int
}

func newLongEpisode(t testing.TB, turns int, p Params) *longEpisode {
	p.Request, p.Tools = "How many angry messages did we get today?", testTools(t)
	e := &longEpisode{params: p, result: tool.Result{
		Outcome: tool.OK, Value: json.RawMessage(`{"rows":"` + strings.Repeat("0123456789", 40) + `"}`), Duration: 50 * time.Millisecond,
	}}
	for i := range turns - 1 {
		next := action{"type": "tool", "name": "search", "args": map[string]string{"query": fmt.Sprint("query ", i)}}
		if i%10 == 9 {
			next = action{"type": "clarify", "message": "Which label?"}
		}
		e.replies = append(e.replies, turnText(t, "ok", next, fmt.Sprint("plan ", i)))
	}
	e.replies = append(e.replies, turnText(t, "ok", action{"type": "respond", "message": "449"}, "done"))
	return e
}

// run drives the episode to its end and returns the machine.
func (e *longEpisode) run(t testing.TB) *contractMachine {
	m, err := New("contract", e.params, nil)
	if err != nil {
		t.Fatal(err)
	}
	at, n := testStart, 0
	ready := m.Step(Started{At: at})
	for {
		at = at.Add(100 * time.Millisecond)
		switch c := ready.Commands[0].(type) {
		case CallModel:
			text := readableSummary
			if c.Kind != turn.KindCompress {
				text = e.replies[n]
				n++
			}
			if e.sizes != nil {
				*e.sizes = append(*e.sizes, promptSize(c.Call))
			}
			ready = m.Step(ModelReplied{At: at, ID: c.ID, Reply: providers.Reply{Text: text, Usage: providers.Usage{Reported: true, Input: 1}}})
		case CallTool:
			ready = m.Step(ToolReturned{At: at, ID: c.ID, Result: e.result})
		case AskUser:
			ready = m.Step(UserReplied{At: at, ID: c.ID, Text: "angry"})
		case Finish:
			if c.Status != answeredAfterClarify && c.Status != Answered {
				t.Fatal(c)
			}
			return m.(*contractMachine)
		}
	}
}

func promptSize(c providers.Call) int {
	n := len(c.System)
	for _, m := range c.Messages {
		n += len(m.Text)
	}
	return n
}

// benchProfiles are the ways a prompt can grow.
var benchProfiles = []struct {
	name   string
	params Params
}{
	{"seed", Params{}}, {"schema", Params{Profile: "schema"}}, {"conversation", Params{Profile: "conversation"}}, {"compress", Params{Compress: true}},
}

// After the first hundred turns no prompt is longer than the longest one before, and the memory is
// bounded.
func TestLongEpisodesStayFlat(t *testing.T) {
	for _, profile := range benchProfiles {
		t.Run(profile.name, func(t *testing.T) {
			var sizes []int
			e := newLongEpisode(t, 1000, profile.params)
			e.sizes = &sizes
			m := e.run(t)
			early, late := 0, 0
			for i, n := range sizes {
				if i < 200 {
					early = max(early, n)
				} else {
					late = max(late, n)
				}
			}
			require.LessOrEqual(t, late, early+200, "numbers get a digit longer, nothing else")
			require.LessOrEqual(t, late, 40_000)
			require.LessOrEqual(t, len(m.pad.obs), maxReplies+2*maxRecent+maxFacts)
			require.LessOrEqual(t, len(m.pad.progress), maxFolded)
			require.LessOrEqual(t, m.log.size, maxLog)
		})
	}
}

// BenchmarkEpisode runs episodes of 10, 100 and 1,000 turns. ns/turn, B/turn and allocs must not grow
// with the length. The lower bound of a turn is judging the output (BenchmarkJudge in package
// contract) and writing one prompt.
func BenchmarkEpisode(b *testing.B) {
	for _, profile := range benchProfiles {
		for _, turns := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("%s/%d", profile.name, turns), func(b *testing.B) {
				p := profile.params
				p.Budgets = guard.Budgets{MaxSteps: 2000, MaxToolCalls: 2000, MaxTime: time.Hour, MaxTokens: 1 << 40}
				e := newLongEpisode(b, turns, p)
				b.ReportAllocs()
				for b.Loop() {
					e.run(b)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*turns), "ns/turn")
			})
		}
	}
}
