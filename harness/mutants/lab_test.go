package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// TestExamine applies one mutant that a golden episode kills and one that only a test
// of its package does, and one that does not compile. Nothing is left behind.
func TestExamine(t *testing.T) {
	testkit.Slow(t)
	t.Chdir(filepath.Join("..", ".."))
	t.Setenv("TMPDIR", t.TempDir())
	var log bytes.Buffer
	l, err := newLab(context.Background(), false, &log)
	require.NoError(t, err)
	results, err := l.examineAll(context.Background(), []mutant{
		{ID: "seen", Class: "c", File: "agent/guard/guard.go", Old: "u.Steps >= b.MaxSteps", New: "u.Steps > b.MaxSteps", Breaks: "x"},
		{ID: "unseen", Class: "c", File: "agent/guard/thrash.go", Old: "return t.keys[key].failures", New: "return t.keys[key].answers", Breaks: "x"},
		{ID: "broken", Class: "c", File: "agent/guard/guard.go", Old: "u.Steps >= b.MaxSteps", New: "u.Stairs > 0", Breaks: "x"},
	}, 1)
	require.ErrorContains(t, err, "mutant broken: the mutant does not compile")
	require.Contains(t, results[0].Goldens, "counts/scripted/")
	require.Empty(t, results[1].Goldens)
	require.Contains(t, results[1].Tests, "agent/guard Test")
	require.Contains(t, log.String(), "] c/unseen: tests: agent/guard Test")
	require.NoError(t, l.close())
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestInterrupt: an interrupted lab ends with an error and leaves nothing behind.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	dir := t.TempDir()
	l := &lab{root: filepath.Join("..", ".."), dir: dir, log: &bytes.Buffer{}}
	cancel()
	_, err := l.examineAll(ctx, []mutant{{ID: "a", Class: "c", File: "agent/guard/guard.go", Old: "u.Steps >= b.MaxSteps", New: "false", Breaks: "x"}}, 2)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, l.close())
	require.NoDirExists(t, dir)
}

func TestReport(t *testing.T) {
	killed := func(goldens, tests string) result {
		return result{mutant: mutant{ID: "m", Class: "c", Breaks: "x"}, Goldens: goldens, Tests: tests}
	}
	var results []result
	for range 19 {
		results = append(results, killed("G01", ""))
	}
	stale := killed("", "TestX")
	stale.NoVerdict = 3
	text, enough := report(append(results, stale), []mutant{{ID: "e", Class: "c", Equivalent: "no reason"}}, false)
	require.True(t, enough)
	require.Equal(t, `  class  mutants  killed by goldens  killed by all tests
      c       20         19 (95.0%)          20 (100.0%)
  total       20         19 (95.0%)          20 (100.0%)
survives the goldens: c/m (x); 3 episodes without a verdict: their cassettes are stale under it
equivalent, not counted: c/e: no reason
`, text)
	_, enough = report(append(results[:18:18], stale), nil, false)
	require.False(t, enough, "94.7% are too few")
	_, enough = report(append(results, killed("", "")), nil, false)
	require.False(t, enough, "one survives all tests")
	_, enough = report(append(results, killed("", "")), nil, true)
	require.True(t, enough, "which were not run")
}

func TestRunRefusesItsArguments(t *testing.T) {
	for _, args := range [][]string{{"-run", "("}, {"-fast"}} {
		var out bytes.Buffer
		_, err := run(context.Background(), args, &out, &out)
		require.Error(t, err)
	}
}
