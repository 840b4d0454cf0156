package sim

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// samples is how many replies an empirical rate is taken from.
const samples = 2000

// reply is what a drawn reply looks like.
type reply struct {
	text   string
	finish string
}

// sample draws replies to one prompt through the handler.
func sample(t *testing.T, model, user string, n int) []reply {
	t.Helper()
	h := Handler(Config{Seed: 11})
	body := openAIBody(t, model, user, `,"max_tokens":400`)
	out := make([]reply, n)
	for i := range out {
		w := post(t, h, "/v1/chat/completions", body, "X-Client-Request-Id", fmt.Sprintf("%s-%d", t.Name(), i))
		var r openAIReply
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &r))
		out[i] = reply{*r.Choices[0].Message.Content, r.Choices[0].FinishReason}
	}
	return out
}

// decide draws a model's outputs to one prompt without the detour over HTTP.
func decide(model, user string) []reply {
	p, _ := profileFor(model)
	out := make([]reply, samples)
	for i := range out {
		text, cut := cutTokens(p.say(asking(user), freeText, 400, drawsFor(11, model, fmt.Sprint(i), nil)), 400)
		out[i].text = text
		if cut {
			out[i].finish = "length"
		}
	}
	return out
}

// oneCount is the request that most rates are taken from.
const oneCount = "angry on 2026-05-03?"

// timesIn is what multiplies a model's rates of slips in a task.
func timesIn(p profile, request string) float64 { return p.spread.factor(p.name, request) }

// requireRate holds a count to a documented rate, four standard errors wide.
func requireRate(t *testing.T, what string, count, n int, p float64) {
	t.Helper()
	slack := 4*math.Sqrt(float64(n)*p*(1-p)) + 1
	require.InDelta(t, float64(n)*p, float64(count), slack, "%s: %d of %d, documented %.4f", what, count, n, p)
}

// formatOf classifies the form of a reply without knowing what was drawn.
func formatOf(t *testing.T, r reply) formatSlip {
	var m map[string]json.RawMessage
	switch {
	case r.finish == "length":
		return truncated
	case strings.HasPrefix(r.text, "```"):
		return fenced
	case !strings.HasPrefix(r.text, "{"):
		return prose
	}
	require.NoError(t, json.Unmarshal([]byte(r.text), &m), r.text)
	if m["thoughts"] != nil {
		return extraKey
	}
	for _, key := range []string{"Control", "Next_action", "State_update"} {
		if m[key] != nil {
			return wrongCase
		}
	}
	var state map[string]json.RawMessage
	if json.Unmarshal(m["state_update"], &state) != nil || state["confidence"] == nil {
		return missingField
	}
	var c float64
	if json.Unmarshal(state["confidence"], &c) != nil || c < 0 || c > 1 {
		return badConfidence
	}
	return ""
}

func TestEmpiricalFormatRates(t *testing.T) {
	for _, p := range profiles {
		t.Run(p.name, func(t *testing.T) {
			seen := map[formatSlip]int{}
			for _, r := range sample(t, p.name, countPrompt(oneCount), samples) {
				seen[formatOf(t, r)]++
			}
			total := 0.0
			for _, r := range p.format {
				rate := r.p * timesIn(p, oneCount)
				requireRate(t, string(r.kind), seen[r.kind], samples, rate)
				total += rate
				delete(seen, r.kind)
			}
			requireRate(t, "no slip", seen[""], samples, 1-total)
			delete(seen, "")
			require.Empty(t, seen, "slips outside the table")
		})
	}
}

func TestViolationMakesCareful(t *testing.T) {
	p, _ := profileFor("sim-weak")
	warned := (&pad{request: oneCount, maxSteps: 5, maxCalls: 5, obs: []string{"violation: turn 1 not_json; output exactly ONE JSON object"}}).prompt()
	slips := 0
	for _, r := range decide(p.name, warned) {
		if formatOf(t, r) != "" {
			slips++
		}
	}
	total := 0.0
	for _, r := range p.format {
		total += r.p
	}
	requireRate(t, "slips after a violation", slips, samples, total*p.careful*timesIn(p, oneCount))
}

// actionOf reads a reply's action, whatever its form; ok is false if it was cut.
func actionOf(r reply) (kind actionKind, name string, args countArgs, message string, ok bool) {
	if r.finish == "length" {
		return
	}
	var turn struct {
		NextAction struct {
			Type    actionKind
			Name    string
			Args    countArgs
			Message string
		} `json:"next_action"`
	}
	_ = json.NewDecoder(strings.NewReader(r.text[strings.IndexByte(r.text, '{'):])).Decode(&turn)
	a := turn.NextAction
	return a.Type, a.Name, a.Args, a.Message, a.Type != ""
}

func rateOf(p profile, kind decisionSlip) float64 {
	for _, r := range p.decision {
		if r.kind == kind {
			return r.p
		}
	}
	return 0
}

func TestEmpiricalDecisionRates(t *testing.T) {
	result := func(label string, value int) string {
		return fmt.Sprintf(`tool result: turn 1 get_counts {"end_date":"2026-05-03","label":%q,"start_date":"2026-05-03"} -> ok <data>{"end":"2026-05-03","label":%q,"start":"2026-05-03","value":%d}</data>`, label, label, value)
	}
	const today = "angry today?"
	for _, p := range profiles {
		t.Run(p.name, func(t *testing.T) {
			n := 0
			seen := map[decisionSlip]int{}
			for _, r := range decide(p.name, countPrompt(oneCount)) {
				kind, _, args, _, ok := actionOf(r)
				if !ok {
					continue
				}
				n++
				switch {
				case kind == clarify:
					seen[needlessClarify]++
				case kind == respond:
					seen[inventNumber]++
				case args.Label != "angry":
					seen[wrongLabel]++
				case args.StartDate != "2026-05-03":
					seen[offByOne]++
				}
			}
			for _, kind := range []decisionSlip{needlessClarify, inventNumber, wrongLabel, offByOne} {
				requireRate(t, string(kind), seen[kind], n, timesIn(p, oneCount)*rateOf(p, kind))
			}

			n, guessed := 0, 0
			for _, r := range decide(p.name, countPrompt(today)) {
				if _, name, _, _, ok := actionOf(r); ok {
					n++
					if name == getCounts {
						guessed++
					}
				}
			}
			requireRate(t, string(skipToday), guessed, n, timesIn(p, today)*rateOf(p, skipToday))

			n, repeated, invented := 0, 0, 0
			known := (&pad{request: oneCount, maxSteps: 5, maxCalls: 5, obs: []string{result("angry", 31)}}).prompt()
			for _, r := range decide(p.name, known) {
				if kind, name, _, message, ok := actionOf(r); ok {
					n++
					switch {
					case name == getCounts:
						repeated++
					case kind == respond && !strings.Contains(message, ": 31."):
						invented++
					}
				}
			}
			requireRate(t, string(repeatCall), repeated, n, timesIn(p, oneCount)*rateOf(p, repeatCall))
			requireRate(t, string(inventNumber), invented, n, timesIn(p, oneCount)*rateOf(p, inventNumber))

			n, taken := 0, 0
			other := (&pad{request: oneCount, maxSteps: 5, maxCalls: 5, obs: []string{result("praise", 77)}}).prompt()
			for _, r := range decide(p.name, other) {
				if kind, _, _, message, ok := actionOf(r); ok && kind != clarify {
					n++
					if strings.Contains(message, ": 77.") {
						taken++
					}
				}
			}
			// A repeated call or an invented number can hide it; the slack covers that.
			require.InDelta(t, p.trusting, float64(taken)/float64(n), 0.15*p.trusting+0.01)
		})
	}
}

// TestConfidenceCarriesSignal: a model is less sure of a slipped turn, the weak
// one least noticeably, and the weak one is over-confident.
func TestConfidenceCarriesSignal(t *testing.T) {
	gap := map[string]float64{}
	for _, p := range profiles {
		var right, slipped float64
		for i := range uint64(1000) {
			right += float64(p.confidence.draw(false, false, i)) / 1000
			slipped += float64(p.confidence.draw(false, true, i)) / 1000
			require.Less(t, p.confidence.draw(false, true, i), 100)
			require.Positive(t, p.confidence.draw(true, false, i))
		}
		require.InDelta(t, p.confidence.right, right, 0.5)
		gap[p.name] = right - slipped
	}
	require.Greater(t, gap["sim-strong"], 20.0)
	require.Greater(t, gap["sim-erratic"], 15.0)
	require.Positive(t, gap["sim-weak"])
	require.Less(t, gap["sim-weak"], 10.0)
}

// TestRatesTable holds the table itself to what the documentation says of it.
func TestRatesTable(t *testing.T) {
	sum := func(p profile) (format, decision float64) {
		for _, r := range p.format {
			format += r.p
		}
		for _, r := range p.decision {
			decision += r.p
		}
		return format, decision
	}
	want := map[string][2]float64{"sim-strong": {0.003, 0.003}, "sim-erratic": {0.09, 0.165}, "sim-weak": {0.18, 0.39}}
	for _, p := range profiles {
		format, decision := sum(p)
		require.InDelta(t, want[p.name][0], format, 1e-9, p.name)
		require.InDelta(t, want[p.name][1], decision, 1e-9, p.name)
	}
}

// TestSameRequestSameBytes: replies depend on the request and the seed alone,
// not on what else is going on.
func TestSameRequestSameBytes(t *testing.T) {
	h := Handler(Config{Seed: 5})
	bodies := []string{
		openAIBody(t, "sim-weak", countPrompt("angry today?"), ""),
		openAIBody(t, "sim-weak", countPrompt("praise on 2026-05-03?"), ""),
		openAIBody(t, "sim-erratic", countPrompt("info last week"), ""),
		openAIBody(t, "no-such-model", "x", ""),
	}
	first := map[string]string{}
	for i := range 40 {
		for _, b := range bodies {
			id := fmt.Sprint(i)
			first[id+b] = post(t, h, "/v1/chat/completions", b, "X-Client-Request-Id", id).Body.String()
		}
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 40 {
				for _, b := range bodies {
					id := fmt.Sprint(i)
					got := post(t, h, "/v1/chat/completions", b, "X-Client-Request-Id", id)
					if first[id+b] != got.Body.String() {
						t.Errorf("request %s differs", id)
					}
				}
			}
		})
	}
	wg.Wait()

	distinct := map[string]bool{}
	for i := range 40 {
		distinct[first[fmt.Sprint(i)+bodies[0]]] = true
	}
	require.Len(t, distinct, 40, "another request id is another draw")

	noID := post(t, h, "/v1/chat/completions", bodies[0]).Body.String()
	require.Equal(t, noID, post(t, h, "/v1/chat/completions", bodies[0]).Body.String())
	other := post(t, Handler(Config{Seed: 6}), "/v1/chat/completions", bodies[0]).Body.String()
	require.NotEqual(t, noID, other, "another seed is another draw")
}

// TestDrawsAreStable pins the stream: recorded replies stay reproducible.
func TestDrawsAreStable(t *testing.T) {
	d := drawsFor(1, "sim-weak", "abc", nil)
	require.Equal(t, d, drawsFor(1, "sim-weak", "abc", []byte("ignored")))
	require.NotEqual(t, d.digest, drawsFor(1, "sim-weak", "", []byte("abc")).digest)
	require.NotEqual(t, d.digest, drawsFor(1, "sim-weaka", "bc", nil).digest)
	require.Equal(t, "req_sim71e2463737528a9886b92ed7", d.id("req_sim"))
	require.Equal(t, 56147, int(d.format*1e6))
}

func BenchmarkReply(b *testing.B) {
	// Floor: SHA-256 and JSON of a 2 KB body take about 15 µs.
	h := Handler(Config{Seed: 1})
	body := openAIBody(b, "sim-strong", countPrompt("How many angry messages did we get last week?"), "")
	b.ReportAllocs()
	for b.Loop() {
		post(b, h, "/v1/chat/completions", body)
	}
}
