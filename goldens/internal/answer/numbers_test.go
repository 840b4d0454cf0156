package answer

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/internal/decimal"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

func numbersOf(text string) string {
	var out []string
	for _, n := range Read(text, 2026).Numbers {
		out = append(out, n.String())
	}
	return strings.Join(out, " ")
}

func TestReadAnswerNumbers(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"none", "No data for that day.", ""},
		{"plain", "There were 449 angry messages.", "449"},
		{"end of sentence", "The count is 449.", "449"},
		{"markdown", "**449** and _12_ and `7`", "449 12 7"},
		{"json", `{"value":449,"more":[1, 2]}`, "449 1 2"},
		{"equals", "angry=449; praise:749", "449 749"},
		{"commas", "1,234,567 messages", "1234567"},
		{"one comma group", "1,208 messages", "1208"},
		{"comma and decimals", "1,234,567.50 in all", "1234567.5"},
		{"no-break spaces", "1\u00a0234\u00a0567", "1234567"},
		{"thin spaces", "1\u2009234\u202f567", "1234567"},
		{"apostrophes", "1'234'567 and 1’234", "1234567 1234"},
		{"dots without doubt", "1.234.567 and 1.234,5", "1234567 1234.5"},
		{"one dot is a decimal", "1.234", "1.234"},
		{"decimal comma", "12,5 and 0,125", "12.5 0.125"},
		{"list without spaces", "8,9,10", "8 9 10"},
		{"mixed separators are a list", "0,0'123", "0 0 123"},
		{"wrong groups are a list", "1,23,456", "1 23 456"},
		{"space between unrelated numbers", "13\u00a044", "13 44"},
		{"plain space never groups", "1 234 567", "1 234 567"},
		{"negative", "-5, −6 and －7", "-5 -6 -7"},
		{"negative money", "-$5 and $6 and €-7", "-5 6 -7"},
		{"range", "3-5 and 3–5", "3 5 3 5"},
		{"percent", "25% or 12.5 %", "25 12.5"},
		{"full width", "４４９", "449"},
		{"arabic", "٤٤٩ و ١٬٢٣٤٫٥", "449 1234.5"},
		{"persian and devanagari", "۴۴۹ ४४९", "449 449"},
		{"exponent", "1.5e3 and 2E-2", "1500 0.02"},
		{"exponent out of bounds", "1e999999999 and 3", "3"},
		{"chinese", "今天有749条表扬", "749"},
		{"full width comma", "愤怒449，表扬749。", "449 749"},
		{"identifiers", "v2 G01 gpt-4 job_7 x86 sha1a2b", ""},
		{"ordinals and units", "the 3rd of 12k, 25ms", ""},
		{"letters of other scripts", "в449", ""},
		{"versions and addresses", "1.2.3 and 192.168.0.1", ""},
		{"superscripts and fractions", "10² and 1½", ""},
		{"zero", "0 angry messages", "0"},
		{"leading zeros", "007", "7"},

		{"iso date", "On 2026-05-13 there were 449.", "449"},
		{"iso time", "at 2026-05-13T12:00:00-04:00: 449", "449"},
		{"impossible date", "2026-02-30 is not a date", ""},
		{"slashes", "2026/05/13, 5/13/2026 and 5/13/26: 9", "9"},
		{"german date", "am 13.05.2026 waren es 449", "449"},
		{"month first", "On May 13 449 angry", "449"},
		{"month first with year", "On May 13, 2026: 449", "449"},
		{"ordinal with year", "May 13th 2026 had 449", "449"},
		{"day first", "13 May 2026: 449", "449"},
		{"ordinal of", "the 13th of May, 2026: 449", "449"},
		{"short month", "Sept. 3: 12 and 4 dec: 13", "12 13"},
		{"range of days", "May 8–10: 1 and 8-10 May: 2", "1 2"},
		{"month and year", "In April 2026: 19,187", "19187"},
		{"year and month", "2026-04: 19187", "19187"},
		{"chinese date", "2026年5月13日有449条，5月有9条", "449 9"},
		{"korean date", "5월 13일 749건", "749"},
		{"clock", "At 14:30 and 09:15:00 there were 3", "3"},
		{"count after a date, no year", "On May 13, 1208 messages", "1208"},
		{"count after a month, no year", "In May 1999 messages", "1999"},
		{"grouped count after a month", "In May 1,208 messages", "1208"},
		{"grouped count after a date", "On May 13, 1,208 messages", "1208"},
		{"decimal after a month", "In May 1.5 per day", "1.5"},
		{"count above 31 after a month", "In May 449", "449"},
		{"year with decimals behind", "On May 13, 2026,500", "2026.5"},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, numbersOf(c.text)) })
	}
}

func TestReadAnswerDates(t *testing.T) {
	for _, c := range []struct {
		text string
		want []Date
	}{
		{"2026-05-13", []Date{{2026, 5, 13}}},
		{"May 13", []Date{{0, 5, 13}}},
		{"MAY 13TH, 2026!", []Date{{2026, 5, 13}}},
		{"13 May", []Date{{0, 5, 13}}},
		{"13 may 2026.", []Date{{2026, 5, 13}}},
		{"May 13, 1208", []Date{{0, 5, 13}}},
		{"2026年5月13日", []Date{{2026, 5, 13}}},
		{"5月13日", []Date{{0, 5, 13}}},
		{"５月１３日", []Date{{0, 5, 13}}},
		{"June 3, 2 Jul", []Date{{0, 6, 3}, {0, 7, 2}}},
		{"May 32", nil},
		{"2026-13-01", nil},
		{"May 1,208", nil},
		{"Mayor 13", nil},
	} {
		t.Run(c.text, func(t *testing.T) { require.Equal(t, c.want, Read(c.text, 2026).Dates) })
	}
}

func TestYearsFollowTheTask(t *testing.T) {
	require.Equal(t, "1995", numbersOf("May 13, 1995"), "31 years from the task's: a count")
	require.Empty(t, Read("May 13, 1995", 1990).Numbers)
	require.Empty(t, Read("May 13, 1995", time.Time{}.Year()).Numbers, "a task without a clock takes any year of two centuries")
}

func TestDigitValueOfEveryScript(t *testing.T) {
	seen := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.IsDigit(r) {
			continue
		}
		seen++
		v := tool.DigitValue(r)
		require.Less(t, v, byte(10), "%U", r)
		if v > 0 {
			require.Equal(t, v-1, tool.DigitValue(r-1), "%U", r)
		}
	}
	require.Greater(t, seen, 500)
	require.Zero(t, seen%10)
	require.Equal(t, byte(9), tool.DigitValue('9'))
	require.Equal(t, byte(3), tool.DigitValue('𝟛'))
}

// group puts a separator between the thousands of a number.
func group(digits, sep string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + sep + digits[i:]
	}
	return digits
}

func TestEverySpellingIsTheSameNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64().Draw(t, "n")
		sep := rapid.SampledFrom([]string{"", ",", "\u00a0", "\u202f", "\u2009", "'", "’", "\u066c"}).Draw(t, "separator")
		zero := rapid.SampledFrom([]rune{'0', '０', '٠', '०'}).Draw(t, "script")
		before := rapid.SampledFrom([]string{"", "有", "count: ", "(", "On 2026-05-13, ", "May 13: ", "**"}).Draw(t, "before")
		after := rapid.SampledFrom([]string{"", ".", ", then", "条", "%", " messages", ".\n", "!", ".00"}).Draw(t, "after")
		text := strings.Map(func(r rune) rune {
			if '0' <= r && r <= '9' {
				return zero + r - '0'
			}
			return r
		}, group(fmt.Sprint(n), sep))
		want, ok := decimal.Parse(fmt.Sprint(n))
		require.True(t, ok)
		require.Equal(t, []decimal.Decimal{want}, Read(before+text+after, 2026).Numbers, "%q", before+text+after)
	})
}

// requireMarks checks that no date is passed over because its mark is missing.
func requireMarks(t require.TestingT, text string) {
	r := dateReader{text: normalForm(text)}
	for _, c := range []struct {
		shape *lazyregexp.Regexp
		holds bool
	}{
		{isoDate, r.holds("-") || r.holds("/")},
		{cjkDate, r.holds("月", "월")},
		{cjkYear, r.holds("年", "년")},
		{otherDate, r.holds("/")},
		{monthDay, r.holdsMonth()},
		{dayMonth, r.holdsMonth()},
		{monthYear, r.holdsMonth()},
		{yearMonth, r.holds("-")},
		{clockTime, r.holds(":")},
	} {
		if shape := c.shape; shape.MatchString(string(r.text)) {
			require.True(t, c.holds, "%v in %q", shape, text)
		}
	}
}

// Every date has the mark that spares other texts its expression.
func TestDatesHaveTheirMarks(t *testing.T) {
	part := rapid.SampledFrom([]string{
		"jan", "February", "MAR.", "apr", "may", "June", "jul", "AUGUST", "ſept", "Sep", "oct", "nov", "Dec", "년", "年", "월", "月", "日",
		"2026", "13", "5", "５", "st", "of", " ", " ", "-", "–", "/", ":", ",", ".", "T", "Z", "\u00a0", "x",
	})
	rapid.Check(t, func(t *rapid.T) {
		requireMarks(t, strings.Join(rapid.SliceOfN(part, 1, 12).Draw(t, "parts"), ""))
	})
	require.False(t, (&dateReader{text: []byte("There were 449 angry messages.")}).holdsMonth())
	require.True(t, (&dateReader{text: []byte("5 ſept")}).holdsMonth())
}

func FuzzReadAnswer(f *testing.F) {
	for _, seed := range []string{"1,234.5e3", "May 13, 2026: 4,49", "2026年5月13日", "-$5", "1e999", "\xff9\x1f9\x009", "8-10 May", "1.2.3,4'5"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		requireMarks(t, text)
		a := Read(text, 2026)
		for _, n := range a.Numbers {
			again, ok := decimal.Parse(n.String())
			require.True(t, ok, n.String())
			require.Equal(t, n, again, "without zeros at either end")
		}
		require.LessOrEqual(t, len(a.Numbers)+len(a.Dates), len(text))
	})
}
