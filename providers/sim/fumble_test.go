package sim

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	countArgsSchema = `{"type":"object","properties":{"start_date":{"type":"string"},"end_date":{"type":"string"},"label":{"type":"string"}},"required":["start_date","end_date","label"]}`
	valueSchema     = `{"type":"object","properties":{"value":{"type":"integer"},"label":{"type":"string"}},"required":["value","label"]}`
)

// protocolSamples is how many replies the rates of the other protocols are taken from.
const protocolSamples = 1000

// countingUp is an inquiry with native tools about one count, known or not, and with
// the feedback to earlier turns.
func countingUp(known bool, turns ...utterance) modelRequest {
	q := modelRequest{talk: talk{system: toolsSystem}, messages: []utterance{user(oneCount)}}
	q.offer(getCounts, json.RawMessage(countArgsSchema))
	q.offer(finalAnswer, json.RawMessage(valueSchema))
	if known {
		q.messages = append(q.messages, called(getCounts, `{"start_date":"2026-05-03","end_date":"2026-05-03","label":"angry"}`, `{"label":"angry","start":"2026-05-03","end":"2026-05-03","value":31}`)...)
	}
	q.messages = append(q.messages, turns...)
	q.settle()
	return q
}

// nativeSlipOf tells a slip without knowing what was drawn.
func nativeSlipOf(out spoken) nativeSlip {
	switch {
	case len(out.calls) == 0 && out.text == "":
		return emptyReply
	case len(out.calls) == 0 && strings.Contains(out.text, "31"):
		return finalAsText
	case len(out.calls) == 0:
		return announce
	}
	c := out.calls[0]
	var args map[string]any
	switch {
	case json.Unmarshal([]byte(c.args), &args) != nil:
		return cutArguments
	case c.name != getCounts && c.name != finalAnswer:
		return unknownTool
	case len(args) < map[string]int{getCounts: 3, finalAnswer: 2}[c.name]:
		return missingArgument
	case c.name == finalAnswer && args["value"] != 31.0:
		return wrongType
	}
	return ""
}

// TestNativeRates holds native calls to the documented rates: where a call is due,
// where an answer is, and after a violation.
func TestNativeRates(t *testing.T) {
	fits := map[string][]nativeSlip{
		"call":   {cutArguments, unknownTool, missingArgument, announce, emptyReply},
		"answer": {cutArguments, unknownTool, missingArgument, emptyReply, finalAsText, wrongType},
	}
	for _, p := range profiles {
		t.Run(p.name, func(t *testing.T) {
			warned := []utterance{{own: true, text: "(no output)"}, user("That could not be used:\n- empty: the output was empty\nCall a tool, or answer.")}
			for _, c := range []struct {
				due     string
				care    float64
				inquiry modelRequest
			}{
				{"call", 1, countingUp(false)},
				{"answer", 1, countingUp(true)},
				{"call", p.careful, countingUp(false, warned...)},
				{"answer", p.careful, countingUp(true, warned...)},
			} {
				seen := map[nativeSlip]int{}
				for i := range protocolSamples {
					d := drawsFor(5, p.name, fmt.Sprint(i), nil)
					d.decision, d.trust = 1, 1
					out, ok := p.converse(c.inquiry, d)
					require.True(t, ok)
					seen[nativeSlipOf(out)]++
				}
				total := 0.0
				for _, kind := range fits[c.due] {
					rate := rateIn(p.native, kind) * c.care * timesIn(p, oneCount)
					requireRate(t, c.due+": "+string(kind), seen[kind], protocolSamples, rate)
					total += rate
					delete(seen, kind)
				}
				requireRate(t, c.due+": no slip", seen[""], protocolSamples, 1-total)
				delete(seen, "")
				require.Empty(t, seen, "slips that do not fit")
			}
		})
	}
}

func rateIn[K comparable](rates []rate[K], kind K) float64 {
	for _, r := range rates {
		if r.kind == kind {
			return r.p
		}
	}
	return 0
}

// TestNativeTable holds the tables to what the documentation says of them.
func TestNativeTable(t *testing.T) {
	want := map[string][3]float64{"sim-strong": {0.004, 0.003, 0.008}, "sim-erratic": {0.09, 0.09, 0.16}, "sim-weak": {0.20, 0.20, 0.36}}
	for _, p := range profiles {
		require.InDelta(t, want[p.name][0], sumOf(p.native), 1e-9, p.name)
		require.InDelta(t, want[p.name][1], sumOf(p.text), 1e-9, p.name)
		require.InDelta(t, want[p.name][2], sumOf(p.planning), 1e-9, p.name)
	}
}

func sumOf[K any](rates []rate[K]) (sum float64) {
	for _, r := range rates {
		sum += r.p
	}
	return sum
}

// TestForcedCallsStayCalls: a tool that must be called leaves no room for words.
func TestForcedCallsStayCalls(t *testing.T) {
	p, _ := profileFor("sim-weak")
	for _, kind := range []choice{choiceAny, choiceNamed} {
		for i := range protocolSamples {
			q := countingUp(true)
			q.choice, q.tool = kind, finalAnswer
			out, _ := p.converse(q, drawsFor(6, p.name, fmt.Sprint(i), nil))
			require.Len(t, out.calls, 1, "%+v", out)
			if kind == choiceNamed {
				require.Equal(t, finalAnswer, out.calls[0].name)
			}
		}
	}
}

// TestOwnSlipsAreNoRefusal: what a tool says of a malformed call makes careful, and
// is not taken for a refusal of the arguments.
func TestOwnSlipsAreNoRefusal(t *testing.T) {
	p, _ := profileFor("sim-strong")
	refusal := `{"error":{"code":"E_ARGS","message":"args.label:required"}}`
	whole := `{"start_date":"2026-05-03","end_date":"2026-05-03","label":"angry"}`
	twice := func(args string) modelRequest {
		return countingUp(false, append(called(getCounts, args, refusal), called(getCounts, args, refusal)...)...)
	}
	for args, want := range map[string]string{`{"start_date":"2026-`: getCounts, `{"label":"angry"}`: getCounts, whole: finalAnswer} {
		out, ok := p.converse(twice(args), calm)
		require.True(t, ok)
		require.Equal(t, want, out.calls[0].name, args)
	}
}

// TestReflectInNativeCalls: told to reflect, the model does not repeat the call.
func TestReflectInNativeCalls(t *testing.T) {
	p, _ := profileFor("sim-strong")
	q := countingUp(true, user("Nothing new came of that.\nREFLECT: you repeated get_counts with identical arguments; choose a different action."))
	out, _ := p.converse(q, calm)
	require.Equal(t, []invocation{{name: finalAnswer, args: `{"label":"angry","value":31}`}}, out.calls)
	room := countingUp(false, utterance{own: true, text: "x"}, user("There is no room for more results. Call no more tools: answer now with what you have."))
	out, _ = p.converse(room, calm)
	require.Equal(t, finalAnswer, out.calls[0].name)
}

// TestMistyped: another type, of the value that counts.
func TestMistyped(t *testing.T) {
	for args, want := range map[string]string{
		`{"label":"angry","value":31}`: `{"label":"angry","value":"about 31"}`,
		`{"label":"angry"}`:            `{"label":["angry"]}`,
		`{"result":{"value":-3}}`:      `{"result":{"value":"about -3"}}`,
		`{"result":7}`:                 `{"result":"about 7"}`,
		`{}`:                           `{}`,
		`[`:                            `[`,
	} {
		require.Equal(t, want, mistyped(args))
	}
}
