package evidence_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/stat"
)

var (
	thin = flag.Int("thin", 1, "with CUPEL_EVIDENCE=1, draw one in so many suites")
)

// answer is the result of one method for one synthetic suite. The zero value means no
// result: the suite does not count.
type answer int

const (
	no answer = iota + 1
	yes
)

func is(so bool) answer {
	if so {
		return yes
	}
	return no
}

// outcome has the answers of the earlier and the current method to the question that a
// claim counts.
type outcome struct{ old, new answer }

// claim is a promise about a rate.
type claim struct {
	name string
	// atMost or atLeast is the promise; the other one is 0. never means that atMost is
	// 0.
	atMost, atLeast float64
	never           bool
	// breaks is the reason why the promise is not kept in this setting. The simulation
	// must then show that it is not.
	breaks string
}

func (c claim) promise() string {
	switch {
	case c.breaks != "":
		return "**not kept**: " + c.breaks
	case c.never:
		return "never"
	case c.atLeast == 1:
		return "always"
	case c.atLeast > 0:
		return fmt.Sprintf("≥ %.4g%%", 100*c.atLeast)
	}
	return fmt.Sprintf("≤ %.3g%%", 100*c.atMost)
}

// kept reports whether hits of n are compatible with the promise.
func (c claim) kept(n rate) bool {
	iv, ok := stat.ClopperPearson(n.hits, n.n, 0.99)
	if c.atLeast > 0 {
		return ok && iv.High >= c.atLeast
	}
	return ok && iv.Low <= c.atMost
}

// simulation draws suites of one setting. draw returns an outcome for each claim. With
// several cases the worst rate counts, and the best is listed with it.
type simulation struct {
	setting string
	claims  []claim
	cases   []func(rng *rand.Rand) []outcome
	// suites is the number of draws of each case with CUPEL_EVIDENCE=1; 0 means 10,000.
	suites int
}

func one(draw func(rng *rand.Rand) []outcome) []func(rng *rand.Rand) []outcome {
	return []func(*rand.Rand) []outcome{draw}
}

// draws returns how often each case is drawn: 10,000 times for evidence, and 1 in 400
// of that or fewer otherwise.
func (s *simulation) draws() int {
	n := s.suites
	if n == 0 {
		n = 10_000
	}
	if testkit.Evidence() {
		return max(1, n / *thin)
	}
	return max(1, n/testkit.SlowN(1000, 400))
}

// rate is the number of hits in n draws.
type rate struct{ hits, n int }

func (r *rate) add(a answer) {
	if a != 0 {
		r.n++
	}
	if a == yes {
		r.hits++
	}
}

func (r rate) share() float64 { return float64(r.hits) / float64(r.n) }

// String returns the rate in percent with its 99% interval, or a dash if n is 0.
func (r rate) String() string {
	if r.n == 0 {
		return "–"
	}
	iv, _ := stat.ClopperPearson(r.hits, r.n, 0.99)
	return fmt.Sprintf("%.1f (%.1f–%.1f)", 100*r.share(), 100*iv.Low, 100*iv.High)
}

// worse reports whether a is further than b on the side that breaks c's promise.
func (c claim) worse(a, b rate) bool {
	if a.n == 0 || b.n == 0 {
		return b.n == 0 && a.n > 0
	}
	return a.share() != b.share() && (a.share() > b.share()) == (c.atLeast == 0)
}

// row is a line of the table.
type row struct {
	claim
	setting         string
	old, new, other rate // the worst rate of each method; other is the best of the current one
	suites          int
}

// heading has the first lines of the table.
const heading = `| promise | setting | promised | before: measured, % | now: measured, % | suites |
|---|---|---|---|---|---|
`

func (r row) String() string {
	measured := r.new.String()
	if r.other != r.new && r.other.n > 0 {
		measured += fmt.Sprintf("; up to %.1f", 100*r.other.share())
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", r.name, r.setting, r.promise(), r.old, measured, thousands(r.suites))
}

func thousands(n int) string {
	if n >= 1000 {
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return fmt.Sprint(n)
}

// rows runs a simulation. Suite i of a case is the same for any number of draws.
func (s *simulation) rows() []row {
	list := make([]row, len(s.claims))
	for i, c := range s.claims {
		list[i] = row{claim: c, setting: s.setting, suites: s.draws() * len(s.cases)}
	}
	for k, draw := range s.cases {
		old, newer := make([]rate, len(s.claims)), make([]rate, len(s.claims))
		for i := range s.draws() {
			for j, o := range draw(rand.New(rand.NewPCG(uint64(i), seed(s.setting, k)))) {
				old[j].add(o.old)
				newer[j].add(o.new)
			}
		}
		for j, c := range s.claims {
			r := &list[j]
			if c.worse(old[j], r.old) {
				r.old = old[j]
			}
			if c.worse(newer[j], r.new) {
				r.new = newer[j]
			}
			if c.atLeast > 0 && (r.other.n == 0 || newer[j].share() > r.other.share()) {
				r.other = newer[j]
			}
		}
	}
	return list
}

// seed is a hash of a setting and case (FNV-1a).
func seed(setting string, k int) uint64 {
	h := uint64(14695981039346656037) + uint64(k)
	for i := range len(setting) {
		h = (h ^ uint64(setting[i])) * 1099511628211
	}
	return h
}

// TestSimulationPromises runs every simulation and asks that each promise is kept, and
// that one which is said not to be is not. It prints the table of docs/evidence.md with
// CUPEL_EVIDENCE=1, and writes it there with -update; in passing it checks that the page
// has these rows.
func TestSimulationPromises(t *testing.T) {
	all := simulations()
	rows := make([][]row, len(all))
	var done sync.WaitGroup
	t.Run("simulation", func(t *testing.T) {
		for i := range all {
			done.Add(1)
			t.Run(strings.ReplaceAll(all[i].setting, "/", "∕"), func(t *testing.T) {
				t.Parallel()
				defer done.Done()
				rows[i] = all[i].rows()
				for _, r := range rows[i] {
					t.Log(r)
					require.Positive(t, r.new.n, "%s: nothing was counted", r.name)
					switch {
					case r.breaks == "":
						require.True(t, r.kept(r.new), "%s: %s is not kept", r.name, r.promise())
					case testkit.Evidence() && *thin == 1:
						require.False(t, r.kept(r.new), "%s is kept after all", r.name)
					}
				}
			})
		}
	})
	done.Wait()
	pageOf(t, table(rows))
}

// table lists the rows. Rows of one promise are together, in the order of the first.
func table(rows [][]row) string {
	var order []string
	by := map[string][]row{}
	for _, list := range rows {
		for _, r := range list {
			if !slices.Contains(order, r.name) {
				order = append(order, r.name)
			}
			by[r.name] = append(by[r.name], r)
		}
	}
	var b strings.Builder
	b.WriteString(heading)
	for _, name := range order {
		for _, r := range by[name] {
			b.WriteString(r.String())
		}
	}
	return b.String()
}

// The table is between these two lines of the page.
const (
	page  = "../../../docs/evidence.md"
	begin = "<!-- make evidence: the table up to the next comment is generated -->\n"
	end   = "<!-- end of the generated table -->\n"
)

// pageOf compares the table with the one on the page: for evidence byte by byte,
// otherwise without the measured rates.
func pageOf(t *testing.T, table string) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok, "%s: line %q is missing", page, begin)
	now, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "%s: line %q is missing", page, end)
	if !testkit.Evidence() {
		require.Equal(t, promises(now), promises(table), "run make evidence, and this test with -update")
		return
	}
	fmt.Print(table)
	if testkit.Update() {
		require.NoError(t, os.WriteFile(page, []byte(before+begin+table+end+after), 0o644))
		return
	}
	require.Equal(t, now, table, "run this test with CUPEL_EVIDENCE=1 and -update")
}

// promises returns the first three cells of each line.
func promises(table string) (list []string) {
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		list = append(list, strings.Join(cells[:min(3, len(cells))], " | "))
	}
	return list
}
