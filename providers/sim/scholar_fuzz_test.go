package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzScholar: whatever stands in a prompt, there is something to do, twice the same,
// and a plan and every slip besides; nothing panics.
func FuzzScholar(f *testing.F) {
	f.Add("How tall is Ash Point?", foundAsh+"\n"+readAsh, "known: a.height_m=1", `["a"]`, "Ash Point is tall.", uint64(3))
	f.Add("Which of the \"three\" tallest lights in the 1880s by the designer of the designer of it?", "", "", "{", "", uint64(1))
	f.Add("how many more than than than 40 or more between 3 and or before", orderedAsh, "hits ? of \"\": ", `{"query":"x"}`, "It", uint64(9))
	f.Add("Whose lights, North's or South's, are older than \"\" on average?\n\nINPUT a:\n[", "user reply: turn 1 asked <data>x</data> answered <data>It of of.</data>", "known: ", `[{"id":"x","height_m":null}]`, "", uint64(7))
	for _, c := range questions {
		f.Add(c.request, foundPair+"\n"+readBell, "", `"x"`, "", uint64(len(c.request)))
	}
	f.Fuzz(func(t *testing.T, request, entries, plan, given, earlier string, detail uint64) {
		pr := prompt{
			request: request, plan: plan, entries: strings.Split(entries, "\n"), tools: libraryTools(),
			given: []handed{{"x", given}, {theItem, given}}, reflect: detail&1 == 0, trusting: detail&2 == 0,
		}
		if earlier != "" {
			pr.earlier = []exchange{{request, earlier}, {earlier, request}}
		}
		acts := newScholar(careful(), pr).acts()
		require.NotEmpty(t, acts)
		require.Equal(t, acts, newScholar(careful(), pr).acts())
		for _, a := range acts {
			require.True(t, a.kind != useTool || len(acts) >= 1 && a.message == "")
			require.True(t, a.kind == useTool || a.message != "", "%+v", a)
			require.LessOrEqual(t, len(a.plan), 20_000)
		}
		require.NotEmpty(t, newScholar(careful(), pr).steps())
		for _, slip := range []decisionSlip{wrongLabel, offByOne, repeatCall, needlessClarify, skipToday, inventNumber} {
			s := newScholar(careful(), pr)
			s.misjudge(slip, s.acts()[0], detail)
		}
	})
}

// renamed is a shelf whose lights, coasts and designers have other names and figures,
// in another order.
func renamed(seed uint64) (*shelf, func(string) string) {
	r := rand.New(rand.NewPCG(seed, 1))
	names := []string{"Ash Point", "Bell Rock", "Crow Ness", "Dun Head", "Eel Isle", "Fox Bar", "Goat Bay", "Hawk Reef", "Ibis Quay", "Jay Ledge", "Kite Sand", "Ida Morn", "Per Holt", "Una Frost"}
	fresh := []string{"Velk Stone", "Myre Hook", "Torr Bank", "Quill Spit", "Wren Cape", "Lorn Shoal", "Skaal Ness", "Pell Mouth", "Orr Skerry", "Thistle Head", "Zant Mole", "Olga Brandt", "Hugo Nilsen", "Mira Sand"}
	r.Shuffle(len(fresh), func(i, j int) { fresh[i], fresh[j] = fresh[j], fresh[i] })
	var pairs []string
	for i, n := range names {
		pairs = append(pairs, n, fresh[i], strings.ToLower(strings.ReplaceAll(n, " ", "-")), strings.ToLower(strings.ReplaceAll(fresh[i], " ", "-")),
			"Old "+strings.Fields(n)[0], "Old "+strings.Fields(fresh[i])[0])
	}
	rename := strings.NewReplacer(pairs...).Replace
	s := newShelf()
	r.Shuffle(len(s.scrolls), func(i, j int) { s.scrolls[i], s.scrolls[j] = s.scrolls[j], s.scrolls[i] })
	for i := range s.scrolls {
		d := &s.scrolls[i]
		d.id, d.title, d.text = rename(d.id), rename(d.title), rename(d.text)
		d.fields["designer"] = rename(fmt.Sprint(d.fields["designer"]))
	}
	return s, rename
}

// TestScholarKnowsNoLight: with other names in another order the answers have those
// names, and are else the same.
func TestScholarKnowsNoLight(t *testing.T) {
	for seed := range uint64(8) {
		s, rename := renamed(seed)
		for _, c := range questions {
			if strings.Contains(c.want, " and ") {
				continue // a list, in the order found
			}
			a, _ := inquire(t, s.run, prompt{request: rename(c.request)}, 50)
			requireSays(t, a.message, rename(c.want), rename(c.not))
		}
	}
}

// TestScholarFollowsTheFigures: with other figures the answers are theirs.
func TestScholarFollowsTheFigures(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for range 60 {
		s := newShelf()
		type light struct {
			name           string
			height, built  int
			designer, side string
		}
		var lights []light
		for i := range s.scrolls {
			f := s.scrolls[i].fields
			// Different figures: no ties.
			l := light{name: strings.TrimSuffix(s.scrolls[i].title, " lighthouse"), height: 10 + 3*i + r.IntN(3), built: 1840 + 5*i + r.IntN(5)}
			l.designer, l.side = fmt.Sprint(f["designer"]), fmt.Sprint(f["region"])
			lights = append(lights, l)
		}
		r.Shuffle(len(lights), func(i, j int) {
			lights[i].height, lights[j].height = lights[j].height, lights[i].height
			lights[i].built, lights[j].built = lights[j].built, lights[i].built
		})
		sum, early := 0, 0
		limit := 1840 + r.IntN(60)
		var north []light
		for i, l := range lights {
			s.scrolls[i].fields["height_m"], s.scrolls[i].fields["built"] = l.height, l.built
			if l.side == "north coast" {
				north = append(north, l)
				if l.built < limit {
					early++
				}
			}
			if l.designer == "Una Frost" {
				sum += l.height
			}
		}
		slices.SortFunc(north, func(a, b light) int { return b.height - a.height })
		say := func(request string) string {
			a, _ := inquire(t, s.run, prompt{request: request}, 1+r.IntN(8))
			return a.message
		}
		require.Contains(t, say("Which lighthouse on the north coast is the tallest?"), fmt.Sprintf("%s: height %d metres", north[0].name, north[0].height))
		require.Contains(t, say("Which lighthouse on the north coast is the shortest?"), fmt.Sprintf("%s: height %d metres", north[4].name, north[4].height))
		require.Contains(t, say("Who designed the second tallest lighthouse on the north coast?"), fmt.Sprintf("%s was designed by %s", north[1].name, north[1].designer))
		require.Contains(t, say("What is the total height of the lighthouses designed by Una Frost?"), fmt.Sprintf("is %d metres", sum))
		require.Contains(t, say(fmt.Sprintf("How many lighthouses on the north coast were built before %d?", limit)), fmt.Sprintf("is %d", early))
	}
}

// TestScholarOutlastsFailures: tools that fail now and then cost calls, not answers.
func TestScholarOutlastsFailures(t *testing.T) {
	for _, c := range questions {
		s := newShelf()
		s.fails = map[string]int{searchTool: 1, extractTool: 1, openTool: 1, compareTool: 1}
		a, _ := inquire(t, s.run, prompt{request: c.request}, 50)
		requireSays(t, a.message, c.want, c.not)
	}
	s := newShelf()
	s.fails = map[string]int{extractTool: 1000}
	a, _ := inquire(t, s.run, prompt{request: "Which lighthouse on the north coast is the tallest?"}, 50)
	require.True(t, a.stuck)
	require.LessOrEqual(t, len(s.calls), 1+5*maxAttempts)
}

// BenchmarkScholar measures one decision in the middle of a fan-out: a request, a
// search and seven values to read. The floor is the reading of those lines: nine
// small JSON texts.
func BenchmarkScholar(b *testing.B) {
	pr := prompt{request: "Who designed the tallest lighthouse on the north coast?", tools: libraryTools(), entries: []string{foundPair, readAsh}}
	for i := range 7 {
		pr.entries = append(pr.entries, strings.ReplaceAll(readBell, "bell-rock", fmt.Sprintf("bell-rock-%d", i)))
	}
	b.ReportAllocs()
	for b.Loop() {
		newScholar(careful(), pr).acts()
	}
}
