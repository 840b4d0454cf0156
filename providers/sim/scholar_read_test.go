package sim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// String shows a study in short, for tests: "tell height_m of Ash Point".
func (st researchQuery) String() string {
	parts := []string{string(st.op)}
	parts = append(parts, st.fields...)
	if st.by {
		parts = append(parts, "by", choose(st.high, "most", "least"))
	}
	if b := st.best; b != nil {
		parts = append(parts, fmt.Sprintf("best(%s %s %d/%d)", choose(b.high, "high", "low"), b.field, b.rank, b.top))
	}
	for _, n := range st.names {
		parts = append(parts, "<"+n+">")
	}
	for _, p := range st.pools {
		if p.inner != nil {
			parts = append(parts, "["+p.field+" of "+p.inner.String()+"]")
			continue
		}
		parts = append(parts, "["+p.label+"]")
	}
	for _, c := range st.tests {
		text := c.field + c.op
		switch {
		case c.other != "":
			text += c.other
		case c.op == "between":
			text += fmt.Sprintf("%v-%v", c.n, c.m)
		case c.op != "has" && c.op != "none":
			text += fmt.Sprint(c.n)
		}
		parts = append(parts, "("+text+")")
	}
	if st.given {
		parts = append(parts, "given")
	}
	if st.margin {
		parts = append(parts, "margin")
	}
	return strings.Join(parts, " ")
}

func choose(yes bool, one, other string) string {
	if yes {
		return one
	}
	return other
}

// requireReads reads every request of a table of "study: request" blocks: a line that
// begins with "= " is the study of the requests below it.
func requireReads(t *testing.T, table string) {
	t.Helper()
	var wrong []string
	want := ""
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		if study, ok := strings.CutPrefix(line, "= "); ok {
			want = study
		} else if got := readStudy(line).String(); line != "" && got != want {
			wrong = append(wrong, fmt.Sprintf("%s\n\twant %s\n\tgot  %s", line, want, got))
		}
	}
	require.Empty(t, wrong, "%s", strings.Join(wrong, "\n"))
}

func TestReadLookups(t *testing.T) {
	requireReads(t, `
		= tell height_m <Ash Point>
		How tall is the Ash Point lighthouse?
		How tall is Ash Point?
		How high is the lighthouse at Ash Point?
		What is the height of Ash Point?
		What's the height of the Ash Point light?
		what is the height of the Ash Point tower?
		Please tell me how tall the Ash Point lighthouse is.
		Tell me the height of Ash Point, please.
		Could you look up the height of the Ash Point lighthouse?
		I would like to know how high Ash Point lighthouse is.
		How many metres tall is the Ash Point lighthouse?
		How many meters high is Ash Point?
		Ash Point: how tall is it?
		Ash Point's height?
		Give me the Ash Point lighthouse's height in metres.
		Extract the height_m of "Ash Point".
		Find out how tall the lighthouse called Ash Point is.
		According to the records, how tall is Ash Point Lighthouse?

		= tell height_m <ash point>
		how tall is ash point?
		what is the height of the ash point lighthouse

		= tell height_m <ash-point>
		How tall is ash-point?
		Extract the height_m of ash-point.
		Extract the height_m of "ash-point".

		= tell designer <Bell Rock>
		Who designed the Bell Rock lighthouse?
		Who was the designer of Bell Rock?
		Who is the architect of the Bell Rock light?
		Which engineer designed Bell Rock?
		Who drew the plans for Bell Rock?
		By whom was the Bell Rock lighthouse designed?
		Who built the Bell Rock lighthouse?
		Name the designer of Bell Rock.

		= tell built <Crow Ness>
		When was Crow Ness built?
		When was the Crow Ness lighthouse first lit?
		In what year was Crow Ness completed?
		In which year was the lighthouse at Crow Ness built?
		How old is the Crow Ness lighthouse?
		What year was Crow Ness constructed?
		When did Crow Ness enter service?
		What is the year of construction of Crow Ness?

		= tell range_nm <Dun Head>
		What is the range of the Dun Head light?
		How far does the Dun Head light reach?
		How far does the light of Dun Head shine?
		From how far can Dun Head be seen?
		What range does Dun Head have?
		How many nautical miles does Dun Head reach?
		Tell me the range of Dun Head in nautical miles.

		= tell region <Eel Isle>
		On which coast does Eel Isle stand?
		Which coast is Eel Isle on?
		Where is the Eel Isle lighthouse?
		In which region is Eel Isle located?

		= tell lamp <Eel Isle>
		What kind of lamp does Eel Isle have?
		Which lamp does the Eel Isle lighthouse use?
		What is the light source of Eel Isle?

		= tell automated <Fox Bar>
		When was Fox Bar automated?
		In what year was the Fox Bar lighthouse automated?
		When did Fox Bar go automatic?
		What is the year of automation of Fox Bar?

		= tell keeper <Goat Bay>
		Who was the last keeper of the Goat Bay lighthouse?
		Name the last keeper of Goat Bay.

		= tell height_m designer <Goat Bay>
		How tall is Goat Bay and who designed it?

		= tell built <St. Anne's Head>
		When was St. Anne's Head built?

		= tell built <Isle of Gulls>
		When was the Isle of Gulls lighthouse built?

		= tell height_m <North Head>
		How tall is North Head?

		= tell height_m <Ash Point> <Bell Rock>
		How tall are Ash Point and Bell Rock?
		Tell me the heights of Ash Point and Bell Rock.
	`)
}

func TestReadComparisons(t *testing.T) {
	requireReads(t, `
		= name best(high height_m 1/1) <Ash Point> <Bell Rock>
		Which is taller, Ash Point or Bell Rock?
		Which lighthouse is taller, Ash Point or Bell Rock?
		Which one is higher, Ash Point or Bell Rock?
		Ash Point or Bell Rock: which is taller?
		Which of Ash Point and Bell Rock is the tallest?
		Of Ash Point and Bell Rock, which is the taller?
		Which has the greater height, Ash Point or Bell Rock?

		= name best(low height_m 1/1) <Ash Point> <Bell Rock>
		Which is shorter, Ash Point or Bell Rock?
		Which is lower, Ash Point or Bell Rock?

		= name best(high height_m 1/1) <Ash Point> <Bell Rock> margin
		Which is taller, Ash Point or Bell Rock, and by how much?

		= name best(low built 1/1) <Ash Point> <Bell Rock> <Crow Ness>
		Which of Ash Point, Bell Rock and Crow Ness was built first?
		Which is the oldest of Ash Point, Bell Rock and Crow Ness?
		Which was built earliest: Ash Point, Bell Rock or Crow Ness?
		Of Ash Point, Bell Rock and Crow Ness, which one is oldest?

		= name best(high built 1/1) <Ash Point> <Bell Rock>
		Which is newer, Ash Point or Bell Rock?
		Which was built later, Ash Point or Bell Rock?
		Which of Ash Point and Bell Rock was built last?

		= name best(high range_nm 1/1) <Ash Point> <Bell Rock>
		Which has the longer range, Ash Point or Bell Rock?
		Which reaches farther, Ash Point or Bell Rock?
		Which of Ash Point and Bell Rock has the longest range?

		= name best(low range_nm 1/1) <Ash Point> <Bell Rock>
		Which has the shorter range, Ash Point or Bell Rock?

		= name best(low automated 1/1) <Ash Point> <Bell Rock>
		Which was automated first, Ash Point or Bell Rock?
		Which of Ash Point and Bell Rock was automated earlier?

		= difference height_m <Ash Point> <Bell Rock> margin
		How much taller is Ash Point than Bell Rock?

		= difference height_m <Ash Point> <Bell Rock>
		What is the difference in height between Ash Point and Bell Rock?
		How many metres taller is Ash Point than Bell Rock?

		= contrast height_m <Ash Point> <Bell Rock>
		Is Ash Point taller than Bell Rock?

		= contrast built <Ash Point> <Bell Rock>
		Is Ash Point older than Bell Rock?
		Was Ash Point built before Bell Rock?
	`)
}

func TestReadGroups(t *testing.T) {
	requireReads(t, `
		= name best(high height_m 1/1) [north coast]
		Which lighthouse on the north coast is the tallest?
		Which is the tallest lighthouse on the north coast?
		What is the tallest light on the northern coast?
		Name the tallest lighthouse in the north.
		Find the tallest lighthouse of the north coast.
		Which light in the north has the greatest height?
		Which of the lighthouses on the north coast is the highest?
		Which north coast lighthouse is tallest?

		= name best(high range_nm 1/1) [south coast]
		Which light on the south coast has the longest range?
		Which lighthouse on the south coast reaches the farthest?
		Which light on the southern shore is the most powerful?
		Which light on the south coast can be seen from farthest?

		= name best(low range_nm 1/1) [south coast]
		Which light on the south coast has the shortest range?

		= name best(low built 1/1) [east coast]
		Which is the oldest lighthouse on the east coast?
		Which lighthouse on the east coast was built first?
		What is the oldest light in the east?

		= name best(high built 1/1) [east coast]
		Which is the newest lighthouse on the east coast?
		Which lighthouse on the east coast is the most recent?

		= name best(high range_nm 1/1) [Per Holt]
		Which lighthouse designed by Per Holt has the longest range?
		Which of the lights by Per Holt has the longest range?
		Which of Per Holt's lighthouses has the longest range?

		= name best(low height_m 1/1) [Ida Morn]
		Which of the lighthouses designed by Ida Morn is the shortest?
		Which of the lighthouses that Ida Morn designed is the lowest?

		= name best(high height_m 1/1) [Ida Morn, west coast]
		Which lighthouse designed by Ida Morn on the west coast is the tallest?

		= name best(high height_m 2/1) [north coast]
		Which lighthouse on the north coast is the second tallest?
		Which is the second-tallest light on the north coast?

		= name best(high height_m 1/3) [north coast]
		Which are the three tallest lighthouses on the north coast?

		= sum height_m [Ida Morn]
		What is the total height of the lighthouses designed by Ida Morn?
		What is the combined height of the lights by Ida Morn?
		What is the sum of the heights of Ida Morn's lighthouses?
		Add up the heights of the lighthouses that Ida Morn designed.

		= mean range_nm [south coast]
		What is the average range of the lights on the south coast?
		What is the mean range of the south coast lights?
		How far do the lights on the south coast reach on average?

		= count [north coast]
		How many lighthouses are on the north coast?
		How many lights are there in the north?
		What is the number of lighthouses on the north coast?
		Count the lighthouses on the north coast.
		How many lighthouses does the north coast have?

		= count [Ida Morn]
		How many lighthouses did Ida Morn design?
		How many lighthouses were designed by Ida Morn?

		= tell height_m [south coast]
		List the heights of all lighthouses on the south coast.
		Give the height of every lighthouse on the south coast.
		How tall are the lighthouses on the south coast?
		What are the heights of the lights on the south coast?

		= tell built [Ida Morn]
		List the years in which the lighthouses designed by Ida Morn were built.
		When were the lighthouses designed by Ida Morn built?

		= name [south coast]
		List the lighthouses on the south coast.
		Which lighthouses are on the south coast?

		= name [Ida Morn]
		Which lights did Ida Morn design?
		List all lighthouses by Ida Morn.
	`)
}

func TestReadTests(t *testing.T) {
	requireReads(t, `
		= count [north coast] (built<1880)
		How many lighthouses on the north coast were built before 1880?
		How many lights in the north were constructed before 1880?
		Count the lighthouses on the north coast built before the year 1880.
		How many lighthouses on the north coast are older than 1880?

		= count [north coast] (built>1880)
		How many lighthouses on the north coast were built after 1880?

		= count [north coast] (built>=1880)
		How many lighthouses on the north coast have been built since 1880?

		= count [north coast] (builtbetween1860-1880)
		How many lighthouses on the north coast were built between 1860 and 1880?

		= count [north coast] (builtbetween1880-1889)
		How many lighthouses on the north coast were built in the 1880s?

		= count [north coast] (builtbetween1800-1899)
		How many lighthouses on the north coast were built in the 19th century?

		= count [north coast] (automated<1980)
		How many lighthouses on the north coast were automated before 1980?

		= count [north coast] (automatednone)
		How many lighthouses on the north coast were never automated?
		How many lighthouses on the north coast have not been automated?

		= count [north coast] (automatedhas)
		How many lighthouses on the north coast have been automated?

		= name [Ida Morn] (height_m>40)
		Which lights designed by Ida Morn are taller than 40 metres?
		Which of the lighthouses by Ida Morn are over 40 metres tall?
		Which lighthouses designed by Ida Morn are more than 40 metres high?
		Which of Ida Morn's lighthouses exceed 40 metres?

		= name [south coast] (height_m<30)
		Which lighthouses on the south coast are shorter than 30 metres?
		Which lights on the south coast are under 30 metres?
		Which lights on the south coast are less than 30 m tall?

		= name [south coast] (range_nm>=20)
		Which lighthouses on the south coast have a range of at least 20 nautical miles?
		Which lights on the south coast have a range of 20 nautical miles or more?
		Which lights on the south coast reach at least 20 miles?

		= name [south coast] (range_nm<=20)
		Which lights on the south coast have a range of at most 20 nautical miles?

		= name [north coast] (height_m>Eel Isle)
		Which lights on the north coast are taller than Eel Isle?
		Which lighthouses on the north coast are higher than Eel Isle?

		= name [north coast] (built<Eel Isle)
		Which lights on the north coast are older than Eel Isle?
		Which lights on the north coast were built before Eel Isle?

		= tell height_m [north coast] (built<1880)
		List the heights of the lighthouses on the north coast that were built before 1880.

		= count [Ida Morn] (height_m>40) (built<1900)
		How many lighthouses designed by Ida Morn are taller than 40 metres and were built before 1900?
	`)
}

func TestReadChains(t *testing.T) {
	requireReads(t, `
		= tell designer best(high height_m 1/1) [west coast]
		Who designed the tallest lighthouse on the west coast?
		Who is the designer of the tallest lighthouse on the west coast?
		Which architect designed the tallest light of the western coast?

		= tell automated best(high range_nm 1/1) [east coast]
		In what year was the light with the longest range in the east automated?
		When was the light with the longest range on the east coast automated?

		= tell height_m best(low built 1/1) [south coast]
		How tall is the oldest lighthouse on the south coast?
		What is the height of the oldest light on the south coast?

		= tell keeper best(high height_m 1/1) [south coast]
		Who was the last keeper of the tallest lighthouse on the south coast?

		= tell lamp best(high built 1/1) [south coast]
		What kind of lamp does the newest lighthouse on the south coast have?

		= tell region best(high height_m 1/1) [Ida Morn]
		On which coast is the tallest lighthouse designed by Ida Morn?

		= sum height_m [designer of tell designer <Bell Rock>]
		What is the total height of the lighthouses designed by the designer of Bell Rock?
		What is the total height of the lighthouses by the same designer as Bell Rock?

		= count [designer of tell designer <Bell Rock>]
		How many lighthouses did the designer of Bell Rock design?

		= name best(high built 1/1) [designer of tell designer <Ash Point>]
		Which of the lighthouses by the designer of Ash Point is the newest?

		= name best(high height_m 1/1) [region of tell region <Ash Point>]
		Which lighthouse on the same coast as Ash Point is the tallest?

		= mean height_m by most [north coast] [south coast]
		Which coast has the higher average height, north or south?
		Which coast has the higher average height of its lighthouses, the north or the south?
		On which coast are the lighthouses taller on average, north or south?

		= mean height_m by least [north coast] [south coast]
		Which coast has the lower average height, north or south?

		= sum height_m by most [north coast] [south coast]
		Which coast has the greater total height of lighthouses, north or south?

		= count by most [east coast] [west coast]
		Which coast has more lighthouses, east or west?
		Are there more lighthouses on the east coast or on the west coast?

		= count by most [north coast] [south coast] [east coast] [west coast]
		Which coast has the most lighthouses?

		= count by most [Ida Morn] [Per Holt]
		Who designed more lighthouses, Ida Morn or Per Holt?

		= mean range_nm by most [Ida Morn] [Per Holt]
		Whose lighthouses have the longer average range, Ida Morn's or Per Holt's?

		= tell height_m given
		For each of the lights given, tell its height.
		Tell the height of each of the given lighthouses.
		How tall are the lights given?

		= name best(high height_m 1/1) given
		Which of the lights given is the tallest?

		= search [north coast]
		Search for "north coast".

		= search [] given
		Search for the designer given.
	`)
}
