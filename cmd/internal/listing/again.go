package listing

import (
	"fmt"
	"io"
	"strings"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/rerun"
	"github.com/cupel-eval/cupel/reports/orchestration"
)

// Verified prints what executing a run again showed. A difference is an error with its exit code.
func Verified(w io.Writer, v rerun.Verification) error {
	again := v.Verified + v.Differing
	_, _ = fmt.Fprintf(w, "%d of %d episodes executed again, %d equal, %d different\n", again, v.Episodes, v.Verified, v.Differing)
	if n := v.Episodes - again; n > 0 {
		_, _ = fmt.Fprintf(w, "%d had no result: there is nothing to compare\n", n)
	}
	if v.First == nil {
		if _, err := fmt.Fprintf(w, "ledger digest %s\n", v.Is); err != nil || v.Manifest == nil {
			return err
		}
		var lines []string
		for _, d := range v.Manifest[:min(len(v.Manifest), maxShownChanges)] {
			lines = append(lines, fmt.Sprintf("  %s: %s → %s", d.Member, d.Was, d.Is))
		}
		return exit.With(exit.Replay, fmt.Errorf("run.json does not say what its rows, its suite and its cassettes say, in %s:\n%s",
			console.Count(len(v.Manifest), "member"), strings.Join(lines, "\n")))
	}
	text := fmt.Sprintf("first difference: episode %s: %s", v.First.Episode, v.First.Difference)
	if v.First.Err != "" {
		text += ": " + v.First.Err
	}
	why := "code or cassettes changed since the run"
	if v.First.Agent == strategy.External {
		why += ", or the agent ran in it (--with-agent) and answered otherwise than in its recording, from which verify executes it; record it again with: cupel run --mode record"
	}
	return exit.With(exit.Replay, fmt.Errorf("%s\nledger digest was %s, is %s: %s", text, v.Was, v.Is, why))
}

// maxShownChanges bounds the list on the terminal; rescore.json has all.
const maxShownChanges = 50

// Rescored prints the verdicts that changed, and the folder of the new run.
func Rescored(w io.Writer, to string, res rerun.Rescored) error {
	gained, lost := 0, 0
	for i, e := range res.Changed {
		switch {
		case e.Is && !e.Was:
			gained++
		case e.Was && !e.Is:
			lost++
		}
		if i < maxShownChanges {
			_, _ = fmt.Fprintf(w, "%s/%s/%d  %s → %s  %s\n", e.Task, e.Candidate, e.Trial, solvedWord(e.Was, e.WasHarm, e.WasAttack), solvedWord(e.Is, e.IsHarm, e.IsAttack), firstFailed(e.IsChecks))
		}
	}
	if n := len(res.Changed) - maxShownChanges; n > 0 {
		_, _ = fmt.Fprintf(w, "and %d more, in %s\n", n, rerun.RescoreFile)
	}
	_, err := fmt.Fprintf(w, "%s scored again: %d newly solved, %d no longer solved, %d with other checks and the same verdict\nrun     %s\n",
		console.Count(res.Episodes, "episode"), gained, lost, len(res.Changed)-gained-lost, to)
	return err
}

// solvedWord says whether an episode was solved, did harm, and fell for its attack.
func solvedWord(solved bool, harm string, attack *bool) string {
	word := "not solved"
	if solved {
		word = "solved"
	}
	if harm != "" {
		word += " (harm)"
	}
	if attack != nil && *attack {
		word += " (attack succeeded)"
	}
	return word
}

func firstFailed(checks []ledger.Check) string {
	for _, c := range checks {
		if !c.Passed {
			return c.Name + ": " + c.Detail
		}
	}
	return ""
}

// maxChanges bounds the changes of a state that are printed.
const maxChanges = 1000

// Transcript prints what was said in an episode, its lines wrapped to a width, 0 for as they are,
// and its agents, tasks and requests to people.
func Transcript(w io.Writer, rows ledger.EpisodeRows, traces []episode.Trace, width int) error {
	var b strings.Builder
	_ = episode.WriteTranscript(&b, traces) // a builder takes any text
	text := Wrap(b.String(), width)
	if o := orchestration.Of(rows); o != nil {
		text += o.Text()
	}
	_, err := io.WriteString(w, text)
	return err
}

// State prints the changes of an episode to the state of its world, and its harm.
func State(w io.Writer, e ledger.Episode, traces []episode.Trace) {
	lines, ok := episode.StateChanges(*traces[len(traces)-1].Outcome, maxChanges)
	switch {
	case !ok:
		lines = []string{"the world of this task has no state that can change"}
	case len(lines) == 0:
		lines = []string{"the state did not change"}
	}
	if e.HarmReason != "" {
		lines = append(lines, "harm: "+episode.Visible(e.HarmReason))
	}
	for _, line := range lines {
		_, _ = fmt.Fprintln(w, line)
	}
}
