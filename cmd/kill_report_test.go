package cmd

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// Commands that write a run folder are killed at random moments. The run does not change, and the
// next command of the same kind removes the temporary files.
func TestKilledCommandsLeaveNothing(t *testing.T) {
	testkit.Slow(t)
	b := newBench(t)
	t.Setenv("TMPDIR", filepath.Join(b.dir, "tmp"))
	require.NoError(t, os.Mkdir(os.TempDir(), 0o777))
	run := func(kill time.Duration, args ...string) ended {
		cmd := b.command(args...)
		cmd.Env = append(cmd.Env, "TMPDIR="+os.TempDir())
		return b.wait(cmd, kill, func(p *os.Process) { _ = p.Kill() }) // the process may have ended
	}
	for _, shard := range []string{"1/2", "2/2"} {
		end := run(0, "run", "--candidate", "strong", "--shard", shard, "--runs", "shards/"+shard[:1], "--quiet")
		require.Zero(t, end.code, end.text)
	}
	one, err := rundir.Find(filepath.Join(b.dir, "shards/1"), "latest")
	require.NoError(t, err)
	two, err := rundir.Find(filepath.Join(b.dir, "shards/2"), "latest")
	require.NoError(t, err)
	commands := [][]string{
		{"report", one}, {"report", one, "-o", "out/report.html", "-o", "out/report.json"}, {"merge", one, two, "--runs", "merged"},
		{"rescore", one, "--runs", "rescored"}, {"verify", one}, {"compare", one, two, "-o", "out/compare.md"},
	}
	require.NoError(t, os.Mkdir(filepath.Join(b.dir, "out"), 0o777))
	r := rand.New(rand.NewPCG(16, 7))
	left := 0
	for i := range testkit.Long(12, 60) {
		run(time.Duration(1+r.IntN(250))*time.Millisecond, commands[i%len(commands)]...)
		left += len(leftBelow(t, b.dir))
		require.NoError(t, openAll(one))
	}
	t.Logf("temporary files met after a kill: %d", left)
	for _, args := range commands {
		end := run(0, args...)
		require.Contains(t, []int{0, 2}, end.code, "%v: %s", args, end.text) // 2 means that there is nothing to compare
	}
	require.Empty(t, leftBelow(t, b.dir))
	entries, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	require.Empty(t, entries)
}

// openAll reads a run from its beginning to its end.
func openAll(dir string) error {
	_, _, _, err := rundir.Load("", dir)
	return err
}

// leftBelow returns the temporary files below a folder.
func leftBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") || strings.HasPrefix(d.Name(), "cupel-") {
			names = append(names, path)
		}
		return err
	}))
	return names
}
