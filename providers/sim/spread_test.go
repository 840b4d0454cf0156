package sim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// countsOfDays are n requests that differ in label and day only.
func countsOfDays(n int) []string {
	first, _ := dayOf(2024, 1, 1)
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s on %s?", labels[i%len(labels)], first.add(i))
	}
	return out
}

// firstTurn draws the first output about a request, and says whether it has a slip of
// form and whether it does anything else than count what was asked.
func firstTurn(t *testing.T, p profile, request string, trial int) (form, decision bool) {
	t.Helper()
	text, cut := cutTokens(p.say(asking(countPrompt(request)), freeText, 400, drawsFor(21, p.name, fmt.Sprint(request, trial), nil)), 400)
	r := reply{text: text}
	if cut {
		r.finish = "length"
	}
	_, name, args, _, read := actionOf(r)
	label, day, _ := strings.Cut(strings.TrimSuffix(request, "?"), " on ")
	return formatOf(t, r) != "", read && (name != getCounts || args != countArgs{StartDate: day, EndDate: day, Label: label})
}

// TestHardTasksAreHardInEveryTrial: with a draw between the rates of an easy and of a
// hard task, all protocols slip in all trials of the hard tasks, and in none of the
// others.
func TestHardTasksAreHardInEveryTrial(t *testing.T) {
	p, _ := profileFor("sim-weak")
	hard := 0
	for _, request := range countsOfDays(60) {
		want := timesIn(p, request) > 1
		if want {
			hard++
		}
		step := stepping("Count "+request, "", countSchema, []string{getCounts})
		step.talk.system = strings.Replace(stepSystem, "Compare angry and praise today", request, 1)
		native := modelRequest{talk: talk{system: toolsSystem}, messages: []utterance{user(request)}}
		native.offer(getCounts, nil)
		native.settle()
		contract := func(d draws) string { return p.say(asking(countPrompt(request)), freeText, 400, d) }
		protocol := func(q modelRequest) func(draws) string {
			return func(d draws) string {
				out, ok := p.converse(q, d)
				require.True(t, ok)
				return fmt.Sprint(out)
			}
		}
		for trial := range 5 {
			none := drawsFor(int64(trial), p.name, fmt.Sprint(trial), nil)
			none.format, none.decision, none.trust = 1, 1, 1
			form, decision := none, none
			form.format, decision.decision = 0.3, 0.2 // of 0.09 to 0.79 and 0.19 to 0.86 in all
			for name, say := range map[string]func(draws) string{
				"contract": contract, "step": protocol(step), "native": protocol(native), "text": protocol(texting(request)), "plan": protocol(planning(request)),
			} {
				require.Equal(t, want, say(form) != say(none), "form: %s, %s, trial %d", name, request, trial)
				if name != "plan" { // has slips of planning only
					require.Equal(t, want, say(decision) != say(none), "decision: %s, %s, trial %d", name, request, trial)
				}
			}
		}
	}
	require.Greater(t, hard, 10)
	require.Less(t, hard, 30)
}

// TestSpreadKeepsTheMean: over many tasks a model slips as often as its table says.
func TestSpreadKeepsTheMean(t *testing.T) {
	requests := countsOfDays(4000)
	for _, p := range profiles {
		form, decision, times := 0, 0, 0.0
		for _, request := range requests {
			f, d := firstTurn(t, p, request, 0)
			times += timesIn(p, request) / float64(len(requests))
			if f {
				form++
			}
			if d {
				decision++
			}
		}
		require.InDelta(t, 1, times, 0.06, p.name)
		requireRate(t, p.name+": form", form, len(requests), totalRate(p.format))
		// Neither a repeated call nor a guess of today's date fits a first turn about a
		// fixed day, and what is cut off shows no decision.
		want := totalRate(p.decision) - rateOf(p, repeatCall) - rateOf(p, skipToday)
		requireRate(t, p.name+": decision", decision, len(requests), want)
		for _, total := range []float64{totalRate(p.format), totalRate(p.decision), totalRate(p.native), totalRate(p.text), totalRate(p.planning)} {
			require.LessOrEqual(t, total*p.spread.times, 1.0, "%s: a rate above 1 would be cut off and lower the mean", p.name)
		}
		require.LessOrEqual(t, p.spread.hard*p.spread.times, 1.0, p.name)
	}
}

// TestTrialsOfATaskCorrelate: outputs that fail fail in the same tasks, but for a
// profile without a spread.
func TestTrialsOfATaskCorrelate(t *testing.T) {
	for name, least := range map[string]float64{"sim-erratic": 0.08, "sim-weak": 0.15} {
		p, _ := profileFor(name)
		even := p
		even.spread = spread{}
		with, without := correlation(t, p), correlation(t, even)
		t.Logf("%s: intra-task correlation of first outputs %.3f, without a spread %.3f", name, with, without)
		require.Greater(t, with, least, name)
		require.InDelta(t, 0, without, 0.05, name)
	}
}

// correlation is the intra-task correlation of failed first outputs over trials, by
// analysis of variance: (B − W) / (B + (k−1)·W) of the mean squares between and within
// tasks of k trials.
func correlation(t *testing.T, p profile) float64 {
	t.Helper()
	const tasks, trials = 200, 10
	var sum, squares float64
	for _, request := range countsOfDays(tasks) {
		failed := 0.0
		for trial := range trials {
			if form, decision := firstTurn(t, p, request, trial); form || decision {
				failed++
			}
		}
		sum += failed
		squares += failed * failed / trials
	}
	between := (squares - sum*sum/(tasks*trials)) / (tasks - 1)
	within := (sum - squares) / (tasks * (trials - 1)) // the square of 0 or 1 is itself
	return (between - within) / (between + (trials-1)*within)
}
