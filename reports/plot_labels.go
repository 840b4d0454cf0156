package reports

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// labels are short, distinct names of candidates for axes and keys, at most limit
// columns wide.
func labels(r Report, limit int) []string {
	seen, list := map[string]bool{}, make([]string, len(r.Candidates))
	for i, c := range r.Candidates {
		list[i] = label(c.Name, i, limit, seen)
	}
	return list
}

// label is a name cut to limit columns; the i-th of its list begins with its
// number where it would be empty, or read like one seen before.
func label(name string, i, limit int, seen map[string]bool) string {
	s := fit(strings.TrimSpace(visible(name)), limit)
	if s == "" || seen[s] {
		s = fit(strings.TrimSpace(fmt.Sprintf("%d %s", i+1, visible(name))), limit)
	}
	seen[s] = true
	return s
}

// fit cuts a name so that it is at most as wide as limit columns of wider letters
// than most.
func fit(s string, limit int) string {
	cut := middle(s, limit)
	for n := limit - 1; n > 2 && typefaces()[0].walk(cut, nil) > 0.6*float64(limit); n-- {
		cut = middle(s, n)
	}
	return cut
}

// middle cuts a name in the middle, to at most limit columns: names of candidates
// often differ at the end.
func middle(s string, limit int) string {
	if columns(s) <= limit {
		return s
	}
	r := []rune(s)
	head, tail := 0, len(r)
	for room := limit - 1 - (limit-1)/2; room >= wide(r[head]); head++ {
		room -= wide(r[head])
	}
	for room := (limit - 1) / 2; room >= wide(r[tail-1]); tail-- {
		room -= wide(r[tail-1])
	}
	for unicode.In(r[tail], unicode.Mn, unicode.Me) { // its letter is cut off
		tail++
	}
	return string(r[:head]) + "…" + string(r[tail:])
}

// columns is the width of s where a Latin letter is one wide.
func columns(s string) (n int) {
	for _, r := range s {
		n += wide(r)
	}
	return n
}

func wide(r rune) int {
	switch kind := width.LookupRune(r).Kind(); {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1F000, kind == width.EastAsianWide, kind == width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// pictured is r with names that a picture can show, and f with a title of them:
// its font lacks most scripts. Instead of a name with other letters stands the
// candidate's number and what can be drawn of the name; stands says who is who.
func pictured(r Report, f Figure) (_ Report, _ Figure, stands string) {
	was := r.Candidates
	var key []string
	for i, c := range was {
		name := visible(c.Name)
		if drawable(name) {
			continue
		}
		if len(key) == 0 {
			r.Candidates = slices.Clone(was)
		}
		r.Candidates[i].Name = join(" ", fmt.Sprintf("#%d", i+1), drawablePart(name))
		key = append(key, r.Candidates[i].Name+" is "+brief(c.Name, 40))
	}
	r.Tasks = picturedTasks(r.Tasks)
	r.Trend = slices.Clone(r.Trend)
	for i := range r.Trend {
		if k := slices.IndexFunc(was, func(c Candidate) bool { return c.Name == r.Trend[i].Candidate }); k >= 0 {
			r.Trend[i].Candidate = r.Candidates[k].Name
		}
	}
	key = append(key, r.pictureStrategies()...)
	if len(key) == 0 {
		return r, f, ""
	}
	for _, k := range figures() {
		if k.name == f.Name {
			f.Title = k.title(&r)
		}
	}
	return r, f, "In the picture, " + strings.Join(key, "; ") + "."
}

// drawablePart is what a picture can show of a name, if that says anything.
func drawablePart(name string) string {
	kept := strings.Map(func(r rune) rune {
		if drawable(string(r)) {
			return r
		}
		return -1
	}, name)
	kept = strings.Trim(kept, " -_.:/")
	if strings.IndexFunc(kept, unicode.IsLetter) < 0 {
		return ""
	}
	return kept
}

func picturedTasks(was []Task) []Task {
	tasks := was
	for i, t := range was {
		if id := visible(t.ID); !drawable(id) {
			if &tasks[0] == &was[0] {
				tasks = slices.Clone(was)
			}
			tasks[i].ID = join(" ", fmt.Sprintf("#%d", i+1), drawablePart(id))
		}
	}
	return tasks
}
