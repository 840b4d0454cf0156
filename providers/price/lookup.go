package price

import (
	"strings"
	"time"

	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// Lookup returns the entry that prices a model on a day, and whether there is
// one. An exact name comes first, then the name without its date, then the
// longest prefix, then the longest part, each followed by nothing but the date or number of a snapshot; of those the latest that applies on the day. The zero time is
// no day: nothing is found. The entry shares its slices with the table.
func (p Table) Lookup(provider, model string, at time.Time) (Entry, bool) {
	if e := p.find(provider, model, at); e != nil {
		return *e, true
	}
	return Entry{}, false
}

func (p Table) find(provider, model string, at time.Time) *Entry {
	if at.IsZero() {
		return nil
	}
	for _, l := range p.layers {
		if e := l.find(provider, model, at); e != nil {
			return e
		}
		if same := l.same[provider]; same != "" {
			if e := l.find(same, model, at); e != nil {
				return e
			}
		}
	}
	return nil
}

func (l *layer) find(provider, model string, at time.Time) *Entry {
	l = l.of(provider)
	for _, name := range []string{model, undated(model)} {
		for _, i := range l.byName[key{provider, name}] {
			if e := &l.entries[i]; !e.From.After(at) {
				return e
			}
		}
	}
	for _, i := range l.prefixed {
		if e := &l.entries[i]; e.Provider == provider && e.covers(model) && !e.From.After(at) {
			return e
		}
	}
	return nil
}

// snapshot is what may follow the name of a model in that of one of its snapshots: a
// date in one of the providers' forms, or a number of the version, with those of the
// cloud behind it.
var snapshot = lazyregexp.New(`^(?:(?:-preview|-exp)?[-@](?:\d{4}-\d\d-\d\d|\d{8}|\d\d-\d{4}|\d\d-\d\d|\d{4}|\d{3}))?(?:-latest)?(?:-v\d+)?(?::\d+)?(?::\d+k)?$`)

// covers reports whether a model's name is the one that is priced, or a snapshot of it.
// What it merely begins with or contains is another model: gpt-4o is not gpt-4. A
// prefix that ends with a colon is a model that was tuned for the owner who follows.
func (e *Entry) covers(model string) bool {
	rest, ok := "", false
	switch {
	case e.Prefix != "":
		rest, ok = strings.CutPrefix(model, e.Prefix)
		if ok && strings.HasSuffix(e.Prefix, ":") {
			return true
		}
	case e.Contains != "":
		var before string
		before, rest, ok = strings.Cut(model, e.Contains)
		ok = ok && (before == "" || strings.ContainsAny(before[len(before)-1:], "./:"))
	}
	name := strings.TrimRight(e.Prefix+e.Contains, "-@")
	return ok && snapshot.MatchString((e.Prefix + e.Contains)[len(name):]+rest)
}

// undated cuts the date off the name of a snapshot: -20250929, @20250929,
// -2025-09-29 or -latest.
func undated(model string) string {
	if name, ok := strings.CutSuffix(model, "-latest"); ok {
		return name
	}
	for _, form := range []string{"-0000-00-00", "-00000000", "@00000000"} {
		if cut := len(model) - len(form); cut > 0 && fits(model[cut:], form) {
			return model[:cut]
		}
	}
	return model
}

// fits reports whether s has a digit where form has one, and is equal elsewhere.
func fits(s, form string) bool {
	for i := range len(form) {
		if form[i] == '0' && (s[i] < '0' || s[i] > '9') || form[i] != '0' && s[i] != form[i] {
			return false
		}
	}
	return true
}
