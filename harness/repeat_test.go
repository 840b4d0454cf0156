package harness_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger/column"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// A repeated replay can be resumed at every moment, because its plan is replaced atomically.
func TestRepeatedReplayCanAlwaysBeResumed(t *testing.T) {
	o := countsOptions(t)
	o.Select.Candidates, o.Runs = []string{"strong"}, t.TempDir()
	stopped := make(chan struct{})
	close(stopped)
	o.Drain = stopped
	first, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "partial", first.Manifest.Status)

	var done atomic.Bool
	var reader sync.WaitGroup
	reader.Go(func() {
		for !done.Load() {
			if _, err := os.Stat(filepath.Join(first.Dir, "journal", "plan")); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 20 {
		_, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
	}
	done.Store(true)
	reader.Wait()
}

// While a replay is repeated, readers always see a complete run, and opened files do not change.
func TestRepeatedReplayKeepsTheRunForReaders(t *testing.T) {
	o := countsOptions(t)
	o.Select.Candidates, o.Runs = []string{"strong"}, t.TempDir()
	first, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	before := runFiles(t, first.Dir)
	open, err := os.Open(filepath.Join(first.Dir, "turns.parquet"))
	require.NoError(t, err)
	defer func() { require.NoError(t, open.Close()) }()

	var done atomic.Bool
	var reads atomic.Int64
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for !done.Load() {
				if err := readWhole(first.Dir); err != nil {
					t.Error(err)
					return
				}
				reads.Add(1)
			}
		})
	}
	rounds := testkit.Long(testkit.SlowN(4, 8), 20)
	for range rounds {
		again, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		require.Equal(t, first.Dir, again.Dir)
	}
	done.Store(true)
	readers.Wait()
	require.Greater(t, reads.Load(), int64(rounds))
	require.Equal(t, before, runFiles(t, first.Dir))
	text, err := io.ReadAll(open)
	require.NoError(t, err)
	require.Equal(t, before["turns.parquet"], string(text))
	require.Empty(t, temporary(t, first.Dir))
}

// readWhole reads a complete run with every reader.
func readWhole(dir string) error {
	m, episodes, err := harness.ReadRun(dir)
	if err != nil {
		return err
	}
	if m.Status != "complete" {
		return errors.New("the run is " + m.Status)
	}
	for _, err := range episodes {
		if err != nil {
			return err
		}
	}
	c, err := column.Open(dir, "turns", []string{"trial"})
	if err != nil {
		return err
	}
	return c.Close()
}

// temporary are the names of temporary files below a folder.
func temporary(t *testing.T, dir string) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if name := d.Name(); strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, ".new") {
			names = append(names, path)
		}
		return err
	}))
	return names
}

// A killed repetition does not damage the run, and the next one removes its files.
func TestRepeatedReplayThatIsKilled(t *testing.T) {
	o := countsOptions(t)
	o.Select.Candidates, o.Select.Tasks, o.Runs = []string{"strong"}, []string{"G0*"}, t.TempDir()
	first, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	before := runFiles(t, first.Dir)
	for _, name := range []string{".turns.parquet.ABCDEFGHIJ.tmp", ".run.json.ABCDEFGHIJ.tmp", "journal/.plan.ABCDEFGHIJ.tmp", "journal/episodes.log"} {
		path := filepath.Join(first.Dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte("part"), 0o666))
	}
	require.NoError(t, readWhole(first.Dir))
	_, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, before, runFiles(t, first.Dir))
	require.Empty(t, temporary(t, first.Dir))
	require.NoDirExists(t, filepath.Join(first.Dir, "journal"))
}

// A repeated replay that is interrupted does not replace a complete run by a partial one.
func TestRepeatedReplayThatIsInterrupted(t *testing.T) {
	o := countsOptions(t)
	o.Select.Candidates, o.Runs, o.Concurrency = []string{"strong"}, t.TempDir(), 1
	first, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	before := runFiles(t, first.Dir)
	stopped := stopAfter(t, o, 3)
	require.True(t, stopped.Interrupted)
	require.Equal(t, "partial", stopped.Manifest.Status)
	require.Equal(t, first.Dir, stopped.Dir)
	require.Equal(t, before, runFiles(t, first.Dir))
	require.NoDirExists(t, filepath.Join(first.Dir, "journal"))
	require.Empty(t, temporary(t, first.Dir))
}
