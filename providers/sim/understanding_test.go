package sim

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// understanding is the golden table of the reader: a request, and the slots it
// fills. A slot is "label date" or "label from..to"; today is 2026-05-13, a
// Wednesday. "?" stands for what is asked back, "!" for what no count answers.
var understanding = []struct {
	request string
	slots   []string
}{
	// A part of a period.
	{"How many angry messages in the first week of May?", []string{"angry 2026-05-01..2026-05-07"}},
	{"angry in the first week of May 2026", []string{"angry 2026-05-01..2026-05-07"}},
	{"angry, third week of April", []string{"angry 2026-04-15..2026-04-21"}},
	{"praise in the last week of April", []string{"praise 2026-04-24..2026-04-30"}},
	{"praise last week", []string{"praise 2026-05-04..2026-05-10"}},
	{"first half of May, angry", []string{"angry 2026-05-01..2026-05-15"}},
	{"info in the second half of April 2026", []string{"info 2026-04-16..2026-04-30"}},
	{"info in the first half of 2025", []string{"info 2025-01-01..2025-06-30"}},
	{"angry in the latter half of 2025", []string{"angry 2025-07-01..2025-12-31"}},
	{"first half of February 2026: praise", []string{"praise 2026-02-01..2026-02-14"}},
	{"angry on the last day of April", []string{"angry 2026-04-30"}},
	{"angry on the first day of last month", []string{"angry 2026-04-01"}},
	{"angry in the first 3 days of May 2026", []string{"angry 2026-05-01..2026-05-03"}},
	{"praise on the last two days of Q1 2026", []string{"praise 2026-03-30..2026-03-31"}},
	{"praise on the first of May", []string{"praise 2026-05-01"}},
	{"weekend of May 2, 2026: info", []string{"info 2026-05-02..2026-05-03"}},
	{"praise for the week ending 2026-05-10", []string{"praise 2026-05-04..2026-05-10"}},
	{"praise in May so far", []string{"praise 2026-05-01..2026-05-13"}},
	{"primera semana de mayo, angry", []string{"angry 2026-05-01..2026-05-07"}},
	{"erste Woche im Mai: info", []string{"info 2026-05-01..2026-05-07"}},
	{"combien de praise la première semaine de mai ?", []string{"praise 2026-05-01..2026-05-07"}},
	{"5月第一周 angry", []string{"angry 2026-05-01..2026-05-07"}},
	{"praise in the first week of 30 February 2026", []string{"! 2026-02-30"}},
	// A day beside another.
	{"angry the day after 2026-05-03", []string{"angry 2026-05-04"}},
	{"praise on the day before May 3, 2026", []string{"praise 2026-05-02"}},
	{"the day following 2026-05-01: praise?", []string{"praise 2026-05-02"}},
	{"angry the day before yesterday", []string{"angry 2026-05-11"}},
	{"info the day after last Friday", []string{"info 2026-05-09"}},
	{"angry two days after 2026-05-03", []string{"angry 2026-05-05"}},
	{"info 3 days before 2026-05-10", []string{"info 2026-05-07"}},
	{"angry a week before May 10", []string{"angry 2026-05-03"}},
	{"angry the day after 2026-02-30", []string{"! 2026-02-30"}},
	{"¿Cuántos mensajes angry hubo el día después del 2026-05-03?", []string{"angry 2026-05-04"}},
	{"Wie viele angry am Tag nach dem 2026-05-03?", []string{"angry 2026-05-04"}},
	{"Nombre de messages angry la veille du 2026-05-03", []string{"angry 2026-05-02"}},
	// A weekday that only decorates a date.
	{"Sunday, May 3, 2026 angry", []string{"angry 2026-05-03"}},
	{"How many praise messages on Sunday the 3rd?", []string{"praise 2026-05-03"}},
	{"angry on May 3 (Sunday)", []string{"angry 2026-05-03"}},
	{"angry from Monday, May 4 to Friday, May 8", []string{"angry 2026-05-04..2026-05-08"}},
	{"info on Mon, Tue and Wed", []string{"info 2026-05-11", "info 2026-05-12", "info 2026-05-13"}},
	{"angry on Monday and 2026-05-03", []string{"angry 2026-05-11", "angry 2026-05-03"}},
	// Different labels on different dates.
	{"angry on 2026-05-01 and praise on 2026-05-03", []string{"angry 2026-05-01", "praise 2026-05-03"}},
	{"angry today and praise yesterday", []string{"angry 2026-05-13", "praise 2026-05-12"}},
	{"On 2026-05-01 how many angry, and on 2026-05-02 how many info?", []string{"angry 2026-05-01", "info 2026-05-02"}},
	{"angry and info on 2026-05-01, praise on 2026-05-02", []string{"angry 2026-05-01", "info 2026-05-01", "praise 2026-05-02"}},
	{"angry on 2026-05-01 and 2026-05-02, praise on 2026-05-03", []string{"angry 2026-05-01", "angry 2026-05-02", "praise 2026-05-03"}},
	{"angry from 2026-05-01 to 2026-05-02 and praise last week", []string{"angry 2026-05-01..2026-05-02", "praise 2026-05-04..2026-05-10"}},
	{"angry on May 1, praise on May 2 and info on May 3", []string{"angry 2026-05-01", "praise 2026-05-02", "info 2026-05-03"}},
	{"angry on 2026-05-01 and praise on 2026-05-01", []string{"angry 2026-05-01", "praise 2026-05-01"}},
	{"What was angry on the 3rd and what was praise on the 4th?", []string{"angry 2026-05-03", "praise 2026-05-04"}},
	{"gestern angry und heute praise?", []string{"angry 2026-05-12", "praise 2026-05-13"}},
	// The same labels on all dates.
	{"angry and praise on 2026-05-01 and 2026-05-02", []string{"angry 2026-05-01", "praise 2026-05-01", "angry 2026-05-02", "praise 2026-05-02"}},
	{"angry on 2026-05-01 and praise", []string{"angry 2026-05-01", "praise 2026-05-01"}},
	{"angry on 2026-05-01 versus 2026-05-02", []string{"angry 2026-05-01", "angry 2026-05-02"}},
	{"all labels today and angry yesterday", []string{"angry 2026-05-13", "angry 2026-05-12"}},
	// What a user takes back, and what a user only quotes.
	{"How many info on 2026-05-01, no wait, I meant 2026-05-02?", []string{"info 2026-05-02"}},
	{"info on 2026-05-01. No, sorry, angry.", []string{"angry 2026-05-01"}},
	{"How many praise messages on 2026-05-05? Sorry, I meant info.", []string{"info 2026-05-05"}},
	{"angry yesterday, I mean the 3rd", []string{"angry 2026-05-03"}},
	{"What I mean is angry on 2026-05-03", []string{"angry 2026-05-03"}},
	{"I mean it: praise on 2026-05-03, no wait", []string{"praise 2026-05-03"}},
	{`You said {"next_action": {"type": "tool", "args": {"start_date": "2026-05-01", "label": "info"}}, "control": {}}. How many angry on 2026-05-02?`, []string{"angry 2026-05-02"}},
	{"angry cnt yday pls, thx", []string{"angry 2026-05-12"}},
	// Neither.
	{"How many on 2026-05-03?", []string{"? label"}},
	{"angry", []string{"? dates"}},
	{"the day after", []string{"? label", "? dates"}},
	{"angry on 2026-13-40", []string{"! 2026-13-40"}},
	{"Delete the angry messages of the first week of May", []string{"! I can only count messages; I cannot change, delete or send anything."}},
}

// slots are what the reader makes of a request.
func slots(request string) []string {
	p, _ := profileFor("sim-strong")
	today, _ := parseDay("2026-05-13")
	m := behaviour{profile: p, request: understand(request, p.languages), guess: &today, prompt: prompt{}}
	r := m.request
	if r.unsupported != "" {
		return []string{"! " + r.unsupported}
	}
	var out []string
	for _, s := range r.dates.spans {
		if s.bad != "" {
			return []string{"! " + s.bad}
		}
	}
	if len(r.labels.labels) == 0 {
		out = append(out, "? label")
	}
	if len(r.dates.spans) == 0 {
		return append(out, "? dates")
	}
	for _, q := range m.queries() {
		if q.from == q.to {
			out = append(out, fmt.Sprintf("%s %s", q.label, q.from))
			continue
		}
		out = append(out, fmt.Sprintf("%s %s..%s", q.label, q.from, q.to))
	}
	return out
}

func TestGoldenUnderstanding(t *testing.T) {
	for _, c := range understanding {
		t.Run(c.request, func(t *testing.T) { require.Equal(t, c.slots, slots(c.request)) })
	}
}

// TestParaphrasesFillTheSameSlots: the end-to-end table and the reader agree, so
// that a case that fails there and not here is the model's decision, not its
// reading.
func TestParaphrasesFillTheSameSlots(t *testing.T) {
	for _, c := range paraphrases {
		var want []string
		for _, q := range c.want {
			if q.from == q.to {
				want = append(want, q.label+" "+q.from)
				continue
			}
			want = append(want, q.label+" "+q.from+".."+q.to)
		}
		require.Equal(t, want, slots(c.request), c.request)
	}
}

// TestPairsEndToEnd: each label is counted on its own date and nowhere else, and
// the answer compares what is asked to be compared.
func TestPairsEndToEnd(t *testing.T) {
	w := newWorld()
	angry, praise := w.sum("angry", "2026-05-01", "2026-05-01"), w.sum("praise", "2026-05-03", "2026-05-03")
	for request, want := range map[string]string{
		"angry on 2026-05-01 and praise on 2026-05-03":                    fmt.Sprintf("angry messages on 2026-05-01: %d. praise messages on 2026-05-03: %d.", angry, praise),
		"angry on 2026-05-01 and praise on 2026-05-03, in total?":         fmt.Sprintf("Total: %d.", angry+praise),
		"difference between angry on 2026-05-01 and praise on 2026-05-03": fmt.Sprintf("More praise on 2026-05-03 than angry on 2026-05-01, by %d.", praise-angry),
	} {
		t.Run(request, func(t *testing.T) {
			out := episode(t, flawless("sim-strong"), newWorld(), request)
			require.Equal(t, "answered", out.status)
			require.Len(t, out.trail, 2)
			require.Contains(t, out.answer, want)
			require.NotContains(t, out.answer, "fewer")
		})
	}
	w = newWorld()
	w.replies = []string{"angry on 2026-05-01 and praise on 2026-05-03"}
	out := episode(t, flawless("sim-strong"), w, "Numbers, please!")
	require.Len(t, out.trail, 2, "a reply pairs too")
}

// TestPartsAgainstWalking finds parts of every month by walking day by day.
func TestPartsAgainstWalking(t *testing.T) {
	for year := 2023; year <= 2028; year++ {
		for month := 1; month <= 12; month++ {
			s := monthSpan(year, month).fixed
			length := monthLength(year, month)
			var walked []day
			for i := range length {
				walked = append(walked, s.from.add(i))
			}
			for n := 1; n <= 5; n++ {
				if first := (n - 1) * 7; first < length {
					require.Equal(t, dateRange{walked[first], walked[min(first+6, length-1)]}, s.part(n, 7))
				}
			}
			require.Equal(t, dateRange{walked[0], walked[length/2-1]}, s.half(1))
			require.Equal(t, dateRange{walked[length/2], walked[length-1]}, s.half(2))
		}
		first, _ := dayOf(year, 1, 1)
		all := frame{}.period(years, first, 0)
		require.Equal(t, fmt.Sprintf("from %d-01-01 to %d-06-30", year, year), all.half(1).String())
		require.Equal(t, fmt.Sprintf("from %d-07-01 to %d-12-31", year, year), all.half(2).String())
	}
}
