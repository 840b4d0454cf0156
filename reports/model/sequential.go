package model

import (
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// lookOf is the look at a candidate's data that decided it, or that was the latest: the
// zero value in a run of fixed size. Of several candidates it is the earliest, which is
// the strictest.
func lookOf(m *manifest.Manifest, candidates ...string) stat.Look {
	if m.Decide == nil {
		return stat.Look{}
	}
	l := stat.Look{Rounds: m.Decide.Rounds, At: len(m.Decide.Rounds)}
	for _, name := range candidates {
		l.At = min(l.At, m.Decide.Look(name))
	}
	return l
}

// interim says that the data could have grown after this look.
func interim(l stat.Look) bool { return l.At < len(l.Rounds) }

// atLook is the acceptance whose intervals are corrected for the looks before and after
// this one.
func atLook(a manifest.Acceptance, l stat.Look) manifest.Acceptance {
	a.Confidence = l.Confidence(a.Confidence)
	return a
}

// corrected says of every interval what it was corrected for.
func corrected(criteria []Criterion, l stat.Look) {
	if len(l.Rounds) < 2 {
		return
	}
	for i := range criteria {
		if criteria[i].Interval != nil {
			criteria[i].Test += ", " + stopping(l)
		}
	}
}

// stopping is what a result after this look is corrected for.
func stopping(l stat.Look) string {
	return fmt.Sprintf("corrected for stopping after round %d of %d", l.At, len(l.Rounds))
}

// Intervals names the confidence of the run's intervals.
func (r *Report) Intervals() string {
	text := words.Setting(r.Run.Acceptance.Confidence)
	if d := r.Run.Decide; d != nil && len(d.Rounds) > 1 {
		text = "repeated " + text
	}
	return text
}

// addSequentialNotes says how far a run in rounds went, and what its intervals are
// corrected for.
func (r *Report) addSequentialNotes() {
	d := r.Run.Decide
	if d == nil {
		return
	}
	r.Notes = append(r.Notes, spent(r.Run))
	if len(d.Rounds) < 2 {
		return
	}
	by := map[int][]string{}
	for _, c := range r.Candidates {
		if c.Verdict != stat.NotJudged {
			at := d.Look(c.Name)
			by[at] = append(by[at], words.Brief(c.Name, 80))
		}
	}
	for at := range len(d.Rounds) + 1 {
		if names := by[at]; names != nil {
			l := stat.Look{Rounds: d.Rounds, At: at}
			r.Notes = append(r.Notes, fmt.Sprintf("Intervals of %s have a confidence of %s each, %s: together, those of all rounds have %s.",
				strings.Join(names, ", "), words.Level(l.Confidence(r.Run.Acceptance.Confidence)), stopping(l), words.Setting(r.Run.Acceptance.Confidence)))
		}
	}
	r.Notes = append(r.Notes, "Estimates themselves are not corrected: a candidate that stops early tends to look further from the threshold than it is.")
	if r.Strategies != nil || len(r.Trend) > 0 {
		r.Notes = append(r.Notes, "Comparisons of strategies and trends are not corrected for stopping.")
	}
}

// spent says how many episodes a run in rounds had, of how many it could have had, such
// as "Stopped after 2 of 5 rounds: 200 of 500 episodes, 60% saved."; "" for any other.
func spent(m manifest.Manifest) string {
	d := m.Decide
	if d == nil {
		return ""
	}
	had, most, rounds := 0, m.MostEpisodes(), d.Finished
	for _, c := range m.Candidates {
		had += c.Planned
	}
	if m.Stopped != "" || most == 0 {
		return fmt.Sprintf("Finished %d of %d rounds: %s of at most %s episodes.", rounds, len(d.Rounds), words.Thousands(int64(m.Episodes)), words.Thousands(int64(most)))
	}
	return fmt.Sprintf("Stopped after %d of %d rounds: %s of %s episodes, %s saved.",
		rounds, len(d.Rounds), words.Thousands(int64(had)), words.Thousands(int64(most)), words.Trimmed(100*(1-float64(had)/float64(most)), 0)+"%")
}
