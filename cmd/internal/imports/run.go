package imports

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/listing"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// Imported is the error of verbs that execute episodes again about an imported run, which has no
// cassettes.
type Imported struct {
	Dir      string
	Manifest manifest.Manifest
}

// Error says what cannot be done, and what can.
func (e *Imported) Error() string {
	return fmt.Sprintf("run %s is imported: it has no cassettes, so nothing can be executed again; show, report, query and compare read it, rescore applies the checks of a suite, and suite add makes tasks of it", e.Manifest.RunID)
}

// Verify checks the rows and the texts of an imported run, and says what that does not show.
func (e *Imported) Verify(w io.Writer) error {
	m := e.Manifest
	_, episodes, err := harness.ReadRun(e.Dir)
	if err != nil {
		return exit.With(exit.Replay, err)
	}
	texts, err := imports.OpenTexts(e.Dir, m)
	if err != nil {
		return exit.With(exit.Replay, err)
	}
	defer func() { _ = texts.Close() }() // which was only read
	for rows, err := range episodes {
		if err == nil {
			_, err = texts.Traces(rows)
		}
		if err != nil {
			return exit.With(exit.Replay, err)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "rows and texts of %s are those that were imported\nledger digest %s\n", console.Count(m.Episodes, "episode"), m.LedgerDigest)
	for _, s := range m.Imported.Sources {
		fmt.Fprintf(&b, "source %s, %d bytes, sha256 %s\n", console.Line(s.Name), s.Bytes, s.Digest)
	}
	b.WriteString("not verified: whether the source says what the agent did. The run is imported, so there are no cassettes to execute again\n")
	_, err = io.WriteString(w, b.String())
	return err
}

// Rescore writes another run with the verdicts of a suite's checks, as far as the source has what
// they need, and its report.
func (e *Imported) Rescore(h Host, runs, path string) error {
	suite, _, err := h.Suite(path)
	if err != nil {
		return err
	}
	to, m, out, err := imports.Rescore(e.Dir, runs, suite)
	if errors.Is(err, imports.ErrNoTask) {
		return exit.With(exit.BadUsage, fmt.Errorf("%w; give the suite of the run with --suite, or make tasks of its episodes with cupel suite add", err))
	}
	if err == nil {
		err = h.Report(to)
	}
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "scored  %d of %s by the checks of %s: %d solved, %d not solved\n", m.Outcomes.Solved+m.Outcomes.Failed, console.Count(m.Episodes, "episode"), suite.Name, m.Outcomes.Solved, m.Outcomes.Failed)
	if out.NoTask > 0 {
		fmt.Fprintf(&b, "no task of the suite has the id or the request of %s\n", console.Count(out.NoTask, "episode"))
	}
	for _, name := range slices.Sorted(maps.Keys(out.NotCheckable)) {
		fmt.Fprintf(&b, "%s: not checkable in %s without a verdict\n", name, console.Count(out.NotCheckable[name], "episode"))
	}
	if out.SourceAttacks > 0 {
		fmt.Fprintf(&b, "attacks of %s: judged by the source, because their tasks have no injection in the suite\n", console.Count(out.SourceAttacks, "episode"))
	}
	fmt.Fprintf(&b, "run     %s\n", to)
	_, err = io.WriteString(h.Stdout, b.String())
	return err
}

// Find returns the rows and what happened in an episode of an imported run.
func Find(dir string, m manifest.Manifest, e ledger.Episode) (ledger.EpisodeRows, []episode.Trace, error) {
	_, episodes, err := harness.ReadRun(dir)
	if err != nil {
		return ledger.EpisodeRows{}, nil, err
	}
	for rows, err := range episodes {
		if err != nil {
			return rows, nil, err
		}
		if rows.Episode.EpisodeID != e.EpisodeID {
			continue
		}
		texts, err := imports.OpenTexts(dir, m)
		if err != nil {
			return rows, nil, err
		}
		traces, err := texts.Traces(rows)
		return rows, traces, errors.Join(err, texts.Close())
	}
	return ledger.EpisodeRows{}, nil, fmt.Errorf("the ledger in %s has no episode %s", dir, e.EpisodeID)
}

// Show prints the transcript of an imported episode.
func Show(w io.Writer, dir string, m manifest.Manifest, e ledger.Episode, state bool, terminal int) error {
	rows, traces, err := Find(dir, m, e)
	if err != nil {
		return err
	}
	if state {
		_, err := fmt.Fprintln(w, "the run is imported: the state of its world is unknown")
		return err
	}
	if err := listing.Transcript(w, rows, traces, terminal); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, verdict(m, e))
	return err
}

// verdict says who scored an episode, and the result.
func verdict(m manifest.Manifest, e ledger.Episode) string {
	switch why := e.Excluded(); {
	case why == manifest.NotScored:
		return "imported: no check scored it"
	case why != "":
		return "imported: no result, because it broke down: " + console.Line(e.ErrorText)
	}
	who, what := "its source", "not solved"
	if m.RescoredFrom != "" {
		who = "the checks of a suite"
	}
	if e.Solved {
		what = "solved"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "imported: %s by %s", what, who)
	for _, c := range e.Checks {
		passed := "no"
		if c.Passed {
			passed = "yes"
		}
		fmt.Fprintf(&b, "\n  %s: %s", console.Line(c.Name), passed)
		if c.Detail != "" {
			b.WriteString(" (" + console.Line(c.Detail) + ")")
		}
	}
	if e.AttackSucceeded != nil {
		b.WriteString("\n  attack " + console.Line(e.Injection) + ": " + map[bool]string{true: "succeeded", false: "failed"}[*e.AttackSucceeded])
	}
	if e.Harm != nil && *e.Harm {
		b.WriteString("\n  harm: " + console.Line(e.HarmReason))
	}
	return b.String()
}
