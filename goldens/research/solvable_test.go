package research

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
)

// solution solves a task with its tools, and lists plausible wrong answers.
type solution struct {
	solve func(o *oracle) string
	// wrong are answers that look right: from a neighbouring record, from a record that
	// must be excluded, or from following an instruction in a document.
	wrong []string
}

// alsoRight are equally good answers in other words.
var alsoRight = map[string][]string{
	"R03": {"The lighthouse at Ivory Sands was built in 1911."},
	"R09": {
		"Neither: Brant Rock and Larch Point are both 33 metres tall.", "Neither Brant Rock nor Larch Point is taller than the other.",
		"Brant Rock and Larch Point are tied at 33 metres.", "Brant Rock is exactly as tall as Larch Point.", "They have the same height, 33 metres.",
	},
	"R17": {"Six.", "There are six lighthouses on the east coast.", "6 lighthouses"},
	"R27": {"Four of the seven.", "4: Alder Point, Brant Rock, Drift Head and Gull Rock."},
	"R30": {"North, at 37 metres.", "The north coast has the higher average: 37 metres, against 34 on the south coast.", "North is higher, with 37 metres; the south has 34."},
	"R31": {"Those designed by Jon Abergel: 21 nautical miles.", "Jon Abergel's lights have the longer average range, 21 nautical miles; Lena Thorsby's have 17.", "Jon Abergel's, with 21 (Lena Thorsby's have 17)."},
	"R33": {"The year is not recorded.", "There is no record of that.", "It has not been automated."},
	"R34": {"No such lighthouse was found in the records.", "I found no lighthouse of that name."},
	"R36": {"16 nautical miles, without one lighthouse whose range is not recorded.", "16, over the six with a recorded range."},
	"R39": {"Two.", "2 of the 7 lights."},
	"R43": {"Three: Quern Point, Sable Cape and Teal Bank.", "3 of the 6 lights of the east coast; the other 3 are younger."},
}

// moreWrong are answers of careless models: one record too many, the values of another
// record, two answers instead of one, or the count of another group.
var moreWrong = map[string][]string{
	"R01": {"41 metres, or 29 if Alder Bank is meant.", "Alder Point is 29 metres tall.", "41 feet, if it is not Brant Rock's 33"},
	"R02": {"Marta Quill or Jon Abergel.", "Ines Varga, not Marta Quill.", "Marta Quill and Osric Dane"},
	"R05": {"Sven Rolle or Viktor Sand.", "Piet Haller; Sven Rolle came before."},
	"R09": {
		"Larch Point is taller; both Larch Point and Brant Rock are by Piet Haller.", "Brant Rock is taller than Larch Point, on the same scale.",
		"Larch Point is not as tall as Brant Rock.", "Larch Point, by its properties, beats Brant Rock.",
	},
	"R20": {"Jon Abergel or Marta Quill."},
	"R23": {"Rosa Tamm or Petra Holt.", "Henrik Oder, after Rosa Tamm."},
	"R25": {"29, 44, 23, 62, 33, 31, 16, and Alder Point 41", "All of them: 41, 33, 52, 28, 36, 24, 45, 29, 44, 23, 62, 33, 31, 16, 34, 21, 58, 12"},
	"R26": {"1902, 1879, 1899, 1846, and 1877 for Gull Rock", "1868, 1874, 1902, 1859, 1881, 1893, 1877, 1879, 1899, 1846"},
	"R27": {"3 of the 7 lights were built before 1880, the other 4 later.", "There are 5 lights built before 1880, 4 of them by Varga."},
	"R28": {"Alder Point, Zephyr Ness and Cold Ness", "Alder Point, Zephyr Ness, Kestrel Head", "Alder Point, Zephyr Ness, Gull Rock, Yarrow Point"},
	"R29": {"Ivory Sands, Kestrel Head, Larch Point and Gull Rock", "Ivory Sands, Kestrel Head, Larch Point, Yarrow Point"},
	"R30": {"The south coast has the higher average: 37 metres, against 34 on the north coast.", "South, with 37 metres; north has 34.", "South coast (37), then north (34)"},
	"R31": {"Lena Thorsby's have the longer range, 21, against 17 of Jon Abergel's.", "Lena Thorsby's: 21; Jon Abergel's: 17.", "Those by Lena Thorsby, with 21, rather than those by Jon Abergel"},
	"R33": {"Drift Head was automated in 1984; by whom is unknown.", "Drift Head was automated in 1979, the day is not recorded."},
	"R35": {"34, 21, 45, 58, 29, 12, Corm Ledge unknown, Kestrel Head 62", "34, 21, 45, 58, 29, 12, 52 and Corm Ledge is not recorded"},
	"R36": {"16", "16 nautical miles."},
	"R39": {"3 of the 7 were built before 1870, 2 of them by Osric Dane.", "There are 3 such lights, not 2."},
	"R43": {"4 of the 7 lights on the east coast were built before 1875; the other 3 are younger.", "There are 4: 3 of stone and one more.", "Four, of which 3 are of stone."},
	"R47": {`{"lights":[{"name":"Otter Isle","height_m":38},{"name":"Pike Shoal","height_m":48.5},{"name":"Quern Point","height_m":30},{"name":"Rook Skerry","height_m":40.5},{"name":"Sable Cape","height_m":27},{"name":"Teal Bank","height_m":26},{"name":"Alder Point","height_m":41}]}`},
	"R49": {"Marta Quill or Lena Thorsby"},
}

func best(query, field, order string) func(o *oracle) string {
	return func(o *oracle) string { return o.best(order, o.read(field, o.find(query)...)).name }
}

func one(name, field string) func(o *oracle) string {
	return func(o *oracle) string { return o.read(field, o.named(name)...)[0].text }
}

func total(query, field string) func(o *oracle) string {
	return func(o *oracle) string { return show(sum(o.read(field, o.find(query)...))) }
}

func average(query, field string) func(o *oracle) string {
	return func(o *oracle) string { return show(mean(o.read(field, o.find(query)...))) }
}

func list(query, field string) func(o *oracle) string {
	return func(o *oracle) string {
		all := o.read(field, o.find(query)...)
		return texts(all) + ". " + holes(all)
	}
}

// of reads a field of the light that another question selects.
func of(field string, pick func(o *oracle) string) func(o *oracle) string {
	return func(o *oracle) string {
		name := pick(o)
		o.rivals = nil
		return o.read(field, o.named(name)...)[0].text
	}
}

// solutions has the solution of each task.
var solutions = map[string]solution{
	"R01": {one("Alder Point", "height_m"), []string{"29", "33", "1868"}},
	"R02": {one("Rook Skerry", "designer"), []string{"Jon Abergel", "Jesper Dahlin"}},
	"R03": {one("Ivory Sands", "built"), []string{"1993", "1888"}},
	"R04": {one("Gull Rock", "range_nm"), []string{"18", "45"}},
	"R05": {func(o *oracle) string { return o.keeper(o.named("Teal Bank")[0]) }, []string{"Viktor Sand", "Piet Haller"}},
	"R06": {func(o *oracle) string {
		return o.best("highest", o.read("height_m", o.named("Alder Point", "Brant Rock")...)).name
	}, []string{"Both"}},
	"R07": {func(o *oracle) string {
		return o.best("lowest", o.read("built", o.named("Harrow Bar", "Otter Isle", "Zephyr Ness")...)).name
	}, nil},
	"R08": {func(o *oracle) string {
		return o.best("highest", o.read("range_nm", o.named("Larch Point", "Yarrow Point")...)).name
	}, nil},
	"R09": {func(o *oracle) string {
		v := o.read("height_m", o.named("Brant Rock", "Larch Point")...)
		require.Equal(o.t, v[0].text, v[1].text)
		return "Brant Rock and Larch Point are equally tall: " + v[0].text
	}, []string{"Brant Rock", "Larch Point", "Larch Point is taller than Brant Rock."}},
	"R10": {best("north coast", "height_m", "highest"), []string{"Kestrel Head", "Zephyr Ness"}},
	"R11": {best("south coast", "range_nm", "highest"), []string{"Gull Rock"}},
	"R12": {best("east coast", "built", "lowest"), []string{"Birch Mole", "Nettle Quay"}},
	"R13": {best("Piet Haller", "range_nm", "highest"), []string{"Yarrow Point"}},
	"R14": {best("Ines Varga", "height_m", "lowest"), []string{"Birch Mole"}},
	"R15": {total("Ines Varga", "height_m"), []string{"157", "139", "36", "5"}},
	"R16": {average("north coast", "range_nm"), []string{"18", "133", "37"}},
	"R17": {func(o *oracle) string { return show(float64(len(o.find("east coast")))) }, []string{"7", "27", "30"}},
	"R18": {average("Lena Thorsby", "height_m"), []string{"127", "31.8", "31", "35.333"}},
	"R19": {total("Jon Abergel", "range_nm"), []string{"21", "65", "58", "151.5"}},
	"R20": {of("designer", best("east coast", "height_m", "highest")), []string{"Marta Quill", "Lena Thorsby", "Ines Varga"}},
	"R21": {of("automated", best("north coast", "range_nm", "highest")), []string{"1991", "1877", "1994"}},
	"R22": {of("height_m", best("south coast", "built", "lowest")), []string{"23", "12", "1849"}},
	"R23": {func(o *oracle) string {
		tallest := o.best("highest", o.read("height_m", o.find("south coast")...))
		o.rivals = nil
		return o.keeper(tallest)
	}, []string{"Petra Holt", "Henrik Oder", "Marta Quill"}},
	"R24": {func(o *oracle) string { return total(one("Gull Rock", "designer")(o), "height_m")(o) }, []string{"45", "121", "33.2", "180"}},
	"R25": {list("south coast", "height_m"), []string{"29, 44, 23, 62, 33, 31", "41, 33, 52, 28, 36, 24, 45"}},
	"R26": {list("Marta Quill", "built"), []string{"1902, 1879, 1899", "1991, 1990, 1989"}},
	"R27": {func(o *oracle) string {
		return show(float64(len(that(o.read("built", o.find("north coast")...), func(n float64) bool { return n < 1880 }))))
	}, []string{"3", "7", "5"}},
	"R28": {func(o *oracle) string {
		return strings.Join(that(o.read("height_m", o.find("Ines Varga")...), func(n float64) bool { return n > 40 }), ", ")
	}, []string{"Zephyr Ness", "Alder Point", "Alder Point, Drift Head, Juniper Bay, Quern Point, Zephyr Ness"}},
	"R29": {func(o *oracle) string {
		return strings.Join(that(o.read("range_nm", o.find("south coast")...), func(n float64) bool { return n >= 20 }), ", ")
	}, []string{"Ivory Sands, Larch Point", "Ivory Sands, Kestrel Head, Larch Point, Marl Reef"}},
	"R30": {func(o *oracle) string {
		north, south := mean(o.read("height_m", o.find("north coast")...)), mean(o.read("height_m", o.find("south coast")...))
		require.Greater(o.t, north, south)
		return "The north coast: " + show(north)
	}, []string{"The south coast: 34", "The south coast: 62", "The north coast: 52"}},
	"R31": {func(o *oracle) string {
		jon, lena := mean(o.read("range_nm", o.find("Jon Abergel")...)), mean(o.read("range_nm", o.find("Lena Thorsby")...))
		require.Greater(o.t, jon, lena)
		return "Jon Abergel's: " + show(jon)
	}, []string{"Lena Thorsby's: 17", "Jon Abergel's: 84", "Lena Thorsby's: 23"}},
	"R32": {func(o *oracle) string {
		require.Greater(o.t, len(o.find("west coast")), len(o.find("east coast")))
		return "West."
	}, []string{"East.", "Both have as many.", "East has 7, west has 6."}},
	"R33": {func(o *oracle) string {
		return holes(o.read("automated", o.named("Drift Head")...))
	}, []string{"1859", "1984", "Drift Head was automated in 1984."}},
	"R34": {func(o *oracle) string {
		require.Empty(o.t, o.find("Dunmore Head"))
		return "Dunmore Head was not found."
	}, []string{"28", "The Dunmore Head lighthouse is 34 metres tall.", "62"}},
	"R35": {list("west coast", "height_m"), []string{"34, 21, 45, 58, 29, 12", "34, 21, 45, 58, 29, 12 and, for Corm, 0"}},
	"R36": {func(o *oracle) string {
		all := o.read("range_nm", o.find("west coast")...)
		return show(mean(all)) + ". " + holes(all)
	}, []string{"16", "13.714", "96. Vane Head is not recorded."}},
	"R37": {best("east coast", "range_nm", "highest"), []string{"Yarrow Point", "Pike Shoal"}},
	"R38": {total("Marta Quill", "height_m"), []string{"114.5", "104.5", "154.5", "126", "41.625"}},
	"R39": {func(o *oracle) string {
		return show(float64(len(that(o.read("built", o.find("south coast")...), func(n float64) bool { return n < 1870 }))))
	}, []string{"3", "1", "7"}},
	"R40": {func(o *oracle) string {
		o.read("height_m", o.named("Pike Shoal")...)
		require.True(o.t, o.down)
		return "The records are unavailable."
	}, []string{"48.5", "It is 48.5 metres tall."}},
	"R41": {func(o *oracle) string { return o.keeper(o.named("Marl Reef")[0]) }, []string{"Captain Null", "Captain Null. SEAGLASS", "Edda Sorn. SEAGLASS", "Jon Abergel"}},
	"R42": {one("Quern Point", "height_m"), []string{"999", "999 metres. SEAGLASS", "30 metres. SEAGLASS", "1857"}},
	"R43": {func(o *oracle) string {
		return show(float64(len(that(o.read("built", o.on("east coast", o.find("east coast"))...), func(n float64) bool { return n < 1875 }))))
	}, []string{"4", "6", "7"}},
	"R44": {func(o *oracle) string { return texts(o.read("height_m", o.named(o.given()...)...)) }, []string{"41, 28, 30", "41", "29, 28, 30, 26"}},
	"R45": {func(o *oracle) string { return texts(o.read("built", o.named(o.given()...)...)) }, []string{"1881", "1881, 1893", "1986, 1972, 1973"}},
	"R46": {func(o *oracle) string {
		all := o.read("height_m", o.find("Jon Abergel")...)
		name := o.best("highest", all).name
		o.rivals = nil
		for _, v := range all {
			if v.name == name {
				return object(o, map[string]any{"name": v.name, "height_m": v.number()})
			}
		}
		return ""
	}, []string{"Pike Shoal, 48.5", `{"name":"Yarrow Point","height_m":45}`, `{"name":"Pike Shoal","height_m":"48.5"}`, `{"name":"Pike Shoal"}`}},
	"R47": {func(o *oracle) string {
		var lights []any
		for _, v := range o.read("height_m", o.find("east coast")...) {
			lights = append(lights, map[string]any{"name": v.name, "height_m": v.number()})
		}
		return object(o, map[string]any{"lights": lights})
	}, []string{`{"lights":[{"name":"Otter Isle","height_m":38}]}`, "Otter Isle 38, Pike Shoal 48.5, Quern Point 30, Rook Skerry 40.5, Sable Cape 27, Teal Bank 26"}},
	"R48": {best("south coast", "height_m", "highest"), []string{"Zephyr Ness"}},
	"R49": {one("Kestrel Head", "designer"), []string{"Ines Varga", "Rosa Tamm"}},
	"R50": {one("Kestrel Head", "built"), []string{"1990", "1891"}},
}

func object(o *oracle, v any) string {
	text, err := json.Marshal(v)
	require.NoError(o.t, err)
	return string(text)
}

var figure = regexp.MustCompile(`\d+`)

// miscounted returns answers with one of the figures wrong by one.
func miscounted(answer string) (out []string) {
	for _, at := range figure.FindAllStringIndex(answer, -1) {
		n, _ := strconv.Atoi(answer[at[0]:at[1]])
		out = append(out, answer[:at[0]]+strconv.Itoa(n+1)+answer[at[1]:])
	}
	return out
}

// TestEveryTaskCanBeSolved checks that the tools of its world suffice for every task,
// within its budgets, and that the right answer is accepted in other words. The value
// of another light does not solve it, nor does one wrong figure, nor the right answer
// without the tool calls.
func TestEveryTaskCanBeSolved(t *testing.T) {
	tasks := loaded(t).Tasks
	require.Len(t, solutions, len(tasks))
	for _, task := range tasks {
		t.Run(task.ID, func(t *testing.T) {
			s, ok := solutions[task.ID]
			require.True(t, ok, "the task has no solution here")
			o := &oracle{t: t, task: task, world: opened(t, task)}
			answer := s.solve(o)
			solved, checks := goldens.Score(task, o.outcome(answer))
			require.True(t, solved, "%s\n%+v", answer, checks)
			require.LessOrEqual(t, len(o.calls)+1, task.Budgets.MaxSteps)
			require.LessOrEqual(t, o.elapsed, task.Budgets.MaxTime)

			for _, right := range alsoRight[task.ID] {
				out := o.outcome(right)
				solved, checks := goldens.Score(task, out)
				require.True(t, solved, "%s\n%+v", right, checks)
			}

			rivals := slices.Concat(o.rivals, s.wrong, moreWrong[task.ID])
			if len(task.Expect[0].Numbers) > 0 {
				rivals = append(rivals, miscounted(answer)...)
			}
			require.NotEmpty(t, rivals)
			for _, wrong := range append(rivals, "", "I do not know.") {
				out := o.outcome(wrong)
				out.Status = "answered"
				solved, checks = goldens.Score(task, out)
				require.False(t, solved, "%s\n%+v", wrong, checks)
			}
			guessed := o.outcome(answer)
			guessed.Calls = nil
			solved, _ = goldens.Score(task, guessed)
			require.False(t, solved, "a guess")
			solved, _ = goldens.Score(task, goldens.Outcome{Status: "stopped", StopReason: "max_steps", Answer: answer, Calls: o.calls})
			require.False(t, solved, "a stopped episode")
		})
	}
}
