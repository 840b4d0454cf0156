package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/desk"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/research"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/providers/price"
)

var isMutant = flag.Bool("mutant", false, "compare only what is solved, and pass over episodes without a verdict")

var outcomesFile = filepath.Join("testdata", "outcomes.txt")

// TestOutcomes runs the golden suites, all candidates from their cassettes and the
// scripted tasks, and compares the result with testdata/outcomes.txt. The file lists
// the unsolved episodes and the checks that they fail; all others are solved.
//
// The mutants are run with -mutant. A mutant is killed by an episode that is solved
// and should not be, or the reverse. An episode that its cassette cannot answer is
// counted and passed over: a stale cassette is not a verdict.
func TestOutcomes(t *testing.T) {
	var all []outcome
	for _, s := range []struct {
		name  string
		fsys  fs.FS
		kinds map[string]world.Kind
	}{{"counts", counts.FS, counts.Worlds()}, {"research", research.FS, research.Worlds()}, {"desk", desk.FS, nil}} {
		suite, err := load.Suite(s.fsys, "builtin:"+s.name, s.kinds)
		if *isMutant && err != nil { // the mutant contradicts what the suite proves of its tasks
			problem, _, _ := strings.Cut(err.Error(), "\n")
			fmt.Printf("%s%s does not load: %s\n", killedBy, s.name, problem)
			t.FailNow()
		}
		require.NoError(t, err)
		all = append(all, outcomes(t, suite)...)
	}
	if *isMutant {
		requireSolved(t, all)
		return
	}
	var unsolved []string
	for _, o := range all {
		if !o.Solved {
			unsolved = append(unsolved, o.String())
		}
	}
	slices.Sort(unsolved)
	text := strings.Join(unsolved, "\n") + "\n"
	testkit.Golden(t, outcomesFile, text)
}

// requireSolved is TestOutcomes of a mutant. The runner reads the lines it writes.
func requireSolved(t *testing.T, all []outcome) {
	t.Helper()
	text, err := os.ReadFile(outcomesFile)
	require.NoError(t, err)
	unsolved := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		unsolved[name] = true
	}
	killers, without := compare(all, unsolved)
	for _, k := range killers {
		t.Fail()
		fmt.Printf("%s%s\n", killedBy, k)
	}
	fmt.Printf("%s%d\n", noVerdict, without)
}

// compare finds the episodes that are solved and should not be, or the reverse, and
// counts those without a verdict.
func compare(all []outcome, unsolved map[string]bool) (killers []string, without int) {
	for _, o := range all {
		switch {
		case o.InfraError && o.Provider != episode.ScriptedCandidate:
			without++
		case o.Solved && unsolved[o.name()]:
			killers = append(killers, o.name()+" is solved")
		case !o.Solved && !unsolved[o.name()]:
			killers = append(killers, o.String())
		}
	}
	return killers, without
}

// TestCompare: a stale cassette is not a verdict, a script that ends too early is one.
func TestCompare(t *testing.T) {
	episode := func(candidate string, solved bool, status string, failed ...string) outcome {
		e := ledger.Episode{Key: ledger.Key{Suite: "s", TaskID: "A", Candidate: candidate, Provider: candidate}, Solved: solved, Status: status}
		e.InfraError = strings.HasSuffix(status, "_error")
		for _, name := range failed {
			e.Checks = append(e.Checks, ledger.Check{Name: name})
		}
		return outcome{e}
	}
	killers, without := compare([]outcome{
		episode("good", true, "answered"),
		episode("bad", false, "answered", "status"),
		episode("stale", false, "harness_error"),
		episode("worse", false, "answered", "status", "max_steps"),
		episode("better", true, "answered"),
		episode("scripted", false, "infra_error"),
	}, map[string]bool{"s/bad/A": true, "s/better/A": true})
	require.Equal(t, []string{"s/worse/A status max_steps", "s/better/A is solved", "s/scripted/A infra_error: "}, killers)
	require.Equal(t, 1, without)
}

// outcome is an episode of a suite.
type outcome struct {
	ledger.Episode
}

func (o outcome) name() string { return o.Suite + "/" + o.Candidate + "/" + o.TaskID }

// String names the episode and the checks that it failed.
func (o outcome) String() string {
	text := o.name()
	for _, c := range o.Checks {
		if !c.Passed {
			text += " " + c.Name
		}
	}
	if o.InfraError {
		text += " " + o.Status + ": " + strings.Join(strings.Fields(o.ErrorText), " ")
	}
	return text
}

// outcomes runs a suite with all of its candidates and the scripted one.
func outcomes(t *testing.T, suite *goldens.Suite) (out []outcome) {
	t.Helper()
	prices, err := price.Default()
	require.NoError(t, err)
	o := harness.Options{
		Matrix: harness.Matrix{Suite: suite, Candidates: suite.Candidates, Seed: 1},
		Parts:  harness.Parts{Providers: all.Factories()},
		Rules:  harness.Rules{Policy: policy.Default(), Prices: prices, CodeVersion: "mutants"},
	}
	o.Select.Candidates = []string{"*"} // the scripted candidate too
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	for _, e := range res.Rows.Episodes {
		out = append(out, outcome{e})
	}
	return out
}
