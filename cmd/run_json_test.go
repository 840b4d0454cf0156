package cmd

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/providers/sim"
)

// eventsOf reads the output of run --json, in which every line is an object with its event.
func eventsOf(t *testing.T, text string) (list []map[string]any, count map[string]int) {
	t.Helper()
	count = map[string]int{}
	for in := bufio.NewScanner(strings.NewReader(text)); in.Scan(); {
		var e map[string]any
		require.NoError(t, json.Unmarshal(in.Bytes(), &e), in.Text())
		require.Less(t, len(in.Bytes()), 32<<10)
		list = append(list, e)
		count[e["event"].(string)]++
	}
	require.True(t, strings.HasSuffix(text, "}\n"))
	return list, count
}

// runJSON runs the command line and returns what it printed.
func runJSON(t *testing.T, code int, args ...string) string {
	t.Helper()
	var out, errs strings.Builder
	got := execute(&process{
		args: append([]string{"run", "--json", "--runs", t.TempDir()}, args...), stdout: &out, stderr: &errs,
		env: func(string) (string, bool) { return "", false }, now: time.Now,
	})
	require.Equal(t, code, got, "%s%s", out.String(), errs.String())
	return out.String()
}

// A replay of the whole built-in suite has one event per episode.
func TestEventsOfAReplay(t *testing.T) {
	t.Chdir(t.TempDir())
	list, count := eventsOf(t, runJSON(t, exit.Accepted))
	episodes := len(judged(t)) * 4
	require.Equal(t, map[string]int{"start": 1, "episode": episodes, "end": 1}, count)
	require.Equal(t, "start", list[0]["event"])
	require.EqualValues(t, episodes, list[0]["episodes"])
	seen := map[string]bool{}
	solved := 0.0
	for i, e := range list[1 : len(list)-1] {
		require.EqualValues(t, i+1, e["done"])
		require.EqualValues(t, episodes, e["total"])
		require.Contains(t, e, "cost_usd")
		seen[fmt.Sprint(e["task"], "/", e["candidate"], "/", e["trial"])] = true
		if e["solved"].(bool) {
			solved++
		}
	}
	require.Len(t, seen, episodes)
	end := list[len(list)-1]
	require.Equal(t, "end", end["event"])
	require.Equal(t, list[0]["run_id"], end["run_id"])
	require.Equal(t, solved, end["outcomes"].(map[string]any)["solved"])
	require.Nil(t, end["resume"])
}

// With a provider that refuses many requests, some of them permanently, the events have the changed
// limits, the failed episodes have no result, and the last event has the command that resumes.
func TestEventsOfALimitedProvider(t *testing.T) {
	server, err := sim.Start(context.Background(), "", sim.Config{Seed: 3, Books: booksFor(t), Chaos: "rate-limit-empty=0.3,quota=0.1"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	t.Chdir(t.TempDir())
	text := fmt.Sprintf("suite: builtin:counts\ncandidates:\n  - {name: c, provider: openai-compatible, model: sim-strong, base_url: %s/v1}\n", server.URL())
	require.NoError(t, os.WriteFile("cupel.yaml", []byte(text), 0o644))
	list, count := eventsOf(t, runJSON(t, exit.Failed, "--mode", "live", "--task", "G0*", "--concurrency", "8"))
	require.Equal(t, 1, count["start"])
	require.Equal(t, 8, count["episode"])
	require.Zero(t, count["error"])
	why := map[any]int{}
	lost := 0.0
	for _, e := range list {
		if e["event"] == "limit" {
			require.Equal(t, "openai-compatible", e["provider"])
			require.LessOrEqual(t, e["limit"], 8.0)
			why[e["why"]]++
		}
		if e["event"] == "episode" && e["error_kind"] != "" {
			require.Equal(t, ledger.StatusInfraError, e["status"])
			require.Nil(t, e["cost_usd"])
			lost++
		}
	}
	require.Positive(t, why["start"])
	require.Positive(t, why["rate_limit"])
	end := list[len(list)-1]
	require.Equal(t, "partial", end["status"])
	require.Positive(t, lost)
	require.Equal(t, lost, end["outcomes"].(map[string]any)["infra_errors"])
	require.Contains(t, end["resume"], filepath.Base(end["dir"].(string)))
	require.EqualValues(t, exit.Failed, end["exit_code"])
}
