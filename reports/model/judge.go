package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/expr"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// account is what is known of one candidate so far.
type account struct {
	manifest.Candidate
	pool  pool
	meter meter
	// Of the user's own criteria, which are the same for all accounts.
	criteria []ownCriterion
	tallies  []*expr.Tally
	shared   bool // with other candidates of the same provider and model
}

// judge measures the candidate and, unless it is a script, judges it: by all of its
// data or, in a run in rounds, at one of several looks.
func (acc *account) judge(m *manifest.Manifest, look stat.Look) Candidate {
	a := atLook(m.Acceptance, look)
	p := &acc.pool
	p.interim = interim(look)
	const most = 1 << 40 // a manifest may claim anything, but sums must not overflow
	p.ended.Unfinished += max(0, min(acc.Planned, most)-p.episodes)
	c := Candidate{Candidate: acc.Candidate, Criteria: []Criterion{}, Metrics: acc.meter.metrics(p, a.Confidence)}
	if acc.Provider == Scripted {
		c.Verdict = stat.NotJudged
		c.Sentence = fmt.Sprintf("replays a script, so it is shown but not judged; it solved %d of %d.", p.solved, p.scored)
		return c
	}
	c.Criteria = append(p.criteria(a, acc.Agent), acc.own(a)...)
	corrected(c.Criteria, look)
	c.Verdict, c.Sentence = decide(c.Criteria, p, m, false)
	if c.Verdict == stat.Inconclusive {
		c.Sentence += p.refused(c.Criteria)
	}
	return c
}

// decide is the verdict that the criteria and the episodes without a result come to, and
// why. Of lost episodes nothing is supposed: a pass must hold with the worst that they can
// have been. A fail with more lost than the run tolerates must hold with the best, since
// what is left may be what a failing provider let through. Episodes that a cap or an
// interruption cut off may be the hard ones: with them nothing passes.
func decide(criteria []Criterion, p *pool, m *manifest.Manifest, pooled bool) (stat.Verdict, string) {
	v, o := verdictOf(criteria), p.outcomes()
	said := sentence(v, criteria)
	missing, cut := lostOutcomes(o), cutOutcomes(o)
	n, k := planned(o), missing.WithoutResult()
	lost := fmt.Sprintf("%d of %d planned episodes (%s) were lost (%s: %s)",
		k, n, words.Percent(float64(k)/float64(max(1, n))), WithoutResult(missing), lostWords(p.lost, k, pooled))
	worst := notInWorstCase(criteria)
	many := k > 0 && stat.CompareRatio(int64(k), int64(n), m.Acceptance.MaxInfra) > 0
	switch still := stillFailing(criteria); {
	case many && len(still) > 0:
		return stat.Fail, fmt.Sprintf("%s, even if the %s (%s) of %d planned had gone as well as possible.",
			strings.TrimSuffix(sentence(stat.Fail, still), "."), words.Plural(k, "lost episode"), WithoutResult(missing), n)
	case many && v != stat.Pass:
		return stat.Inconclusive, fmt.Sprintf("has no verdict: %s, and more than %s is too many; on the others alone it %s %s",
			lost, words.Setting(m.Acceptance.MaxInfra), said, rerun(m))
	case v != stat.Pass:
		return v, said
	case cut.WithoutResult() > 0:
		return stat.Inconclusive, fmt.Sprintf("meets %s so far, but %d of %d planned episodes have no result (%s).", allCriteria(criteria), cut.WithoutResult(), n, WithoutResult(cut))
	case k == 0:
		return stat.Pass, said
	case len(worst) == 0:
		return stat.Pass, fmt.Sprintf("meets %s, even if the %s (%s) of %d planned had gone as badly as possible.", allCriteria(criteria), words.Plural(k, "lost episode"), WithoutResult(missing), n)
	}
	return stat.Inconclusive, fmt.Sprintf("meets %s on the episodes with a result, but %s: had these gone as badly as possible, it would not pass %s. %s",
		allCriteria(criteria), lost, words.And(worst), rerun(m))
}

// stillFailing are the criteria that fail, and do in their best case, too.
func stillFailing(criteria []Criterion) (list []Criterion) {
	for _, c := range criteria {
		if c.Verdict == stat.Fail && (c.BestCase == nil || c.BestCase.Verdict == stat.Fail) {
			list = append(list, c)
		}
	}
	return list
}

// notInWorstCase names the criteria that pass, and would not in their worst case.
func notInWorstCase(criteria []Criterion) (titles []string) {
	for _, c := range criteria {
		if c.Verdict == stat.Pass && c.WorstCase != nil && c.WorstCase.Verdict != stat.Pass {
			titles = append(titles, words.LowerFirst(c.Title))
		}
	}
	return titles
}

// allCriteria counts the criteria that are judged, as in "all 4 criteria".
func allCriteria(criteria []Criterion) string {
	n, solved := 0, false
	for _, c := range criteria {
		if c.Verdict != stat.NotJudged {
			n++
			solved = solved || c.Name == "solved"
		}
	}
	text := fmt.Sprintf("all %d criteria", n)
	if !solved {
		text += " (" + SuccessNotJudged + ")"
	}
	return text
}

// SuccessNotJudged is what every acceptance says without a criterion for success.
const SuccessNotJudged = "success not judged"

func verdictOf(criteria []Criterion) stat.Verdict {
	var list []stat.Verdict
	for _, c := range criteria {
		list = append(list, c.Verdict)
	}
	return stat.Worst(list)
}

// sentence says the verdict of the criteria and what decided it.
func sentence(v stat.Verdict, criteria []Criterion) string {
	if v == stat.Pass {
		return "meets " + allCriteria(criteria) + "."
	}
	var parts []string
	for _, c := range criteria {
		if c.Verdict != v {
			continue
		}
		part := fmt.Sprintf("%s %s", words.LowerFirst(c.Title), c.ValueText())
		if c.Value == nil && c.Raw != nil {
			part = fmt.Sprintf("%s: unknown (%s)", words.LowerFirst(c.Title), c.IntervalText())
		} else if c.Value == nil {
			part = fmt.Sprintf("%s: no data", words.LowerFirst(c.Title))
		} else if c.Interval != nil {
			part += fmt.Sprintf(" (%s)", c.IntervalText())
		}
		parts = append(parts, part+", needs "+c.NeedsText())
	}
	if v == stat.Fail {
		return "fails on " + strings.Join(parts, "; ") + "."
	}
	return "needs more evidence on " + strings.Join(parts, "; ") + "."
}

// SentenceOf says what criteria alone come to: a candidate's or group's own sentence is
// another where episodes without a result decided, or were left out.
func SentenceOf(criteria []Criterion) string { return sentence(verdictOf(criteria), criteria) }

// modelKey is what pooled candidates share. Strategies are not pooled: they have
// protocols of their own, and a step of one is not a step of another.
type modelKey struct{ agent, provider, model string }

func keyOf(c *manifest.Candidate) modelKey { return modelKey{c.Agent, c.Provider, c.Model} }

// addGroups pools judged candidates that share a strategy, a provider and a model.
func (r *Report) addGroups(by map[string]*account) {
	var order []modelKey
	members := map[modelKey][]*Candidate{}
	for i := range r.Candidates {
		c := &r.Candidates[i]
		if c.Verdict == stat.NotJudged {
			continue
		}
		k := keyOf(&c.Candidate)
		if members[k] == nil {
			order = append(order, k)
		}
		members[k] = append(members[k], c)
	}
	for _, k := range order {
		if len(members[k]) < 2 {
			continue
		}
		g := Group{Provider: k.provider, Model: k.model, Mixes: mixes(members[k])}
		if !contractual(k.agent) {
			g.Agent = k.agent
		}
		var pooled pool
		var accounts []*account
		for _, c := range members[k] {
			g.Candidates = append(g.Candidates, c.Name)
			pooled.merge(&by[c.Name].pool)
			accounts = append(accounts, by[c.Name])
		}
		look := lookOf(&r.Run, g.Candidates...)
		a := atLook(r.Run.Acceptance, look)
		first := &by[g.Candidates[0]].pool
		pooled.interim, pooled.jury, pooled.trusting = interim(look), first.jury, first.trusting
		g.Criteria = append(pooled.criteria(a, k.agent), ownOfGroup(accounts, a)...)
		corrected(g.Criteria, look)
		if g.Verdict, g.Sentence = decide(g.Criteria, &pooled, &r.Run, true); g.Verdict == stat.Inconclusive {
			g.Sentence += pooled.refused(g.Criteria)
		}
		r.Groups = append(r.Groups, g)
	}
}

// mixes names what the members of a group differ in.
func mixes(members []*Candidate) []string {
	list := []string{}
	for _, d := range []struct {
		name string
		of   func(*Candidate) string
	}{
		{"output mode", func(c *Candidate) string { return c.OutputMode }},
		{"prompt profile", func(c *Candidate) string { return c.PromptProfile }},
		{"rescue model", func(c *Candidate) string { return c.RescueModel }},
	} {
		var values []string
		for _, c := range members {
			v := cmp.Or(d.of(c), "none")
			if !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		if len(values) > 1 {
			slices.Sort(values)
			list = append(list, d.name+": "+strings.Join(values, ", "))
		}
	}
	return list
}
