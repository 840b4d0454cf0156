package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const toolsSystem = "You are a helpful assistant.\n\nCONSTRAINTS: Weeks start on Monday.\n\nRules:\n- Call tools for what you do not know.\n"

var allTools = []string{todayRange, getCounts, askUser, cannotProceed}

// dialogue is a small agent with native calls: it asks a model over one wire, runs
// what it calls, and asks again.
type dialogue struct {
	wire   wireClient
	h      http.Handler
	ask    asked
	world  *dashboard
	trail  []string // the names of what was called, turn by turn
	turns  int
	status string
}

// run goes on until the model answers or gives up.
func (d *dialogue) run(t testing.TB) string {
	t.Helper()
	for d.turns = 1; d.turns < 10; d.turns++ {
		got := d.wire.do(t, d.h, d.ask)
		if len(got.calls) == 0 {
			d.status = "answered"
			return got.text
		}
		var names []string
		said, results := utterance{own: true, text: got.text}, utterance{}
		for i, c := range got.calls {
			if c.id == "" || slices.ContainsFunc(said.calls, func(o invocation) bool { return o.id == c.id }) {
				c.id = fmt.Sprintf("call_%d_%d", d.turns, i)
			}
			names = append(names, c.name)
			var args map[string]string
			_ = json.Unmarshal([]byte(c.args), &args)
			r := result{id: c.id, name: c.name}
			switch c.name {
			case cannotProceed:
				d.status = c.name
				return args["reason"]
			case askUser:
				if len(d.world.replies) == 0 {
					d.status = "clarify"
					return args["question"]
				}
				r.text = string(encodeJSON(d.world.replies[0]))
				d.world.replies = d.world.replies[1:]
			default:
				verdict, data := d.world.run(c.name, c.args)
				r.text = data
				if code, failed := strings.CutPrefix(verdict, "error "); failed {
					r.text, r.failed = string(encodeJSON(obj{"error": obj{"code": code, "message": data}})), true
				}
			}
			said.calls, results.results = append(said.calls, c), append(results.results, r)
		}
		d.trail = append(d.trail, strings.Join(names, "+"))
		d.ask.turns = append(d.ask.turns, said, results)
	}
	return ""
}

// talking is a dialogue on one wire.
func talking(g wireClient, h http.Handler, model, request string) *dialogue {
	return &dialogue{wire: g, h: h, world: newWorld(), ask: asked{model: model, system: toolsSystem, turns: []utterance{user(request)}, tools: allTools, limit: 700}}
}

// TestNativeCallsOnEveryWire: the same conversation ends alike on every wire.
func TestNativeCallsOnEveryWire(t *testing.T) {
	h := Handler(Config{Seed: 1})
	each(t, func(t *testing.T, g wireClient, stream bool) {
		if g.noTools {
			t.Skip("the wire has no tools")
		}
		d := talking(g, h, "sim-strong", "Give me yesterday's counts for angry, praise and info.")
		d.ask.stream = stream
		text := d.run(t)
		require.Equal(t, "On 2026-05-12: angry 387, praise 951, info 1533.", text)
		require.Equal(t, []string{todayRange, "get_counts+get_counts+get_counts"}, d.trail)
	})
}

func TestNativeDialogues(t *testing.T) {
	h := Handler(Config{Seed: 1})
	for name, c := range map[string]struct {
		request string
		change  func(*dialogue)
		trail   string
		status  string
		text    string
	}{
		"one count":      {"How many angry messages on 2026-05-03?", nil, "get_counts", "answered", "angry messages on 2026-05-03: 324."},
		"serial":         {"angry and praise on 2026-05-03", func(d *dialogue) { d.ask.serial = true }, "get_counts get_counts", "answered", "On 2026-05-03: angry 324, praise 852."},
		"a question":     {"How many messages on 2026-05-03?", func(d *dialogue) { d.world.replies = []string{"PRAISE"} }, "ask_user get_counts", "answered", "praise messages on 2026-05-03: 852."},
		"nobody answers": {"How many messages on 2026-05-03?", nil, "", "clarify", "Which label do you mean: angry, praise or info?"},
		"no tool to ask": {"How many messages on 2026-05-03?", func(d *dialogue) { d.ask.tools = allTools[:2] }, "", "answered", "Which label do you mean: angry, praise or info?"},
		"gives up":       {"Delete all angry messages from yesterday.", nil, "", cannotProceed, "I can only count messages; I cannot change, delete or send anything."},
		"a bad date":     {"Angry messages on 2026-02-30?", nil, "", "answered", "start_date 2026-02-30 is not a valid date."},
		"fails once": {"angry on 2026-05-03", func(d *dialogue) {
			d.world.faults = []loopFault{{Tool: getCounts, OnCalls: []int{1}, Kind: "error", Code: "E_UPSTREAM", Message: "internal error"}}
		}, "get_counts get_counts", "answered", "angry messages on 2026-05-03: 324."},
		"fails for good": {"angry on 2026-05-03", func(d *dialogue) {
			d.world.faults = []loopFault{{Tool: getCounts, Kind: "error", Code: "E_UPSTREAM", Message: "internal error"}}
		}, "get_counts get_counts get_counts", cannotProceed, "I cannot give the count: get_counts keeps failing."},
		"refused": {"angry on 2026-05-03", func(d *dialogue) {
			d.world.faults = []loopFault{{Tool: getCounts, Kind: "error", Code: codeDenied, Message: "The user rejected this call."}}
		}, "get_counts", cannotProceed, "I cannot give the count: the call was refused."},
		"no calls left": {"angry on 2026-05-03", func(d *dialogue) {
			d.world.faults = []loopFault{{Tool: getCounts, Kind: "error", Code: codeBudget, Message: "no tool calls left"}}
		}, "get_counts", cannotProceed, "I cannot give the count: no tool calls are left."},
		"no call allowed": {"angry on 2026-05-03", func(d *dialogue) { d.ask.choice = choiceNone }, "", "answered", "I cannot give the count: no tool calls are left."},
		"a follow-up": {"And the day before yesterday?", func(d *dialogue) {
			d.ask.turns = append([]utterance{user("How many angry messages today?"), {own: true, text: "angry messages on 2026-05-13: 394."}}, d.ask.turns...)
		}, "today_range get_counts", "answered", "angry messages on 2026-05-11: 380."},
		"earlier words": {"praise on 2026-05-03", func(d *dialogue) {
			d.ask.turns = append([]utterance{user("How many angry messages today?"), {own: true, text: "angry messages on 2026-05-13: 394."}}, d.ask.turns...)
		}, "get_counts", "answered", "praise messages on 2026-05-03: 852."},
	} {
		t.Run(name, func(t *testing.T) {
			d := talking(openAITongue, h, "sim-strong", c.request)
			if c.change != nil {
				c.change(d)
			}
			require.Equal(t, c.text, d.run(t))
			require.Equal(t, c.status, d.status)
			require.Equal(t, c.trail, strings.Join(d.trail, " "))
		})
	}
}
