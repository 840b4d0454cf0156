//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRunsInAFolder stores a run in a folder, and judges it from there.
func TestRunsInAFolder(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	store := "file://" + filepath.Join(dir, "store")
	run := func(args ...string) (string, int) {
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), asProgram+"=1", "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "HOME="+dir)
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	out, code := run("run", "--candidate", "strong", "--task", "G0*", "--quiet", "--store", store)
	require.Zero(t, code, out)
	require.Contains(t, out, "stored as "+store)
	out, code = run("gate", store+"/latest", "--candidate", "strong")
	require.Equal(t, 11, code, out)
	require.Contains(t, out, "8 of 8 episodes solved")
	out, code = run("gate", "file://store/latest")
	require.Equal(t, 1, code, out)
	require.Contains(t, out, "name an absolute folder, such as file:///mnt/evals")

	// Shards are merged from the store, which another machine has written.
	shards := "file://" + filepath.Join(dir, "shards")
	for _, shard := range []string{"1/2", "2/2"} {
		out, code = run("run", "--candidate", "strong", "--task", "G0*", "--quiet", "--shard", shard, "--runs", "elsewhere", "--store", shards)
		require.Zero(t, code, out)
	}
	ids, err := filepath.Glob(filepath.Join(dir, "shards", "*", "run.json"))
	require.NoError(t, err)
	require.Len(t, ids, 2)
	var named []string
	for _, path := range ids {
		named = append(named, shards+"/"+filepath.Base(filepath.Dir(path)))
	}
	out, code = run(append([]string{"merge", "--runs", "merged"}, named...)...)
	require.Zero(t, code, out)
	require.Contains(t, out, "merged  2 runs, 8 episodes")
	out, code = run("query", store+"/latest", "count(), share(solved)")
	require.Zero(t, code, out)
	require.Contains(t, out, "8 ")

	for says, args := range map[string][]string{"G01/strong": {"show", store + "/latest", "G01"}, "8 equal, 0 different": {"verify", store + "/latest"}} {
		out, code = run(args...)
		require.Zero(t, code, out)
		require.Contains(t, out, says)
	}

	// A trend has the earlier runs of the store.
	for range 2 {
		out, code = run("run", "--mode", "live", "--candidate", "strong", "--task", "G01", "--quiet", "--runs", "night", "--store", shards)
		require.Zero(t, code, out)
	}
	out, code = run("report", shards+"/latest", "-o", "-.json", "--past", "1")
	require.Zero(t, code, out)
	require.Contains(t, out, `"trend": [`)
}
