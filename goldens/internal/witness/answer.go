package witness

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/decimal"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// piece is what one check wants in the answer, in the forms it may have there.
type piece struct {
	forms []string
	// opaque reports that other forms may do as well.
	opaque bool
}

// answer writes an answer: the pieces that checks want, one under the other, each in a
// form that no check forbids. A form is judged alone, so that a piece of which no form
// will do is a contradiction.
func (g *Goal) answer() (string, *Obstacle) {
	var text []string
	found, sep := g.matchConflict(), g.separator()
	put := func(p piece) {
		form, bad := g.choose(p)
		if bad != nil && (found == nil || bad.Sure && !found.Sure) {
			found = bad
		}
		if form != "" {
			text = append(text, form)
		}
	}
	for _, p := range g.pieces() {
		put(p)
	}
	for _, expr := range g.Expect.Matches {
		if re, err := regexp.Compile(expr); err == nil && !re.MatchString(strings.Join(text, sep)) {
			var p piece
			for _, sample := range regexSamples(expr) {
				p.forms = append(p.forms, textForms(sample)...)
			}
			p.opaque = true
			put(p)
		}
	}
	whole := strings.Join(text, sep)
	candidates := []string{whole, "x" + sep + whole + sep + "x"}
	for _, expr := range g.Expect.Matches { // which may be about the answer as a whole
		candidates = append(candidates, regexSamples(expr)...)
	}
	if g.Task.AnswerSchema != nil && goldens.AnswersTask(g.Expect.Status) {
		candidates = g.shaped(whole)
	}
	for _, c := range candidates {
		if (found == nil || !found.Sure) && g.accepts(c) {
			return c, nil
		}
	}
	return whole, found
}

// matchConflict reports an expression that the answer must and must not match.
func (g *Goal) matchConflict() *Obstacle {
	for _, expr := range g.Expect.NotMatches {
		if slices.Contains(g.Expect.Matches, expr) {
			return &Obstacle{fmt.Sprintf("the answer must match %q and must not", expr), true}
		}
	}
	return nil
}

// accepts reports whether an answer passes all checks of its text.
func (g *Goal) accepts(answer string) bool {
	e := g.Expect
	return g.failed(goldens.Expect{
		Status: e.Status, Numbers: e.Numbers, NotNumbers: e.NotNumbers, OnlyNumbers: e.OnlyNumbers, Near: e.Near,
		ContainsAny: e.ContainsAny, ContainsAll: e.ContainsAll, NotContains: e.NotContains, Matches: e.Matches, NotMatches: e.NotMatches,
	}, answer) == ""
}

// failed says which check of an outcome an answer fails; empty if none.
func (g *Goal) failed(e goldens.Expect, answer string) string {
	task := g.Task
	task.Expect = []goldens.Expect{e}
	_, checks := goldens.Score(task, goldens.Outcome{Status: e.Status, Answer: answer})
	for _, c := range checks {
		if !c.Passed && c.Name != "expect" { // which checks nothing
			return c.Name + ": " + c.Detail
		}
	}
	return ""
}

// pieces are what the checks want in the answer.
func (g *Goal) pieces() (out []piece) {
	e := g.Expect
	for _, n := range e.Numbers {
		out = append(out, piece{forms: numberForms(n)})
	}
	for _, text := range e.ContainsAll {
		out = append(out, piece{forms: textForms(text)})
	}
	if len(e.ContainsAny) > 0 {
		var one piece
		for _, text := range e.ContainsAny {
			one.forms = append(one.forms, textForms(text)...)
		}
		out = append(out, one)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Near)) {
		var near piece
		for _, n := range numberForms(e.Near[name]) {
			near.forms = append(near.forms, name+" "+n)
		}
		out = append(out, near)
	}
	if e.TableLabel != "" {
		day := g.tableDay()
		for _, n := range numberForms(g.Task.Table(e.TableLabel)[day]) {
			out = append(out, piece{[]string{day + ": " + n}, true})
		}
	}
	return out
}

// numberForms are the ways in which people write a number.
func numberForms(n string) []string {
	forms := []string{n}
	d, ok := decimal.Parse(n)
	if !ok {
		return forms
	}
	plain := d.String()
	whole, fraction, _ := strings.Cut(plain, ".")
	if fraction != "" {
		fraction = "." + fraction
	}
	for _, mark := range []string{"", ",", "\u202f"} {
		if form := grouped(whole, mark) + fraction; !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	return forms
}

// grouped puts a mark before every three digits of a whole number.
func grouped(whole, mark string) string {
	sign, digits := "", whole
	if rest, ok := strings.CutPrefix(whole, "-"); ok {
		sign, digits = "-", rest
	}
	var out strings.Builder
	for i, r := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out.WriteString(mark)
		}
		out.WriteRune(r)
	}
	return sign + out.String()
}

// textForms are a text alone and, where it begins or ends with a digit, as a part of
// a word, so that the digit is not a number.
func textForms(text string) []string {
	forms := []string{text}
	if d := "0123456789"; text != "" && (strings.IndexByte(d, text[0]) >= 0 || strings.IndexByte(d, text[len(text)-1]) >= 0) {
		forms = append(forms, "x"+text+"x")
	}
	return forms
}

// choose returns the first form of a piece that no check forbids.
func (g *Goal) choose(p piece) (string, *Obstacle) {
	found := &Obstacle{"no text was found that matches", !p.opaque}
	for i, form := range p.forms {
		why := g.forbids(form)
		if why == "" {
			return form, nil
		}
		if i == 0 {
			found.reason = why
		}
	}
	return "", found
}

// forbids says which check a part of an answer breaks, regardless of the text around it;
// empty if it breaks no check.
func (g *Goal) forbids(form string) string {
	e := g.Expect
	e.NotMatches = slices.DeleteFunc(slices.Clone(e.NotMatches), func(expr string) bool { return !contextFree(expr) })
	const part = "clarify" // a status that takes no answer, and so no shape of one
	for _, one := range []goldens.Expect{{NotContains: e.NotContains}, {NotNumbers: e.NotNumbers, OnlyNumbers: e.OnlyNumbers}, {NotMatches: e.NotMatches}} {
		if one.Status = part; len(one.NotContains)+len(one.NotNumbers)+len(one.NotMatches) == 0 && one.OnlyNumbers == nil {
			continue
		}
		if why := g.failed(one, form); why != "" {
			return why
		}
	}
	return ""
}

// separator is between two pieces: a text that no check forbids. JSON would write
// the end of a line as a letter.
func (g *Goal) separator() string {
	all, separators := strings.Join(g.Expect.NotContains, ""), []string{"\n", ";", "|", "~", "*"}
	if g.Task.AnswerSchema != nil {
		separators = separators[1:]
	}
	for _, sep := range separators {
		if !strings.Contains(all, sep) {
			return sep
		}
	}
	return separators[0]
}

// shaped puts an answer's text into JSON of the task's answer schema.
func (g *Goal) shaped(text string) (out []string) {
	schema, _, _ := tool.ParseJSON(string(g.Task.AnswerSchema))
	s := sampler{root: schema, text: text, numbers: g.Expect.Numbers}
	write := func(v any) {
		if text, err := plainjson.Marshal(v); err == nil {
			out = append(out, string(text))
		}
	}
	if g.Task.Each == "" {
		list, _ := s.values(anything{}, schema, 0)
		for _, v := range list {
			write(v)
		}
		return out
	}
	list := []any{}
	for range g.Task.Items() {
		if some, _ := s.values(anything{}, schema, 0); len(some) > 0 {
			list = append(list, some[0])
		}
	}
	write(list)
	return out
}
