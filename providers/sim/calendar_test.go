package sim

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// monthLengths is the second, dumber calendar.
func monthLength(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

func TestDayOfAgainstDumbCalendar(t *testing.T) {
	for _, year := range []int{1900, 1999, 2000, 2023, 2024, 2026, 2100} {
		for month := 0; month <= 13; month++ {
			for d := 0; d <= 32; d++ {
				_, ok := dayOf(year, month, d)
				want := month >= 1 && month <= 12 && d >= 1 && d <= monthLength(year, month)
				require.Equal(t, want, ok, "%d-%d-%d", year, month, d)
				s := dateSpan(year, month, d)
				if want {
					require.Equal(t, fmt.Sprintf("%04d-%02d-%02d", year, month, d), s.fixed.from.String())
				} else {
					require.Equal(t, fmt.Sprintf("%04d-%02d-%02d", year, month, d), s.bad)
				}
			}
		}
	}
}

// TestPeriodsAgainstWalking finds periods by walking day by day.
func TestPeriodsAgainstWalking(t *testing.T) {
	start, _ := dayOf(2023, 12, 20)
	for i := range 900 {
		d := start.add(i)
		f := frame{today: d, weekBegin: 1}
		walk := func(same func(a, b day) bool) dateRange {
			s := dateRange{d, d}
			for same(s.from.add(-1), d) {
				s.from = s.from.add(-1)
			}
			for same(s.to.add(1), d) {
				s.to = s.to.add(1)
			}
			return s
		}
		month := walk(func(a, b day) bool { return a.year() == b.year() && a.monthOf() == b.monthOf() })
		quarter := walk(func(a, b day) bool { return a.year() == b.year() && (a.monthOf()-1)/3 == (b.monthOf()-1)/3 })
		year := walk(func(a, b day) bool { return a.year() == b.year() })
		require.Equal(t, month, f.period(months, d, 0), d)
		require.Equal(t, quarter, f.period(quarters, d, 0), d)
		require.Equal(t, year, f.period(years, d, 0), d)
		require.Equal(t, month.from.add(-1), f.period(months, d, -1).to, d)
		require.Equal(t, month.to.add(1), f.period(months, d, 1).from, d)
		require.Equal(t, quarter.from.add(-1), f.period(quarters, d, -1).to, d)
		require.Equal(t, dateRange{month.from, d}, f.toDate(months), d)

		week := f.period(weeks, d, 0)
		require.Equal(t, "Monday", week.from.t.Weekday().String(), d)
		require.Equal(t, 7, week.days())
		require.False(t, d.before(week.from) || week.to.before(d), d)
		require.Equal(t, week.from.add(-7), f.period(weeks, d, -1).from)
		for w := 1; w <= 7; w++ {
			at := lastWeekday(d, w)
			require.Equal(t, w, at.weekday())
			require.False(t, d.before(at))
			require.Less(t, at.until(d), 8)
		}
	}
}

// TestDateExpressions resolves expressions around a year boundary: today is
// Friday, 2027-01-01.
func TestDateExpressions(t *testing.T) {
	today, _ := parseDay("2027-01-01")
	cases := map[string]string{
		"yesterday":                           "on 2026-12-31",
		"last month":                          "from 2026-12-01 to 2026-12-31",
		"last week":                           "from 2026-12-21 to 2026-12-27",
		"this week":                           "from 2026-12-28 to 2027-01-01",
		"last Friday":                         "on 2026-12-25",
		"Friday":                              "on 2027-01-01",
		"last quarter":                        "from 2026-10-01 to 2026-12-31",
		"year to date":                        "on 2027-01-01",
		"last year":                           "from 2026-01-01 to 2026-12-31",
		"in 2026":                             "from 2026-01-01 to 2026-12-31",
		"Q4 2026":                             "from 2026-10-01 to 2026-12-31",
		"third quarter of 2026":               "from 2026-07-01 to 2026-09-30",
		"December":                            "from 2026-12-01 to 2026-12-31",
		"December 30":                         "on 2026-12-30",
		"December 28 to January 1":            "from 2026-12-28 to 2027-01-01",
		"December 28 to January 3, 2026":      "from 2025-12-28 to 2026-01-03",
		"December 28, 2025 to January 3":      "from 2025-12-28 to 2026-01-03",
		"28 December 2025 - 3 January 2026":   "from 2025-12-28 to 2026-01-03",
		"last 3 days":                         "from 2026-12-30 to 2027-01-01",
		"past two weeks":                      "from 2026-12-19 to 2027-01-01",
		"last 2 months":                       "from 2026-11-02 to 2027-01-01",
		"the 31st":                            "on 2026-12-31",
		"2 days ago":                          "on 2026-12-30",
		"Thursday to Friday":                  "from 2026-12-31 to 2027-01-01",
		"Sunday to Wednesday":                 "from 2026-12-27 to 2026-12-30",
		"next week":                           "from 2027-01-04 to 2027-01-10",
		"from November to December 2026":      "from 2026-11-01 to 2026-12-31",
		"13.12.2026":                          "on 2026-12-13",
		"12/2026":                             "from 2026-12-01 to 2026-12-31",
		"31/12/2026":                          "on 2026-12-31",
		"12/31":                               "on 2026-12-31",
		"the week of 2026-12-30":              "from 2026-12-28 to 2027-01-03",
		"last month's counts until yesterday": "from 2026-12-01 to 2026-12-31",
		"letzten Freitag":                     "on 2026-12-25",
		"vor 3 Tagen":                         "on 2026-12-29",
		"diesen Monat":                        "on 2027-01-01",
		"hace 3 días":                         "on 2026-12-29",
		"el viernes pasado":                   "on 2026-12-25",
		"este trimestre":                      "on 2027-01-01",
		"il y a 3 jours":                      "on 2026-12-29",
		"les 7 derniers jours":                "from 2026-12-26 to 2027-01-01",
		"le mois dernier":                     "from 2026-12-01 to 2026-12-31",
		"过去7天":                                "from 2026-12-26 to 2027-01-01",
		"前天":                                  "on 2026-12-30",
		"上周五":                                 "on 2026-12-25",
		"12月31日":                              "on 2026-12-31",
	}
	all := []language{english, spanish, german, french, chinese}
	for text, want := range cases {
		t.Run(text, func(t *testing.T) {
			r := understand("angry "+text, all)
			require.NotEmpty(t, r.dates.spans)
			require.Empty(t, r.dates.spans[0].bad)
			require.Equal(t, want, r.dates.spans[0].resolve(frame{today: today, weekBegin: 1}).String())
		})
	}
}

func TestModalMayIsNoMonth(t *testing.T) {
	for _, text := range []string{"may I ask for praise", "you may count the angry ones"} {
		r := understand(text, []language{english})
		require.Empty(t, r.dates.spans, text)
	}
	require.Len(t, understand("angry in May", []language{english}).dates.spans, 1)
}

func TestEstimateTokens(t *testing.T) {
	cases := map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "éa": 2, "今天": 2, "😀": 1}
	for text, want := range cases {
		require.Equal(t, want, estimateTokens(text), text)
		cut, was := cutTokens(text, want)
		require.Equal(t, text, cut)
		require.False(t, was)
	}
	cut, was := cutTokens("abcd今天", 2)
	require.Equal(t, "abcd今", cut)
	require.True(t, was)
}
