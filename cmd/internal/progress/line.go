package progress

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/batching"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/reports/words"
)

const (
	// rateWindow is how far back the rate looks, rateMost how many episodes.
	rateWindow = 30 * time.Second
	rateMost   = 256
	// rateFewest ended episodes in the window make a rate; with fewer it is that of
	// the whole run.
	rateFewest = 3
)

// rate is how fast episodes end.
type rate struct {
	begun time.Time
	at    []time.Time // when the last ones ended
	n     int         // all of them
}

func (p *rate) ended(now time.Time) {
	p.n++
	if len(p.at) == rateMost {
		p.at = append(p.at[:0], p.at[rateMost/2:]...)
	}
	p.at = append(p.at, now)
}

// rate is how many episodes end in a second; 0 before any has.
func (p *rate) rate(now time.Time) float64 {
	from, n := now.Add(-rateWindow), len(p.at)
	if p.n == n && from.Before(p.begun) {
		from = p.begun
	}
	for n > 0 && !p.at[len(p.at)-n].After(from) {
		n--
	}
	if n == len(p.at) && p.n > n { // older ones are forgotten
		from, n = p.at[0], n-1
	}
	if n < rateFewest {
		from, n = p.begun, p.n
	}
	if took := now.Sub(from); took > 0 {
		return float64(n) / took.Seconds()
	}
	return 0
}

// view is what there is to show of a run.
type view struct {
	harness.Progress
	now  time.Time
	rate float64 // episodes a second
	cap  int64   // on the cost, in nano-USD; 0 for none
}

// line is the state in at most so many columns: what matters least is left out.
func (v view) line(width int) string {
	parts := []string{v.round() + fmt.Sprintf("%d/%d", v.Done, v.Total), v.counts(), v.cost(), v.left(), v.batches(), v.flight(), v.rateText(), ""}
	left := width - utf8.RuneCountInString(parts[0])
	shown := [8]bool{true}
	for _, i := range []int{3, 2, 4, 1, 5, 6} { // time left, cost, batches, counts, in flight, rate
		need := utf8.RuneCountInString(parts[i]) + 3
		if shown[i] = parts[i] != "" && need <= left; shown[i] {
			left -= need
		}
	}
	if e := v.LastFailure; e != nil && left >= 18 { // enough to tell something
		parts[7] = clip.Fit(console.OneLine("last: "+e.TaskID+"/"+e.Candidate+" "+e.ErrorKind, left), left-3)
		shown[7] = true
	}
	var text []string
	for i, part := range parts {
		if shown[i] {
			text = append(text, part)
		}
	}
	return strings.Join(text, " · ")
}

// plain is the state as a line of a log.
func (v view) plain() string {
	return words.Join(" · ", v.head(), v.left(), v.batches(), v.flight(), v.rateText())
}

// sum is the last line of a run.
func (v view) sum(took time.Duration) string { return v.head() + " · " + brief(took) }

// head is what all plain lines have in common.
func (v view) head() string {
	return v.round() + fmt.Sprintf("%d/%d episodes · %s · %s", v.Done, v.Total, v.counts(), v.cost())
}

// counts are the results so far.
func (v view) counts() string {
	text := fmt.Sprintf("%d solved, %d failed", v.Outcomes.Solved, v.Outcomes.Failed)
	if n := v.Outcomes.WithoutResult(); n > 0 {
		text += fmt.Sprintf(", %d without result", n)
	}
	return text
}

// flight is what is in progress in this process, "" if nothing is, as where workers do it.
func (v view) flight() string {
	return words.Join(", ", some(v.InFlight, "in flight"), some(v.Admission.Waiting, "waiting"))
}

// some is "3 waiting", or "" for 0.
func some(n int, what string) string {
	if n == 0 {
		return ""
	}
	return words.Thousands(int64(n)) + " " + what
}

// batches is what waits for batches, "" if nothing does.
func (v view) batches() (text string) {
	sum := batching.Sum(v.Batches)
	if sum.Batches > 0 {
		noun := map[bool]string{true: "batch", false: "batches"}[sum.Batches == 1]
		text = fmt.Sprintf("%s in %d %s for %s", words.Plural(sum.Submitted, "request"), sum.Batches, noun, brief(max(0, v.now.Sub(sum.Since))))
	}
	return words.Join(", ", text, some(sum.Collected, "collected"))
}

// round says which round is in progress; it is "" in a run without rounds.
func (v view) round() string {
	if v.Rounds == 0 {
		return ""
	}
	return fmt.Sprintf("round %d/%d · ", v.Round, v.Rounds)
}

// cost is what was spent, with a cap all that counts towards it. A plus says that
// there is more whose price is unknown.
func (v view) cost() string {
	spent, of := v.CostNanoUSD, ""
	if v.cap > 0 {
		spent, of = v.Admission.Spent.CostNanoUSD, " of "+amount(v.cap)
	}
	text := "$" + amount(spent)
	if v.CostUnknown {
		text += "+"
	}
	return text + of
}

// amount is nano-USD as USD, with more digits of little money.
func amount(nano int64) string {
	if nano > 0 && nano < 1e9 {
		return fmt.Sprintf("%.4f", float64(nano)/1e9)
	}
	return fmt.Sprintf("%.2f", float64(nano)/1e9)
}

// rateText is the rate in words, "" while there is none.
func (v view) rateText() string {
	switch {
	case v.rate <= 0:
		return ""
	case v.rate >= 100:
		return fmt.Sprintf("%.0f/s", v.rate)
	case v.rate >= 1:
		return fmt.Sprintf("%.1f/s", v.rate)
	}
	return fmt.Sprintf("%.1f/min", v.rate*60)
}

// left is how long the rest takes at this rate, "" while there is none. It is rounded, so
// that it does not change with every episode.
func (v view) left() string {
	n := v.Total - v.Done
	if v.rate <= 0 || n <= 0 {
		return ""
	}
	seconds := float64(n) / v.rate
	if seconds < 1 || seconds > 1e7 { // too short to be read; or months: the rate says nothing yet
		return ""
	}
	unit := time.Second
	switch {
	case seconds > 600:
		unit = time.Minute
	case seconds > 60:
		unit = 10 * time.Second
	}
	return brief(max(unit, time.Duration(seconds*float64(time.Second)).Round(unit))) + " left"
}

// brief is a time as people say it: 40ms, 1.5s, 12s, 1m20s, 2h5m.
func brief(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return strings.Replace(d.Round(time.Second).String(), "m0s", "m", 1)
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
