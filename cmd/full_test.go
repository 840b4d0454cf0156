//go:build unix

package cmd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// slow are the arguments of a replay that journals every episode when it ends.
var slow = []string{"run", "--candidate", "strong", "--replay-speed", "400"}

// uninterrupted returns the files of that replay without a failure. It runs once.
func uninterrupted(t *testing.T) map[string]string {
	t.Helper()
	whole.Do(func() {
		b := newBench(t)
		end := b.run(0, slow...)
		require.Zero(t, end.code, end.text)
		whole.files = b.result()
	})
	require.NotEmpty(t, whole.files)
	return whole.files
}

var whole struct {
	sync.Once
	files map[string]string
}

var goOn = regexp.MustCompile(`(?m)resume with: cupel (run --resume \S+)$`)

// fixedBy executes the command in the error of a failed run, and checks that the files then equal
// those of a run without a failure.
func (b *bench) fixedBy(end ended, want map[string]string) {
	b.t.Helper()
	args := slow
	if hint := goOn.FindStringSubmatch(end.text); hint != nil {
		args = strings.Fields(hint[1])
	} else if b.folder() != "" {
		require.Contains(b.t, end.text, "retry with: cupel report", "with a run folder it says how to go on")
		args = []string{"report", "latest"}
	}
	end = b.run(0, args...)
	require.Zero(b.t, end.code, end.text)
	require.Equal(b.t, want, b.result())
}

// limited runs cupel with a limit on the size of files in KiB, so that writes fail as on a full
// disk.
func (b *bench) limited(kib int, args ...string) ended {
	b.t.Helper()
	cmd := b.command(args...)
	cmd.Args = append([]string{"bash", "-c", fmt.Sprintf(`ulimit -f %d; exec "$0" "$@"`, kib), cmd.Path}, args...)
	bash, err := exec.LookPath("bash")
	if err != nil {
		b.t.Skip("needs bash")
	}
	cmd.Path = bash
	return b.wait(cmd, 0, nil)
}

// If a file of a run cannot be written, the error says what is stored and how to resume, and the
// resumed run has the same files.
func TestWritesThatFail(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
	want := uninterrupted(t)
	for _, test := range []struct {
		kib   int
		fails string
	}{
		{0, "write plan"}, {2, "run.json"}, {60, "journal episode"}, {80, "journal episode"},
	} {
		t.Run(fmt.Sprint(test.kib), func(t *testing.T) {
			if test.kib == 2 || test.kib == 80 {
				testkit.Slow(t)
			}
			t.Parallel()
			b := newBench(t)
			end := b.limited(test.kib, slow...)
			require.Equal(t, exit.Failed, end.code, end.text)
			require.Contains(t, end.text, test.fails)
			require.Contains(t, end.text, "file too large")
			b.fixedBy(end, want)
		})
	}
}

// A full disk stops a run at any moment. The run can be resumed when there is space again.
func TestFullDisk(t *testing.T) {
	testkit.Slow(t)
	want := uninterrupted(t)
	stages := map[string]int{}
	for kib := 4; kib <= 400; kib += testkit.Long(96, 24) {
		t.Run(fmt.Sprint(kib), func(t *testing.T) {
			b := newBench(t)
			runs := filepath.Join(b.dir, "runs")
			require.NoError(t, os.Mkdir(runs, 0o755))
			if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dk", kib), "none", runs).CombinedOutput(); err != nil {
				t.Skipf("may not mount a small disk: %s", out)
			}
			t.Cleanup(func() { require.NoError(t, exec.Command("umount", runs).Run()) })
			end := b.run(0, slow...)
			if end.code == 0 {
				stages["none"]++
				return
			}
			require.Equal(t, exit.Failed, end.code, end.text)
			require.Contains(t, end.text, "no space left")
			for _, stage := range []string{"write plan", "journal episode", "write ledger", "write report", "conclude", "run.json"} {
				if strings.Contains(end.text, stage) {
					stages[stage]++
					break
				}
			}
			require.NoError(t, exec.Command("mount", "-o", "remount,size=10m", runs).Run())
			b.fixedBy(end, want)
		})
	}
	t.Log(stages)
}

// If a table cannot be replaced, no episode is lost.
func TestLedgerThatCannotBeWritten(t *testing.T) {
	testkit.Slow(t) // TestWritesThatFail is the sample, and TestFilesThatFailMidway of harness
	want := uninterrupted(t)
	b := newBench(t)
	end := b.limited(60, slow...)
	require.Equal(t, exit.Failed, end.code, end.text)
	done := len(b.journaled())
	require.Greater(t, done, 10)
	blocked := filepath.Join(b.folder(), "turns.parquet")
	require.NoError(t, os.Mkdir(blocked, 0o755))
	end = b.run(0, "run", "--resume", "latest")
	require.Equal(t, exit.Failed, end.code, end.text)
	require.Contains(t, end.text, "write ledger")
	require.Contains(t, end.text, "turns.parquet")
	require.Greater(t, len(b.journaled()), done, "what it ran is not lost")
	require.NoError(t, os.Remove(blocked))
	hint := goOn.FindStringSubmatch(end.text)
	require.NotNil(t, hint, end.text)
	end = b.run(0, append(strings.Fields(hint[1]), "--json")...)
	require.Zero(t, end.code, end.text)
	require.Contains(t, end.text, fmt.Sprintf(`"resumed":%d`, len(judged(t))))
	require.NotRegexp(t, episodeLine, end.text, "all had been run")
	require.Equal(t, want, b.result())
}

// The second of two processes on one run ends immediately and does not disturb the first. A killed
// process leaves no lock.
func TestTwoProcessesOnOneRun(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
	want := uninterrupted(t)
	b := newBench(t)
	for _, first := range []*exec.Cmd{
		b.command("run", "--candidate", "strong", "--replay-speed", "2", "--concurrency", "16"), b.command("run", "--resume", "latest"),
	} {
		begun := len(b.journaled())
		require.NoError(t, first.Start())
		t.Cleanup(func() { _ = first.Process.Kill(); _ = first.Wait() }) // the process may have ended
		require.Eventually(t, func() bool { return len(b.journaled()) > begun }, 20*time.Second, 10*time.Millisecond)
		for _, args := range [][]string{{"run", "--resume", "latest"}, slow} {
			end := b.run(0, args...)
			require.Equal(t, exit.Failed, end.code, end.text)
			require.Contains(t, end.text, "in use by another cupel process: wait for it to end, or use another runs folder")
		}
		before := b.journaled()
		if begun == 0 {
			require.NoError(t, first.Process.Kill())
			_ = first.Wait() // killed
			require.Subset(t, b.journaled(), before)
			b.hurry("16")
			continue
		}
		require.NoError(t, first.Wait())
	}
	require.Equal(t, want, b.result())
}

// hurry makes the resumed replay faster than the original run.
func (b *bench) hurry(speed string) {
	b.t.Helper()
	path := filepath.Join(b.folder(), "journal", "settings")
	text, err := sealed.Read(path, 1<<20)
	require.NoError(b.t, err)
	before, _, ok := strings.Cut(string(text), `"replay_speed"`)
	require.True(b.t, ok)
	writeSealed(b.t, path, before+`"replay_speed":`+speed+"}\n")
}
