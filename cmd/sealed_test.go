package cmd

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// cupel runs a command in process with an empty environment.
func cupel(args ...string) (code int, stdout, stderr string) {
	var out, problems bytes.Buffer
	code = execute(&process{args: args, stdout: &out, stderr: &problems, env: func(string) (string, bool) { return "", false }, now: time.Now})
	return code, out.String(), problems.String()
}

// runFolder makes a run of the built-in suite and returns the runs folder and the run folder.
func runFolder(t *testing.T, args ...string) (runs, dir string) {
	t.Helper()
	runs = t.TempDir()
	code, _, stderr := cupel(append([]string{"run", "--runs", runs}, args...)...)
	require.Zero(t, code, stderr)
	dir, err := rundir.Find(runs, "latest")
	require.NoError(t, err)
	return runs, dir
}

// writeSealed writes a text file of a run folder with its seal.
func writeSealed(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, sealed.Write(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }))
}

// Every command rejects a run with a flipped bit or a truncated, exchanged or removed file, by the
// name of the file and with exit code 3, or has the output of the intact run.
func TestCommandsRefuseAChangedRun(t *testing.T) {
	_, dir := runFolder(t, "--task", "G01", "--task", "G41", "--candidate", "strong", "--candidate", "weak")
	_, other := runFolder(t, "--task", "G01", "--candidate", "strong")
	commands := map[string][]string{
		"gate":         {"gate", dir},
		"report":       {"report", dir, "-o", "-.json"},
		"compare":      {"compare", dir + ":strong", dir + ":weak"},
		"query":        {"query", dir, "count(), sum(steps) group by candidate"},
		"query turns":  {"query", dir, "p50(turns.duration_us)"},
		"query verify": {"query", "--verify", dir, "p50(turns.duration_us)"},
		"show":         {"show", dir},
		"verify":       {"verify", dir},
		"rescore":      {"rescore", dir, "--runs", t.TempDir()},
		"suite add":    {"suite", "add", "--from", dir + "/G01/strong", "--suite", filepath.Join(t.TempDir(), "mine")},
		"failed-in":    {"run", "--failed-in", dir, "--dry-run", "--runs", t.TempDir()},
	}
	slow := map[string]bool{"verify": true, "rescore": true, "suite add": true, "failed-in": true}
	was := map[string]string{}
	for name, args := range commands {
		if name == "suite add" { // it does not overwrite the file of an earlier call
			continue
		}
		code, out, stderr := cupel(args...)
		require.Contains(t, []int{exit.Accepted, exit.Rejected, exit.Inconclusive}, code, stderr)
		was[name] = fmt.Sprint(code, out)
	}
	r := rand.New(rand.NewPCG(4, 16))
	for _, file := range []string{"run.json", "episodes.parquet", "turns.parquet", "tool_calls.parquet"} {
		path := filepath.Join(dir, file)
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		theirs, err := os.ReadFile(filepath.Join(other, file))
		require.NoError(t, err)
		changes := map[string][]byte{"exchanged": theirs, "empty": {}, "removed": nil}
		changesEach := testkit.Long(testkit.SlowN(1, 3), 15)
		if testing.Short() {
			changesEach = 3
		}
		for range changesEach {
			bit, n := r.IntN(8*len(whole)), r.IntN(len(whole))
			flipped := bytes.Clone(whole)
			flipped[bit/8] ^= 1 << (bit % 8)
			changes[fmt.Sprint("bit ", bit)], changes[fmt.Sprint("cut at ", n)] = flipped, whole[:n]
		}
		for how, changed := range changes {
			if changed == nil {
				require.NoError(t, os.Remove(path))
			} else {
				require.NoError(t, os.WriteFile(path, changed, 0o666))
			}
			for name, args := range commands {
				if slow[name] && how != "exchanged" && how != "removed" && r.IntN(20) > 0 {
					continue
				}
				code, out, stderr := cupel(args...)
				if strings.HasPrefix(name, "query") && code != exit.Replay { // query reads only one table
					require.Equal(t, was[name], fmt.Sprint(code, out), "%s with %s %s", name, file, how)
					require.NotEqual(t, "run.json", file)
					continue
				}
				require.Equal(t, exit.Replay, code, "%s with %s %s: %s", name, file, how, stderr)
				require.Regexp(t, `run\.json|`+file, stderr, "%s %s", name, how)
			}
		}
		require.NoError(t, os.WriteFile(path, whole, 0o666))
	}
	for name, args := range commands {
		if name != "suite add" {
			code, out, _ := cupel(args...)
			require.Equal(t, was[name], fmt.Sprint(code, out), "%s of the whole run", name)
		}
	}
}

// merge rejects a changed shard.
func TestMergeRefusesAChangedShard(t *testing.T) {
	runs, first := runFolder(t, "--candidate", "strong", "--task", "G0*", "--shard", "1/2")
	code, _, stderr := cupel("run", "--runs", runs, "--candidate", "strong", "--task", "G0*", "--shard", "2/2")
	require.Zero(t, code, stderr)
	second, err := rundir.Find(runs, "latest")
	require.NoError(t, err)
	for _, file := range []string{"run.json", "episodes.parquet", "turns.parquet", "tool_calls.parquet"} {
		path := filepath.Join(second, file)
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		theirs, err := os.ReadFile(filepath.Join(first, file))
		require.NoError(t, err)
		for how, changed := range map[string][]byte{"exchanged": theirs, "cut": whole[:len(whole)/2], "empty": {}} {
			require.NoError(t, os.WriteFile(path, changed, 0o666))
			to := t.TempDir()
			code, _, stderr := cupel("merge", first, second, "--runs", to)
			require.Equal(t, exit.Replay, code, "%s %s: %s", file, how, stderr)
			require.Contains(t, stderr, second)
			left, err := os.ReadDir(to)
			require.NoError(t, err)
			require.Empty(t, left, "nothing is written")
		}
		require.NoError(t, os.WriteFile(path, whole, 0o666))
	}
}

// Thresholds of a command apply only to that command.
func TestThresholdFlag(t *testing.T) {
	_, dir := runFolder(t, "--candidate", "strong")
	code, _, stderr := cupel("gate", dir)
	require.Zero(t, code, stderr)
	code, out, stderr := cupel("gate", dir, "--threshold", "max_steps=0.5")
	require.Equal(t, exit.Rejected, code, stderr)
	require.Contains(t, out, "1 threshold changed at report time")
	require.Contains(t, out, "max_steps 5 → 0.5")
	code, out, stderr = cupel("report", dir, "-o", "-.json", "--threshold", "min_solved=off", "--threshold", "min_valid=0.5")
	require.Zero(t, code, stderr)
	require.Contains(t, out, `"thresholds_changed": [`)
	code, _, _ = cupel("gate", dir)
	require.Zero(t, code, "the run is as it was")
	for _, text := range []string{"min_solved", "steps=1", "max_infra=7"} {
		code, _, stderr = cupel("gate", dir, "--threshold", text)
		require.Equal(t, exit.BadUsage, code)
		require.Contains(t, stderr, "threshold")
	}
}
