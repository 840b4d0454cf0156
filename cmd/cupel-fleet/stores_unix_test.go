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
}
