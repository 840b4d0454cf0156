// Package sides opens the runs of a comparison, pairs their candidates, and refuses runs
// whose comparison would mislead.
package sides

import (
	"cmp"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/harness/canary"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/model"
)

// Side is one run of a comparison, and the candidates of it that may be paired.
type Side struct {
	// Dir is the run folder, empty for a run in progress. Names are the candidates that
	// may be paired.
	Dir      string
	Manifest manifest.Manifest
	Episodes iter.Seq2[ledger.EpisodeRows, error]
	Names    []string
	// Selector is what follows RUN: on the command line, empty without it.
	Selector string
	// Ran are all candidates of the run; Manifest has the chosen ones.
	Ran []manifest.Candidate
	// Chosen says that the caller named candidates; agent that it named a strategy.
	Chosen, agent bool
}

// runCandidate matches RUN:CANDIDATE. Names of candidates have only these characters.
var runCandidate = regexp.MustCompile(`^(.+):([A-Za-z0-9._-]+)$`)

// Open opens RUN or RUN:CANDIDATE. names selects candidates of a RUN; nil selects all.
func Open(runs, text string, names []string) (s Side, err error) {
	run := text
	if m := runCandidate.FindStringSubmatch(text); m != nil {
		if _, err := os.Stat(filepath.Join(text, "run.json")); err != nil { // not a folder of this name
			run, s.Selector, names = m[1], m[2], m[2:]
		}
	}
	if s.Dir, s.Manifest, s.Episodes, err = rundir.Open(runs, run); err != nil {
		return s, err
	}
	if s.Manifest, err = withModelChanges(s.Dir, s.Manifest); err != nil {
		return s, err
	}
	s.Ran = slices.Clone(s.Manifest.Candidates) // only deletes from the original
	if all := ofAgent(s.Manifest, names); all != nil {
		names, s.agent = all, true
	}
	if s.Manifest.Candidates, err = rundir.Only(s.Manifest, names); err != nil {
		return s, err
	}
	s.Chosen = len(names) > 0
	for _, c := range s.Manifest.Candidates {
		if c.Provider != model.Scripted || s.Chosen { // scripts test cupel
			s.Names = append(s.Names, c.Name)
		}
	}
	return s, nil
}

// Pair pairs the candidates of a run with those of its baseline. Its error says why they
// cannot be compared.
func Pair(pool []Side, t Side, rules compare.Rules) ([]compare.Names, error) {
	pairs, err := pairUp(pool[0], t)
	if err != nil {
		return nil, err
	}
	if err := checkPool(pool, t, pairs); err != nil {
		return nil, err
	}
	if err := refuse(pool[0], t, compare.Differences(pool[0].Manifest, t.Manifest, pairs), rules.Resolved().Changed); err != nil {
		return nil, err
	}
	return pairs, nil
}

// Compare reads both sides and compares them.
func Compare(pool []Side, t Side, pairs []compare.Names, rules compare.Rules) (none compare.Comparison, err error) {
	builder := compare.NewBuilder(manifestsOf(pool), t.Manifest, pairs, rules)
	for i, b := range pool {
		if err := b.each(func(rows ledger.EpisodeRows) { builder.AddBaseline(i, rows) }); err != nil {
			return none, err
		}
	}
	if err := t.each(builder.AddNew); err != nil {
		return none, err
	}
	return builder.Comparison()
}

// each calls add with every episode of the run.
func (s Side) each(add func(ledger.EpisodeRows)) error {
	for rows, err := range s.Episodes {
		if err != nil {
			return err
		}
		add(rows)
	}
	return nil
}

// pairUp pairs candidates of the same name, or, if each side has only one, these two.
func pairUp(b, t Side) ([]compare.Names, error) {
	if b.agent || t.agent {
		return pairModels(b, t)
	}
	if sameFolder(b.Dir, t.Dir) && (len(b.Names) != 1 || len(t.Names) != 1 || b.Names[0] == t.Names[0]) {
		return nil, exit.Usage(fmt.Errorf("cannot compare run %s with itself; name two of its candidates, as in RUN:%s RUN:OTHER; it has: %s",
			t.Manifest.RunID, cmp.Or(strings.Join(t.Names[:min(1, len(t.Names))], ""), "ONE"), strings.Join(t.Names, ", ")))
	}
	if len(b.Names) == 1 && len(t.Names) == 1 {
		return []compare.Names{{Baseline: b.Names[0], New: t.Names[0]}}, nil
	}
	var pairs []compare.Names
	for _, name := range t.Names {
		if slices.Contains(b.Names, name) {
			pairs = append(pairs, compare.Names{Baseline: name, New: name})
		} else if t.Chosen {
			return nil, exit.Usage(fmt.Errorf("the baseline %s has no candidate %q; it has: %s; name one of them, as in RUN:CANDIDATE",
				b.Manifest.RunID, name, strings.Join(b.Names, ", ")))
		}
	}
	if pairs == nil {
		return nil, exit.Usage(fmt.Errorf("no candidate is in both runs: %s has %s, %s has %s; name one of each, as in RUN:CANDIDATE",
			b.Manifest.RunID, cmp.Or(strings.Join(b.Names, ", "), "none"), t.Manifest.RunID, cmp.Or(strings.Join(t.Names, ", "), "none")))
	}
	return pairs, nil
}

// sameFolder compares folders, not ids, because equal replays in two folders have the
// same id.
func sameFolder(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// refuse returns an error with every reason why two runs cannot be compared.
func refuse(b, t Side, differences []compare.Difference, changed compare.Changed) error {
	had := map[string]bool{}
	for _, task := range b.Manifest.Tasks {
		had[task.ID] = true
	}
	if !slices.ContainsFunc(t.Manifest.Tasks, func(task manifest.Task) bool { return had[task.ID] }) {
		return exit.Usage(fmt.Errorf("nothing to compare: no task is in both %s (suite %s) and %s (suite %s)",
			b.Manifest.RunID, b.Manifest.Suite, t.Manifest.RunID, t.Manifest.Suite))
	}
	if changed != compare.Refuse {
		return nil
	}
	var lines []string
	rescore := true
	for _, d := range differences {
		if d.Misleads {
			how := d.New
			if d.What == "request" && how != "changed" {
				how = fmt.Sprintf("changed to %.80q", how)
			}
			lines = append(lines, fmt.Sprintf("  %s: %s %s", d.Where, d.What, how))
			rescore = rescore && d.What == "checks"
		}
	}
	if lines == nil {
		return nil
	}
	lines = append(lines, "leave them out with --changed skip, or compare them anyway with --changed keep")
	if rescore {
		lines = append(lines, "or score the baseline with the current checks: cupel rescore "+b.Dir)
	}
	return exit.Usage(fmt.Errorf("these tasks changed since run %s, so a different outcome may not be caused by the candidate:\n%s", b.Manifest.RunID, strings.Join(lines, "\n")))
}

// withModelChanges marks the models that had changed before a recorded or live run started,
// because the run itself may have been too early to detect it. A damaged canary history is
// an error.
func withModelChanges(dir string, m manifest.Manifest) (manifest.Manifest, error) {
	started, err := time.Parse(time.RFC3339Nano, m.Started)
	if err != nil {
		return m, nil
	}
	history, _, err := canary.Load(filepath.Join(dir, ".."))
	if err != nil {
		return m, err
	}
	m.Candidates = slices.Clone(m.Candidates)
	for i := range m.Candidates {
		c := &m.Candidates[i]
		if change, ok := canary.Last(history, canary.Model{Provider: c.Provider, BaseURL: c.Canary.BaseURL, Model: c.Model}, started); ok {
			canary.Mark(&c.Canary, change)
		}
	}
	return m, nil
}
