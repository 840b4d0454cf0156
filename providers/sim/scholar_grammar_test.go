package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// A grammar of requests: each is put together of a group, what is asked of it, and
// words for both, together with its answer, which is worked out from the shelf
// itself.

// circle is some of the lights, in words.
type circle struct {
	words []string
	holds func(d scroll) bool
}

// ranking is a way to be the first, in words that follow "Which light … is" and that
// come before "lighthouse".
type ranking struct {
	field   string
	high    bool
	is, the string
}

func groupsOf(s *shelf) (out []circle) {
	var coasts, designers []string
	for _, d := range s.scrolls {
		coast, designer := fmt.Sprint(d.fields["region"]), fmt.Sprint(d.fields["designer"])
		if !slices.Contains(coasts, coast) {
			coasts = append(coasts, coast)
		}
		if !slices.Contains(designers, designer) {
			designers = append(designers, designer)
		}
	}
	for _, coast := range coasts {
		side := strings.TrimSuffix(coast, " coast")
		out = append(out, circle{
			[]string{"on the " + coast, "in the " + side, "on the " + side + "ern shore", "of the " + coast},
			func(d scroll) bool { return d.fields["region"] == coast },
		})
	}
	for _, name := range designers {
		out = append(out, circle{
			[]string{"designed by " + name, "by " + name, "that " + name + " designed"},
			func(d scroll) bool { return d.fields["designer"] == name },
		})
	}
	return out
}

var rankings = []ranking{
	{"height_m", true, "is the tallest", "tallest"},
	{"height_m", true, "is the highest", "highest"},
	{"height_m", false, "is the shortest", "shortest"},
	{"height_m", false, "is the lowest", "lowest"},
	{"range_nm", true, "has the longest range", "farthest-reaching"},
	{"range_nm", true, "reaches the farthest", "most powerful"},
	{"range_nm", false, "has the shortest range", "weakest"},
	{"built", false, "is the oldest", "oldest"},
	{"built", false, "was built first", "oldest"},
	{"built", true, "is the newest", "newest"},
	{"built", true, "was built last", "most recent"},
}

// asks are questions for a field of one light, with a gap for the light.
var asks = []struct{ words, field string }{
	{"Who designed %s?", "designer"},
	{"Who is the designer of %s?", "designer"},
	{"When was %s built?", "built"},
	{"In what year was %s completed?", "built"},
	{"How tall is %s?", "height_m"},
	{"What is the height of %s?", "height_m"},
	{"What is the range of %s?", "range_nm"},
	{"How far does %s reach?", "range_nm"},
	{"When was %s automated?", "automated"},
	{"On which coast is %s?", "region"},
}

// inGroup are the lights of a group that have a figure, the first by a ranking first.
func inGroup(s *shelf, g circle, r ranking) []scroll {
	var out []scroll
	for _, d := range s.scrolls {
		if _, has := d.fields[r.field].(int); has && g.holds(d) {
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b scroll) int {
		by := a.fields[r.field].(int) - b.fields[r.field].(int)
		if r.high {
			return -by
		}
		return by
	})
	return out
}

func nameIn(d scroll) string { return strings.TrimSuffix(d.title, " lighthouse") }

// figures gives all lights figures of their own, so that nothing is equal.
func figures(s *shelf, r *rand.Rand) {
	for _, field := range []string{"height_m", "range_nm", "built"} {
		from := map[string]int{"height_m": 14, "range_nm": 7, "built": 1840}[field]
		for i, n := range r.Perm(len(s.scrolls)) {
			s.scrolls[i].fields[field] = from + 3*n + r.IntN(3)
		}
	}
}

// TestScholarByGrammar answers requests that are put together at random.
func TestScholarByGrammar(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	one := func(list []string) string { return list[r.IntN(len(list))] }
	var wrong []string
	expect := func(s *shelf, request, want, not string) {
		a, turns := inquire(t, s.run, prompt{request: request}, 1+99*r.IntN(2))
		require.Less(t, turns, 25, request)
		if a.stuck || !says(a.message, want, not) {
			wrong = append(wrong, fmt.Sprintf("%s\n\t%s\n\twant %s but not %s", request, a.message, want, not))
		}
	}
	for range testkit.Long(12, 40) {
		s := newShelf()
		figures(s, r)
		all := groupsOf(s)
		for _, g := range all {
			words, rank := one(g.words), rankings[r.IntN(len(rankings))]
			lights := inGroup(s, g, rank)
			best := lights[0]

			request := fmt.Sprintf("Which %s %s %s?", one([]string{"lighthouse", "light", "of the lighthouses", "of the lights"}), words, rank.is)
			expect(s, request, fmt.Sprintf("%s: |%d", nameIn(best), best.fields[rank.field]), nameIn(lights[1]))

			ask := asks[r.IntN(len(asks))]
			want := fmt.Sprint(best.fields[ask.field])
			if best.fields[ask.field] == nil {
				want = "not recorded"
			}
			request = fmt.Sprintf(ask.words, "the "+rank.the+" lighthouse "+words)
			expect(s, request, nameIn(best)+"|"+want, "")

			field := one([]string{"height", "range"})
			key := map[string]string{"height": "height_m", "range": "range_nm"}[field]
			sum := 0
			for _, d := range lights {
				sum += d.fields[key].(int)
			}
			request = fmt.Sprintf("What is the %s %s of the lighthouses %s?", one([]string{"total", "combined"}), field, words)
			expect(s, request, fmt.Sprintf(" is %d ", sum), "")
			request = fmt.Sprintf("What is the %s %s of the lights %s?", one([]string{"average", "mean"}), field, words)
			expect(s, request, " is "+spell(round(float64(sum)/float64(len(lights))))+" ", "")

			limit := 1840 + r.IntN(40)
			before := 0
			for _, d := range lights {
				if d.fields["built"].(int) < limit {
					before++
				}
			}
			request = fmt.Sprintf("How many %s %s were built %s %d?", one([]string{"lighthouses", "lights"}), words, one([]string{"before", "prior to"}), limit)
			expect(s, request, fmt.Sprintf(" is %d", before), "")

			two := []scroll{s.scrolls[r.IntN(5)], s.scrolls[5+r.IntN(5)]}
			slices.SortFunc(two, func(a, b scroll) int { return b.fields["height_m"].(int) - a.fields["height_m"].(int) })
			pair := []string{nameIn(two[0]), nameIn(two[1])}
			r.Shuffle(2, func(i, j int) { pair[i], pair[j] = pair[j], pair[i] })
			request = fmt.Sprintf("Which is %s, %s or %s?", one([]string{"taller", "higher"}), pair[0], pair[1])
			expect(s, request, nameIn(two[0]), nameIn(two[1]))
			request = fmt.Sprintf("How much taller is %s than %s?", nameIn(two[0]), nameIn(two[1]))
			expect(s, request, fmt.Sprintf("difference in height is %d metres", two[0].fields["height_m"].(int)-two[1].fields["height_m"].(int)), "")
		}
		a, b := all[0], all[1+r.IntN(2)]
		mean := func(g circle) float64 {
			sum, n := 0, 0
			for _, d := range inGroup(s, g, rankings[0]) {
				sum, n = sum+d.fields["height_m"].(int), n+1
			}
			return round(float64(sum) / float64(n))
		}
		if mean(a) < mean(b) {
			a, b = b, a
		}
		sides := []string{strings.TrimPrefix(a.words[1], "in the "), strings.TrimPrefix(b.words[1], "in the ")}
		request := fmt.Sprintf("Which coast has the higher average height, %s or %s?", sides[r.IntN(2)], sides[0])
		if strings.Contains(request, sides[0]+" or "+sides[0]) {
			request = fmt.Sprintf("Which coast has the higher average height, %s or %s?", sides[0], sides[1])
		}
		if mean(a) != mean(b) && strings.Contains(request, sides[1]) {
			expect(s, request, upperFirst(sides[0])+" coast, with "+spell(mean(a)), sides[1])
		}
	}
	require.Empty(t, wrong, "%s", strings.Join(wrong, "\n"))
}

// TestPlansByGrammar: the same by plans.
func TestPlansByGrammar(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 12 {
		s := newShelf()
		figures(s, r)
		for _, g := range groupsOf(s) {
			words, rank, ask := g.words[r.IntN(len(g.words))], rankings[r.IntN(len(rankings))], asks[r.IntN(len(asks))]
			best := inGroup(s, g, rank)[0]
			want := fmt.Sprint(best.fields[ask.field])
			if best.fields[ask.field] == nil {
				want = "not recorded"
			}
			request := fmt.Sprintf(ask.words, "the "+rank.the+" lighthouse "+words)
			steps := newScholar(careful(), prompt{request: request, tools: libraryTools()}).steps()
			require.GreaterOrEqual(t, len(steps), 3, request)
			a := follow(t, s.run, steps, nil)
			require.True(t, says(a.message, nameIn(best)+"|"+want, ""), "%s\n%s", request, a.message)
		}
	}
}

// TestVocabulary: a phrase has one role, however the tables are walked through, and
// is short enough to be found.
func TestVocabulary(t *testing.T) {
	phrases := 0
	for r, table := range researchWords {
		require.Zero(t, len(table)%2, "role %d", r)
		for i := 1; i < len(table); i += 2 {
			for phrase := range strings.SplitSeq(table[i], "|") {
				require.LessOrEqual(t, len(cutPieces(phrase)), longestPhrase, phrase)
				require.Equal(t, r, researchLexicon[phrase].role, phrase)
				require.Zero(t, numberWords[phrase], phrase)
				phrases++
			}
		}
	}
	require.Len(t, researchLexicon, phrases, "no phrase twice")
}
