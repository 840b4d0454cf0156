package night_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/internal/testkit/traffic"
	"github.com/cupel-eval/cupel/providers"
)

// amount is what a part of a night took.
type amount struct {
	turns    int64
	time     time.Duration
	inFlight int // the most requests in flight, for requests that are sent one by one
}

func (a *amount) add(b amount) {
	a.turns, a.time, a.inFlight = a.turns+b.turns, a.time+b.time, max(a.inFlight, b.inFlight)
}

// live sends the requests of so many episodes of one model through admission, with the time
// of the simulation.
func (n night) live(t *testing.T, rng *rand.Rand, episodes int) amount {
	a := traffic.Simulate(t, rng, traffic.Traffic{
		Episodes: episodes, Limits: admission.Limits{Concurrency: n.Concurrency, TokensPerMinute: n.TokensPerMinute},
		Request: admission.Request{Input: 4 * n.Tokens.Input, Output: n.Tokens.MaxOutput},
		Result:  admission.Result{Usage: providers.Usage{Reported: true, Input: n.Tokens.Input, Output: n.Tokens.Output}},
		Turns:   n.turns, Latency: n.Latency.draw,
	})
	return amount{a.Turns, a.Time, a.InFlight}
}

// batched lets every batch take a turn of each open episode. The batches of a round are in
// progress together, and the next round starts when the last one has ended.
func (n night) batched(rng *rand.Rand, episodes int) (a amount) {
	var open []int // the turns that are left of each open episode
	for episodes > 0 || len(open) > 0 {
		for ; episodes > 0 && len(open) < n.Batch.Open; episodes-- {
			open = append(open, n.turns(rng))
		}
		a.turns += int64(len(open))
		slowest := time.Duration(0)
		for range (len(open) + n.Batch.Items - 1) / n.Batch.Items {
			slowest = max(slowest, n.Batch.Turnaround.draw(rng))
		}
		a.time += slowest
		rest := open[:0]
		for _, turns := range open {
			if turns > 1 {
				rest = append(rest, turns-1)
			}
		}
		open = rest
	}
	return a
}

// plan is a way to spend the night.
type plan struct {
	name              string
	sequential, batch bool
}

var plans = []plan{
	{name: "all trials, requests one by one"},
	{name: "`--decide`", sequential: true},
	{name: "`--batch`", batch: true},
	{name: "`--decide --batch`", sequential: true, batch: true},
}

// total is what a whole night takes. Each model has a limit of its own, so the night ends
// with its slowest model.
type total struct {
	episodes, turns int64
	times           []time.Duration // of each model, in ascending order
	usd             float64
	inFlight        int
}

func (s total) slowest() time.Duration { return s.times[len(s.times)-1] }

// spend simulates the night. trials has the trials of each model at the ends of its rounds.
func (n night) spend(t *testing.T, p plan, trials [][]int) (sum total) {
	for model, rounds := range trials {
		rng := rand.New(rand.NewPCG(uint64(model), 1))
		var a amount
		before := 0
		for _, until := range rounds {
			episodes := n.Tasks * (until - before)
			before = until
			sum.episodes += int64(episodes)
			if p.batch {
				a.add(n.batched(rng, episodes))
			} else {
				a.add(n.live(t, rng, episodes))
			}
		}
		price := n.cost()
		if p.batch {
			price *= n.Batch.Discount
		}
		sum.turns += a.turns
		sum.times = append(sum.times, a.time)
		sum.usd += float64(a.turns) * price
		sum.inFlight += a.inFlight
	}
	slices.Sort(sum.times)
	return sum
}

// table simulates all plans.
func (n night) table(t *testing.T) (text string, totals []total) {
	var b strings.Builder
	b.WriteString("| plan | episodes | requests | hours | hours of the median model | USD | in flight at most |\n|---|---|---|---|---|---|---|\n")
	decided := n.decide(t)
	for _, p := range plans {
		trials := decided
		if !p.sequential {
			trials = make([][]int, n.Models)
			for i := range trials {
				trials[i] = []int{n.Trials}
			}
		}
		sum := n.spend(t, p, trials)
		totals = append(totals, sum)
		inFlight := "–"
		if sum.inFlight > 0 {
			inFlight = "about " + thousands(int64(sum.inFlight+50)/100*100) // the last digits depend on goroutines
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %.1f | %.1f | %s | %s |\n", p.name,
			thousands(sum.episodes), thousands(sum.turns), sum.slowest().Hours(), sum.times[n.Models/2].Hours(), thousands(int64(sum.usd)), inFlight)
	}
	return b.String(), totals
}

// thousands writes a number with its groups apart.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

const (
	begin = "<!-- night -->\n"
	end   = "<!-- end of night -->"
)

// TestNight simulates a smaller night. With CUPEL_EVIDENCE it simulates all of it and checks
// the table of docs/scale.md, or with -update writes it.
func TestNight(t *testing.T) {
	n := inputs(t)
	if !testkit.Evidence() {
		n = n.smaller(testkit.SlowN(600, 200))
	}
	if table := n.requireNight(t); testkit.Evidence() {
		requireTable(t, table)
	}
}

// TestRoundsSaveTrials simulates a night with enough tasks to decide models early.
func TestRoundsSaveTrials(t *testing.T) {
	testkit.Slow(t)
	inputs(t).smaller(20).requireNight(t)
}

func (n night) requireNight(t *testing.T) (table string) {
	t.Helper()
	table, totals := n.table(t)
	t.Logf("\n%s", table)
	plain, sequential, batch, both := totals[0], totals[1], totals[2], totals[3]
	require.Equal(t, int64(n.Tasks*n.Models*n.Trials), plain.episodes)
	least := float64(plain.turns) / float64(n.Models) * float64(n.Tokens.Input+n.Tokens.Output) / float64(n.TokensPerMinute) / 60
	require.InDelta(t, 1, plain.times[n.Models/2].Hours()/least, 0.1, "the limit of tokens decides, and admission uses it up")
	require.InDelta(t, plain.usd*n.Batch.Discount, batch.usd, plain.usd*0.02)
	require.LessOrEqual(t, sequential.usd, plain.usd)
	require.Less(t, both.usd, batch.usd)
	if n.Tasks >= 500 { // fewer tasks decide little
		require.Less(t, sequential.episodes, plain.episodes*2/3)
	}
	return table
}

// requireTable compares the table with that of the page, or writes it there.
func requireTable(t *testing.T, table string) {
	t.Helper()
	const page = "../../../docs/scale.md"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok, "%s has no line %s", page, begin)
	old, tail, ok := strings.Cut(rest, end)
	require.True(t, ok, "%s has no line %s", page, end)
	if testkit.Update() {
		require.NoError(t, os.WriteFile(page, []byte(head+begin+table+end+tail), 0o644))
		return
	}
	require.Equal(t, old, table, "run this test with CUPEL_EVIDENCE=1 and -update")
}
