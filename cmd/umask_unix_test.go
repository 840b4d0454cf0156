//go:build unix

package cmd

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// With umask 077 no other user can read the files that cupel writes; with 002 the group can write
// them.
func TestUmaskIsRespected(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
	path, err := exec.LookPath("cupel")
	require.NoError(t, err)
	for umask, mask := range map[string]fs.FileMode{"077": 0o077, "002": 0o002} {
		t.Run(umask, func(t *testing.T) {
			if umask == "002" {
				testkit.Slow(t)
			}
			t.Parallel() // because it waits for simulated models
			b := newBench(t)
			sh := func(script string) (code int, output string) {
				cmd := b.command()
				cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", "umask " + umask + "; " + script, path}
				out, _ := cmd.CombinedOutput() // the code says it
				return cmd.ProcessState.ExitCode(), string(out)
			}
			code, out := sh(`"$0" init && "$0" run --mode record && "$0" query latest "count(solved)" -o q.csv`)
			require.Zero(t, code, out)
			code, out = sh(`"$0" run --mode live --max-requests 1`)
			require.Equal(t, exit.Failed, code, out)
			seen := map[string]bool{}
			require.NoError(t, filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
				require.NoError(t, err)
				info, err := d.Info()
				require.NoError(t, err)
				if path == b.dir {
					return nil
				}
				want := fs.FileMode(0o666)
				if d.IsDir() {
					want = 0o777
				}
				require.Equal(t, want&^mask, info.Mode().Perm(), path)
				seen[d.Name()] = true
				return nil
			}))
			for _, name := range []string{"cupel.yaml", "suite.yaml", "index.html", "q.csv", "spend.log", "limits.jsonl", "settings", "report", "journal", "suites"} {
				require.True(t, seen[name], name)
			}
		})
	}
}
