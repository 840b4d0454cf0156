//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// The flags of run work with a queue, or are refused before anything is asked.
func TestFleetTakesFlagsOfRun(t *testing.T) {
	testkit.Slow(t)
	p := newPlant(t, 5*time.Millisecond)
	run := func(code int, args ...string) string {
		t.Helper()
		out, got := p.run(append([]string{"run", "--queue", p.url}, args...)...)
		require.Equal(t, code, got, out)
		return out
	}
	for says, args := range map[string][]string{
		"--batch collects the requests of one process, which needs no workers; leave --queue or --batch out": {"--mode", "live", "--batch"},
		"--replay-speed paces one process": {"--replay-speed", "1"},
	} {
		require.Contains(t, run(2, args...), says)
	}
	all, _ := p.counts()
	require.Zero(t, all)

	// Live: a result for each episode, and the limits in force are seen from everywhere.
	p.workers = append(p.workers, p.startWorker(), p.startWorker())
	live := p.start("run", "--queue", p.url, "--mode", "live", "--runs", "live", "--trials", "5", "--max-requests", "100000")
	require.Eventually(t, func() bool {
		workers, _ := p.status()["workers"].([]any)
		for _, w := range workers {
			if lanes, _ := w.(map[string]any)["lanes"].([]any); len(lanes) == 1 {
				return true
			}
		}
		return false
	}, time.Minute, 50*time.Millisecond, "%s", live.out)
	text, code := p.run("status", "--queue", p.url)
	require.Zero(t, code, text)
	require.Regexp(t, `spent +\$0 of –, \$0 granted to workers; \d+ of 100000 requests`, text)
	require.Regexp(t, `openai-compatible +1 +[12] +(8|16) `, text)
	<-live.over
	require.Zero(t, live.ProcessState.ExitCode(), live.out)
	m := p.manifest("live")
	require.Equal(t, "complete", m.Status)
	require.Equal(t, 5*len(m.Tasks), m.Episodes)

	// Into a pack, of which one process replays the same run, and of which workers replay it.
	run(0, "--mode", "record", "--runs", "packed", "--pack", "packed.pack.d", "--task", "G0*", "--quiet")
	recorded := p.manifest("packed")
	out, code := p.run("run", "--runs", "one", "--pack", "packed.pack.d", "--task", "G0*", "--quiet")
	require.Zero(t, code, out)
	require.Equal(t, recorded.LedgerDigest, p.manifest("one").LedgerDigest)
	for _, w := range p.workers {
		w.kill()
	}
	p.workers = []*process{p.start("worker", "--queue", p.url, "--pack", "packed.pack.d")}
	run(0, "--runs", "replayed", "--pack", "packed.pack.d", "--task", "G0*", "--quiet")
	require.Equal(t, recorded.LedgerDigest, p.manifest("replayed").LedgerDigest)

	// Only what is stale is recorded again.
	p.workers[0].kill()
	p.workers = []*process{p.startWorker()}
	run(0, "--mode", "record", "--runs", "first", "--task", "G0*", "--quiet")
	missing := filepath.Join(p.dir, "suite", "cassettes", "one", "G01", "1.yaml")
	require.NoError(t, os.Remove(missing))
	before, _ := p.counts()
	run(0, "--mode", "record", "--runs", "stale", "--stale", "--task", "G0*", "--quiet")
	require.FileExists(t, missing)
	after, _ := p.counts()
	require.Positive(t, after-before)
	require.Less(t, after-before, 10)
	require.Equal(t, 1, p.manifest("stale").Episodes)

	// A partial run says how the same fleet resumes it.
	out, _ = p.run("run", "--queue", p.url, "--mode", "live", "--runs", "capped", "--max-requests", "5", "--quiet")
	require.Contains(t, out, "resume with: cupel-fleet run --queue "+p.url+" --resume capped/")

	// In rounds, which end as those of one process.
	args := []string{"--decide", "--max-trials", "3", "--task", "G0*", "--quiet", "--mode", "live"}
	run(0, append(args, "--runs", "decided")...)
	out, code = p.run(append([]string{"run", "--runs", "alone"}, args...)...)
	require.Zero(t, code, out)
	require.Equal(t, p.manifest("alone").Decide, p.manifest("decided").Decide)
	require.Equal(t, p.manifest("alone").Episodes, p.manifest("decided").Episodes)
	p.workers[0].kill()
	require.Equal(t, 1, strings.Count(p.workers[0].out.String(), "working on run "+p.manifest("decided").RunID), "a worker begins once, not in each round")
}

// A worker whose program was built from other sources is refused, also if both have no version.
func TestFleetRefusesOtherBuild(t *testing.T) {
	testkit.Slow(t)
	p := newPlant(t, 0)
	text, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.WriteFile(other, append(text, 0), 0o700))
	worker := p.startProgram(other, "worker", "--queue", p.url)
	p.workers = append(p.workers, worker)
	lead := p.start("run", "--queue", p.url, "--mode", "record", "--runs", "fleet", "--task", "G01", "--quiet")
	p.workers = append(p.workers, lead)
	require.Eventually(t, func() bool { return strings.Contains(lead.out.String(), "refuses the run: ") }, time.Minute, 10*time.Millisecond)
	require.Contains(t, lead.out.String(), "another build of cupel")
	status, code := p.run("status", "--queue", p.url)
	require.Zero(t, code, status)
	require.Regexp(t, `refused.*another build of cupel`, status)
	all, _ := p.counts()
	require.Zero(t, all)
	p.workers = append(p.workers, p.startWorker())
	<-lead.over
	require.Zero(t, lead.ProcessState.ExitCode(), lead.out)
	require.Equal(t, "complete", p.manifest("fleet").Status)
}
