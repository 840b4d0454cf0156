package canary

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/clip"
)

// Judge returns what an observation shows beside the history, and the observation
// with the change that it shows, if any. A model name that was not served since the
// last change is a change at once. A fingerprint is named but is not a change: some
// providers have several at a time. Otherwise the nights since the last change are
// tested: see findSplit. A night is a day in UTC; the last observation of it counts.
func Judge(history []Observation, now Observation) (Observation, manifest.Canary) {
	history = slices.DeleteFunc(slices.Clone(history), func(o Observation) bool { return !o.At.Before(now.At) })
	past := since(history, now)
	f := manifest.Canary{
		Asked: now.At.UTC().Format(time.RFC3339Nano), BaseURL: now.BaseURL, Served: now.Served, Fingerprints: now.Fingerprints,
		Answers: now.Digest(), Problem: now.Problem, CostNanoUSD: now.CostNanoUSD,
	}
	nights := nightly(past, now)
	f.Nights = len(nights)
	newer := func(of func(Observation) []string) (was, is []string) {
		for _, o := range past {
			was = append(was, of(o)...)
		}
		is = slices.DeleteFunc(slices.Clone(of(now)), func(n string) bool { return slices.Contains(was, n) })
		return Names(was), is
	}
	was, is := newer(func(o Observation) []string { return o.Served })
	fingerprints, fresh := newer(func(o Observation) []string { return o.Fingerprints })
	var also []string
	if len(fingerprints) > 0 && len(fresh) > 0 {
		also = []string{fmt.Sprintf("fingerprint %s → %s", some(fingerprints), some(fresh))}
	}
	switch {
	case len(was) > 0 && len(is) > 0:
		now.Change = &Change{On: now.At, Since: past[len(past)-1].At, Certain: true, Evidence: append([]string{fmt.Sprintf("served model %s → %s", some(was), some(is))}, also...)}
		f.Nights = 1
	case now.Problem != "":
		f.Status = manifest.CanaryUnknown
	case len(nights) < MinNights:
		f.Status = manifest.CanaryTooFew
	default:
		s := findSplit(nights)
		f.P, f.Status = &s.p, manifest.CanaryUnchanged
		if s.p <= Level {
			nights = nights[max(0, len(nights)-window):]
			at := len(nights) - s.after
			now.Change = &Change{On: nights[at].At, Since: nights[at-1].At, P: s.p, Evidence: append(describe(nights, s), also...)}
			f.Nights = s.after
		}
	}
	f.Evidence = also
	if c := now.Change; c != nil {
		f.Status = manifest.CanaryChanged
		Mark(&f, *c)
	} else if c, ok := lastChange(Changes(history, now.Model), now.At); ok {
		f.ChangedOn = c.On.UTC().Format(time.RFC3339Nano)
	}
	return now, f
}

// Mark writes a change into a finding.
func Mark(f *manifest.Canary, c Change) {
	f.ChangedOn, f.Evidence = c.On.UTC().Format(time.RFC3339Nano), c.Evidence
	if !c.Certain {
		f.P = &c.P
	}
}

// Changes are those that the history says of a model, in the order of On.
func Changes(history []Observation, m Model) []Change {
	var out []Change
	for _, o := range history {
		if o.Model == m && o.Change != nil {
			out = append(out, *o.Change)
		}
	}
	slices.SortStableFunc(out, func(a, b Change) int { return a.On.Compare(b.On) })
	return out
}

// Last returns the last change up to a time of a provider's model at any of the
// addresses that match, "" matching all.
func Last(history []Observation, m Model, until time.Time) (Change, bool) {
	var all []Change
	for _, o := range history {
		if o.Change != nil && o.Provider == m.Provider && o.Model.Model == m.Model && (m.BaseURL == "" || m.BaseURL == o.BaseURL) {
			all = append(all, *o.Change)
		}
	}
	slices.SortStableFunc(all, func(a, b Change) int { return a.On.Compare(b.On) })
	return lastChange(all, until)
}

func lastChange(changes []Change, until time.Time) (Change, bool) {
	changes = slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return c.On.After(until) })
	if len(changes) == 0 {
		return Change{}, false
	}
	return changes[len(changes)-1], true
}

// since are the earlier observations of the same model since its last change, in the
// order of time.
func since(history []Observation, now Observation) []Observation {
	last, changed := lastChange(Changes(history, now.Model), now.At)
	out := slices.DeleteFunc(slices.Clone(history), func(o Observation) bool {
		return o.Model != now.Model || changed && o.At.Before(last.On)
	})
	slices.SortStableFunc(out, func(a, b Observation) int { return a.At.Compare(b.At) })
	return out
}

// nightly are the last complete observations of each day with the set of now, which is
// the last one if it is complete.
func nightly(past []Observation, now Observation) []Observation {
	var out []Observation
	for _, o := range append(slices.Clone(past), now) {
		if o.Set != now.Set || len(o.Answers) != len(Prompts()) {
			continue
		}
		if n := len(out); n > 0 && day(out[n-1].At) == day(o.At) {
			out = out[:n-1]
		}
		out = append(out, o)
	}
	return out
}

// Today returns the last complete observation of the same day, model and set; false
// without one.
func Today(history []Observation, now Observation) (Observation, bool) {
	found := Observation{}
	for _, o := range history {
		if o.Model == now.Model && o.Set == now.Set && day(o.At) == day(now.At) && !o.At.After(now.At) &&
			len(o.Answers) == len(Prompts()) && o.At.Compare(found.At) >= 0 {
			found = o
		}
	}
	return found, found.Set != ""
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// describe says what differs between the nights before and after a split.
func describe(nights []Observation, s split) []string {
	before, after := nights[:len(nights)-s.after], nights[len(nights)-s.after:]
	out := []string{fmt.Sprintf("%.1f of %d answers differ where %.1f is usual (p %.2g)",
		differing(before, after), len(Prompts()), differing(before, before), s.by[byAnswer])}
	if a, b := meanOf(before, byLength), meanOf(after, byLength); s.by[byLength] <= 0.05 && a > 0 {
		word := "longer"
		if b < a {
			word = "shorter"
		}
		out = append(out, fmt.Sprintf("output %.0f%% %s (p %.2g)", 100*math.Abs(b/a-1), word, s.by[byLength]))
	}
	if a, b := meanOf(before, byLogProb), meanOf(after, byLogProb); s.by[byLogProb] <= 0.05 {
		out = append(out, fmt.Sprintf("mean log probability of a token %.3f → %.3f (p %.2g)", a, b, s.by[byLogProb]))
	}
	return out
}

// differing is the mean number of answers in which a night of a differs from another
// one of b.
func differing(a, b []Observation) float64 {
	sum, pairs := 0.0, 0.0
	for _, x := range a {
		for _, y := range b {
			if x.At.Equal(y.At) {
				continue
			}
			pairs++
			for q := range x.Answers {
				if x.Answers[q].Digest != y.Answers[q].Digest {
					sum++
				}
			}
		}
	}
	return sum / max(1, pairs)
}

// meanOf is the mean of a measurement over all answers that have it.
func meanOf(nights []Observation, measure int) float64 {
	sum, n := 0.0, 0.0
	for _, o := range nights {
		for _, a := range o.Answers {
			switch {
			case measure == byLength && a.Tokens != nil:
				sum += float64(*a.Tokens)
			case measure == byLogProb && a.LogProb != nil:
				sum += *a.LogProb
			default:
				continue
			}
			n++
		}
	}
	return sum / max(1, n)
}

// some lists a few names.
func some(names []string) string { return cmp.Or(clip.Names(names, 3), "none") }
