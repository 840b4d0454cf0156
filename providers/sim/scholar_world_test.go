package sim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// A small library with the four tools, and the loops that agents make around it.

// scroll is a document.
type scroll struct {
	id, title, text string
	fields          map[string]any
}

// shelf is the library.
type shelf struct {
	scrolls []scroll
	// fails says how often each tool fails at first.
	fails map[string]int
	calls []string
}

// lightAt makes a document; a nil value is not recorded.
func lightAt(id, name, coast, designer string, built, height, reach, automated any) scroll {
	return scroll{
		id: id, title: name + " lighthouse",
		text:   fmt.Sprintf("A tower on the %s, the work of %s. Its last keeper was Old %s, who wrote a diary.", coast, designer, strings.Fields(name)[0]),
		fields: map[string]any{"region": coast, "designer": designer, "built": built, "height_m": height, "range_nm": reach, "lamp": "gas", "automated": automated},
	}
}

// newShelf has eleven lights of a coast that does not exist.
func newShelf() *shelf {
	return &shelf{fails: map[string]int{}, scrolls: []scroll{
		lightAt("ash-point", "Ash Point", "north coast", "Ida Morn", 1868, 41, 20, 1984),
		lightAt("bell-rock", "Bell Rock", "north coast", "Per Holt", 1874, 33, 18, 1979),
		lightAt("crow-ness", "Crow Ness", "north coast", "Ida Morn", 1902, 52, 21, 1991),
		lightAt("dun-head", "Dun Head", "north coast", "Una Frost", 1859, 28, 16, nil),
		lightAt("eel-isle", "Eel Isle", "north coast", "Una Frost", 1881, 36, 17, 1986),
		lightAt("fox-bar", "Fox Bar", "south coast", "Per Holt", 1888, 29, 17, 1983),
		lightAt("goat-bay", "Goat Bay", "south coast", "Ida Morn", 1864, 62, 15, 1976),
		lightAt("hawk-reef", "Hawk Reef", "south coast", "Una Frost", 1911, 33, 24, 1993),
		lightAt("ibis-quay", "Ibis Quay", "west coast", "Ida Morn", 1891, 58, 22, 1990),
		lightAt("jay-ledge", "Jay Ledge", "west coast", "Per Holt", 1853, nil, 26, nil),
		lightAt("kite-sand", "Kite Sand", "west coast", "Una Frost", 1908, 45, 19, 1994),
	}}
}

func shelfWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// run executes a call and returns the verdict and the data of its line.
func (s *shelf) run(name, args string) (verdict, data string) {
	s.calls = append(s.calls, name+" "+args)
	if s.fails[name] > 0 {
		s.fails[name]--
		return "error E_UPSTREAM", "internal error"
	}
	var a struct {
		Query, ID, Field, Order string
		Limit                   int
		Items                   []struct {
			ID    string
			Value float64
		}
	}
	if json.Unmarshal([]byte(args), &a) != nil {
		return "error E_ARGS", "bad arguments"
	}
	at := slices.IndexFunc(s.scrolls, func(d scroll) bool { return d.id == a.ID })
	if (name == openTool || name == extractTool) && at < 0 {
		return "error E_NOT_FOUND", "there is no such document"
	}
	var value any
	switch name {
	case searchTool:
		value = s.search(a.Query, cmp.Or(a.Limit, 10))
	case openTool:
		value = obj{"id": a.ID, "title": s.scrolls[at].title, "text": s.scrolls[at].text}
	case extractTool:
		v := s.scrolls[at].fields[a.Field]
		out := obj{"id": a.ID, "field": a.Field, "value": v}
		if v == nil {
			out["note"] = "not recorded"
		}
		value = out
	case compareTool:
		slices.SortFunc(a.Items, func(x, y struct {
			ID    string
			Value float64
		}) int {
			if a.Order == "highest" {
				x, y = y, x
			}
			return cmp.Compare(x.Value, y.Value)
		})
		var ids []string
		for _, it := range a.Items {
			ids = append(ids, it.ID)
		}
		value = obj{"best": obj{"id": a.Items[0].ID, "value": a.Items[0].Value}, "ranking": ids}
	}
	out, _ := json.Marshal(value)
	return "ok", string(out)
}

func (s *shelf) search(query string, limit int) any {
	results := []any{}
	total := 0
	for _, d := range s.scrolls {
		text := d.title + " " + d.text
		for _, v := range d.fields {
			text += fmt.Sprint(" ", v)
		}
		if have := shelfWords(text); !slices.ContainsFunc(shelfWords(query), func(w string) bool { return !slices.Contains(have, w) }) {
			if total++; total <= limit {
				results = append(results, obj{"id": d.id, "title": d.title, "date": "2020-01-01"})
			}
		}
	}
	return obj{"query": query, "total": total, "results": results}
}

// libraryTools are the four tools.
func libraryTools() map[string]bool {
	return map[string]bool{searchTool: true, openTool: true, extractTool: true, compareTool: true}
}

// careful is a profile without slips of its own.
func careful() profile { p, _ := profileFor("sim-strong"); return p }

// runner executes a call and returns the verdict and the data of its line.
type runner func(name, args string) (verdict, data string)

// inquire works on a request until there is an answer: at most width calls a turn.
func inquire(t testing.TB, run runner, pr prompt, width int) (action, int) {
	t.Helper()
	return inquireWith(t, run, pr, width, []string{searchTool, openTool, extractTool, compareTool})
}

// inquireWith is inquire with these tools on offer.
func inquireWith(t testing.TB, run runner, pr prompt, width int, tools []string) (action, int) {
	t.Helper()
	pr.tools = map[string]bool{}
	for _, name := range tools {
		pr.tools[name] = true
	}
	for turn := 1; turn < 40; turn++ {
		acts := newScholar(careful(), pr).acts()
		require.NotEmpty(t, acts)
		if acts[0].kind != useTool {
			require.Len(t, acts, 1)
			return acts[0], turn
		}
		for _, a := range acts[:min(width, len(acts))] {
			args, err := json.Marshal(a.arguments())
			require.NoError(t, err)
			verdict, data := run(a.name, string(args))
			pr.entries = append(pr.entries, fmt.Sprintf("tool result: turn %d %s %s -> %s <data>%s</data>", turn, a.name, args, verdict, data))
		}
	}
	require.Fail(t, "no answer after 40 turns")
	return action{}, 0
}

// questions are requests of every form with what their answers must and must not say.
var questions = []struct{ request, want, not string }{
	{"How tall is the Ash Point lighthouse?", "Ash Point is 41 metres", ""},
	{"Who designed the Bell Rock lighthouse?", "Per Holt", ""},
	{"When was the lighthouse at Crow Ness built?", "1902", ""},
	{"What is the range of the Dun Head light?", "16 nautical miles", ""},
	{"Who was the last keeper of the Eel Isle lighthouse?", "Old Eel", ""},
	{"Which is taller, Ash Point or Bell Rock?", "Ash Point|41", "Bell Rock"},
	{"Which of Ash Point, Bell Rock and Dun Head was built first?", "Dun Head|1859", "Ash Point"},
	{"Which lighthouse on the north coast is the tallest?", "Crow Ness|52", "Ash Point"},
	{"Which light on the west coast has the longest range?", "Jay Ledge|26", "Ibis"},
	{"Which lighthouse in the south is the oldest?", "Goat Bay|1864", "Fox"},
	{"What is the total height of the lighthouses designed by Una Frost?", "142", ""},
	{"What is the average range of the lights on the south coast?", "18.67", ""},
	{"How many lighthouses are on the north coast?", "is 5", ""},
	{"Who designed the tallest lighthouse on the west coast?", "Ida Morn|Ibis Quay", ""},
	{"In what year was the light with the longest range in the south automated?", "1993", ""},
	{"List the heights of all lighthouses on the south coast.", "29|62|33|Fox Bar|Goat Bay|Hawk Reef", ""},
	{"How many lighthouses on the north coast were built before 1880?", "is 3", ""},
	{"Which lights designed by Ida Morn are taller than 50 metres?", "Crow Ness|Goat Bay|Ibis Quay", "Ash Point"},
	{"Which coast has the higher average height, north or south?", "South coast|41.33", ""},
	{"Which coast has the most lighthouses?", "North coast|5", ""},
	{"What is the height of the Jay Ledge lighthouse?", "height of Jay Ledge is not recorded", ""},
	{"What is the total height of the lights on the west coast?", "103|Jay Ledge", ""},
	{"How tall is the Moon Rock lighthouse?", "No lighthouse called Moon Rock", ""},
	{"How much taller is Crow Ness than Ash Point?", "11 metres", ""},
	{"Is Ash Point taller than Crow Ness?", "No.", "Yes"},
	{"Which lights on the north coast are taller than Eel Isle?", "Ash Point|Crow Ness", "Dun"},
	{"How many lighthouses did the designer of Bell Rock design?", "is 3", ""},
	{"Which of the lighthouses by the designer of Ash Point is the newest?", "Crow Ness|1902", "Ibis"},
	{"Which lighthouse on the north coast is the second tallest?", "Ash Point|41", "Crow"},
	{"Which lighthouses on the north coast were never automated?", "Dun Head", "Ash"},
	{"Bell Rock and Hawk Reef: which one is taller?", "Bell Rock and Hawk Reef are equal|33", ""},
	{"On which coast does Kite Sand stand?", "west coast", ""},
	{"Which was automated first, Fox Bar or Goat Bay?", "Goat Bay|1976", "Fox"},
	{"How many lighthouses are there?", "is 11", ""},
	{"Whose lighthouses have the longer average range, Ida Morn's or Per Holt's, and what is that average?", "Per Holt|20.33", "Ida"},
	{"Who designed more lighthouses, Ida Morn or Per Holt?", "Ida Morn|4", "Per"},
	{"Which is taller, Ash Point or Crow Ness, and by how much?", "Crow Ness|11 metres", "Ash"},
	{"Which lighthouse on the north coast is the oldest, and by how much?", "Dun Head|9 years", "Ash"},
	{"How many lights were built before the 1880s?", "is 5", ""},
	{"How many lights were built in the 1880s?", "is 2: Eel Isle and Fox Bar", ""},
	{"How many lights were built in the 19th century?", "is 8", ""},
	{"How many lights were built after the 19th century?", "is 3", ""},
	{"Who designed the newest light, and how tall is it?", "Hawk Reef|Una Frost|33 metres", ""},
	{"Which lights on the south coast are not taller than 40 metres?", "Fox Bar and Hawk Reef", "Goat"},
	{"Which lights on the north coast were not built before 1880?", "Crow Ness and Eel Isle", "Ash"},
	{"Which lights on the north coast are at most 36 metres tall?", "Bell Rock, Dun Head and Eel Isle", "Ash"},
	{"Which lights on the north coast are at least 36 metres tall?", "Ash Point, Crow Ness and Eel Isle", "Bell"},
	{"Which lights were built between 1870 and 1890?", "Bell Rock, Eel Isle and Fox Bar", "Ash"},
	{"Which lights on the north coast were built in 1881?", "Eel Isle", "Ash"},
	{"Which lights on the west coast have no recorded height?", "Jay Ledge", "Kite"},
	{"Which two lights on the north coast are the oldest?", "Ash Point|Dun Head", "Bell"},
	{"What are the three tallest lights?", "Goat Bay|Ibis Quay|Crow Ness", "Ash"},
	{"Which coast has the longer total range, north or south, and by how much?", "North coast|92|difference is 36", "South"},
	{"Is Hawk Reef taller than Jay Ledge?", "cannot be compared|Jay Ledge is not recorded", "Yes"},
	{"What is the total height of the lights on the east coast?", "None", "total"},
	{"What is the total height of the lights on the same coast as Fox Bar?", "124 metres", ""},
	{"Who designed more lights, Per Holt or Una Frost, and by how many?", "Una Frost|4", "Per"},
	{"Which coast has the longer average range, north or west, and by how much?", "West coast|22.33|3.93", "North"},
	{"Which coast has more lighthouses, south or west?", "equal|3", ""},
	{"Which is older, Bell Rock or Ash Point, and by how much?", "Ash Point|6 years", "Bell"},
	{"How many lights on the north coast were automated between 1979 and 1986?", "is 3", ""},
	{"Which lights on the west coast were automated?", "Ibis Quay and Kite Sand", "Jay"},
	{"Which lighthouse was automated last?", "Kite Sand|1994", "Hawk"},
	{"What is the total range of the lights that Per Holt designed on the north coast?", "18 nautical miles", ""},
	{"Which of the lights on the south coast that Ida Morn designed is the tallest?", "Goat Bay|62", "Ibis"},
	{"Which coast has the tallest lighthouse, north or west?", "Ibis Quay|west coast", "Crow"},
}

// requireSays holds an answer to what it must and must not say.
func requireSays(t testing.TB, got, want, not string) {
	t.Helper()
	for w := range strings.SplitSeq(want, "|") {
		require.Contains(t, got, w)
	}
	if not != "" {
		require.NotContains(t, got, not)
	}
}

// TestScholarAnswersEveryForm: all at once, and one call at a time.
func TestScholarAnswersEveryForm(t *testing.T) {
	for _, c := range questions {
		t.Run(c.request, func(t *testing.T) {
			for _, width := range []int{1, 50} {
				a, _ := inquire(t, newShelf().run, prompt{request: c.request}, width)
				require.Equal(t, respond, a.kind, a.message)
				requireSays(t, a.message, c.want, c.not)
			}
		})
	}
}

// TestPartOfAName: it is enough if only one document has it in its title.
func TestPartOfAName(t *testing.T) {
	s := newShelf()
	a, _ := inquire(t, s.run, prompt{request: "How tall is the lighthouse called Hawk?"}, 50)
	require.Contains(t, a.message, "Hawk Reef is 33 metres")
	s.scrolls = append(s.scrolls, lightAt("hawk-mole", "Hawk Mole", "west coast", "Per Holt", 1870, 20, 10, nil))
	a, _ = inquire(t, s.run, prompt{request: "How tall is the lighthouse called Hawk?"}, 50)
	require.True(t, a.stuck)
	require.Contains(t, a.message, "No lighthouse called Hawk")
}

// TestPronounsPointSomewhere: "it" may be the best of all, "them" must be somebody.
func TestPronounsPointSomewhere(t *testing.T) {
	for request, asks := range map[string]bool{
		"Who designed the oldest light, and how tall is it?": false,
		"Which of them is the tallest?":                      true,
		"How tall is it?":                                    true,
	} {
		acts := newScholar(careful(), prompt{request: request, tools: libraryTools()}).acts()
		require.Equal(t, asks, acts[0].kind == clarify, request)
	}
}

// TestSearchesFollowEachOther: a search for one, and then for another.
func TestSearchesFollowEachOther(t *testing.T) {
	before := []exchange{{`Search for "Una Frost".`, "Found."}}
	a, _ := inquire(t, newShelf().run, prompt{request: "And Ash Point?", earlier: before}, 50)
	require.Equal(t, `Found for "Ash Point": Ash Point.`, a.message)
}

// TestLongPromptsAreBounded: what costs more than its length is not read to its end;
// the latest is.
func TestLongPromptsAreBounded(t *testing.T) {
	pr := prompt{request: "How tall are the lights given?", tools: libraryTools()}
	for i := range 2 * maxEntries {
		pr.given = append(pr.given, handed{"x", fmt.Sprintf(`["light %d"]`, i)})
		pr.entries = append(pr.entries, fmt.Sprintf(`tool result: turn %d search {"query":"q%d"} -> ok <data>{"query":"q%d","total":1,"results":[{"id":"i%d"}]}</data>`, i, i, i, i))
		pr.earlier = append(pr.earlier, exchange{"How tall is Ash Point?", "41"})
	}
	s := newScholar(careful(), pr)
	require.Len(t, s.lib.given, maxGiven)
	require.Len(t, s.lib.found, maxEntries)
	require.Equal(t, fmt.Sprint("q", 2*maxEntries-1), s.lib.found[maxEntries-1].query)
	require.Len(t, s.acts(), maxGiven)
	require.LessOrEqual(t, len(s.steps()), maxGiven+1)
}

// TestMoreThanOneSearchShows: a question on all lights takes one search for each coast
// where there are too many for one; a light that is still not shown is owned up to.
func TestMoreThanOneSearchShows(t *testing.T) {
	s := newShelf()
	for i := range 14 {
		s.scrolls = append(s.scrolls, lightAt(fmt.Sprintf("more-%d", i), fmt.Sprintf("More %d", i), "east coast", "Per Holt", 1900+i, 10+i, 9, nil))
	}
	a, _ := inquire(t, s.run, prompt{request: "What is the combined height of all lighthouses?"}, 50)
	require.Contains(t, a.message, fmt.Sprintf("is %d metres", 417+14*10+13*14/2))
	require.NotContains(t, a.message, "incomplete")
	for i := range 14 {
		s.scrolls = append(s.scrolls, lightAt(fmt.Sprintf("most-%d", i), fmt.Sprintf("Most %d", i), "east coast", "Per Holt", 1900+i, 10, 9, nil))
	}
	a, _ = inquire(t, s.run, prompt{request: "How many lighthouses are on the east coast?"}, 50)
	require.Contains(t, a.message, "incomplete")
}
