//go:build unix

package cmd

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// replaced replaces a file by a FIFO and returns a function that restores it.
func replaced(t *testing.T, path string) (restore func()) {
	t.Helper()
	require.NoError(t, os.Rename(path, path+".kept"))
	require.NoError(t, syscall.Mkfifo(path, 0o666))
	return func() {
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.Rename(path+".kept", path))
	}
}

// requireNoWait runs cupel, whose error must name the FIFO, without waiting for a writer.
func (b *bench) requireNoWait(path string, args ...string) {
	b.t.Helper()
	end := b.run(20*time.Second, args...)
	require.Positive(b.t, end.code, "%v waits for %s or accepts it\n%s", args, path, end.text)
	require.Contains(b.t, end.text, "named pipe (FIFO), not a regular file", "%v, %s", args, path)
	require.Contains(b.t, end.text, filepath.Base(path), "%v", args)
}

// TestFIFOsAreRefused replaces each file that a command reads by a FIFO.
func TestFIFOsAreRefused(t *testing.T) {
	testkit.Slow(t) // TestFIFOsInAnUnfinishedRunAreRefused is the sample
	b := newBench(t)
	in := func(parts ...string) string { return filepath.Join(append([]string{b.dir}, parts...)...) }
	require.Zero(t, b.run(0, "init").code)
	end := b.run(0, "run", "--mode", "record")
	require.Zero(t, end.code, end.text)
	folder := b.folder()
	var cassette string
	require.NoError(t, filepath.WalkDir(in("suites"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(path, "cassettes") && strings.HasSuffix(path, ".yaml") {
			cassette = path
		}
		return err
	}))
	require.NotEmpty(t, cassette)
	require.Zero(t, b.run(0, "cassette", "pack", "suites/first").code)
	require.NoError(t, os.WriteFile(in("prices.yaml"), []byte("version: \"1\"\n"), 0o666))
	config, err := os.ReadFile(in("cupel.yaml"))
	require.NoError(t, err)
	priced := in("priced.yaml")
	require.NoError(t, os.WriteFile(priced, append([]byte("prices: prices.yaml\n"), config...), 0o666))
	id := filepath.Base(folder)
	for path, commands := range map[string][][]string{
		in("cupel.yaml"):                          {{"run"}, {"doctor"}, {"run", "--dry-run"}},
		in("prices.yaml"):                         {{"run", "--config", "priced.yaml"}},
		in("suites", "first", "suite.yaml"):       {{"suite", "lint", "suites/first"}, {"run"}, {"contract", "schema", "--tools", "suites/first"}, {"contract", "check", "--tools", "suites/first/suite.yaml"}},
		cassette:                                  {{"run"}, {"cassette", "recover", cassette}},
		in("suites/first/cassettes.pack"):         {{"run", "--pack", "suites/first/cassettes.pack"}, {"verify", id, "--pack", "suites/first/cassettes.pack"}},
		filepath.Join(folder, "run.json"):         {{"gate", id}, {"report", id}, {"verify", id}, {"query", id, "count(solved)"}, {"compare", id, id}},
		filepath.Join(folder, "episodes.parquet"): {{"gate", id}, {"report", id}, {"verify", id}, {"query", id, "count(solved)"}},
	} {
		restore := replaced(t, path)
		for _, args := range commands {
			b.requireNoWait(path, args...)
		}
		restore()
	}
}

// TestFIFOsInAnUnfinishedRunAreRefused does the same with the files that --resume reads.
func TestFIFOsInAnUnfinishedRunAreRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
	b := newBench(t)
	require.Zero(t, b.run(0, "init").code)
	require.Equal(t, exit.Failed, b.run(0, "run", "--mode", "live", "--max-requests", "1").code)
	folder := b.folder()
	id := filepath.Base(folder)
	for _, name := range []string{"run.json", "limits.jsonl", "journal/plan", "journal/settings", "journal/spend.log", "journal/episodes.log"} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		restore := replaced(t, path)
		b.requireNoWait(path, "run", "--resume", id)
		restore()
	}
}
