//go:build unix

package cmd

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// raced reports whether the race detector is enabled, which makes everything slower.
func raced() bool {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}

// The program starts within 50 ms. On a busy machine some starts take longer.
func TestStartUp(t *testing.T) {
	if raced() {
		t.Skip("the race detector takes longer to start")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	best := time.Hour
	for try := 0; try < 50 && best > 50*time.Millisecond; try++ {
		cmd := exec.Command(self, "--version")
		cmd.Args[0] = "cupel" // under this name the test binary is cupel: see TestMain
		start := time.Now()
		out, err := cmd.Output()
		best = min(best, time.Since(start))
		require.NoError(t, err)
		require.Contains(t, string(out), "cupel")
	}
	require.Less(t, best, 50*time.Millisecond)
}

// A start collects no garbage, which would take a quarter of it, and cupel's packages make less
// than 1 MB in variables: patterns are compiled when they are first used.
func TestStartMakesLittle(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, "--version")
	cmd.Args[0] = "cupel" // under this name the test binary is cupel: see TestMain
	cmd.Env = []string{"GODEBUG=gctrace=1,inittrace=1"}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err)
	require.NotRegexp(t, `(?m)^gc \d`, string(out))
	made := 0
	for _, m := range regexp.MustCompile(`(?m)^init github.com/cupel-eval/.* (\d+) bytes`).FindAllStringSubmatch(string(out), -1) {
		n, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		made += n
	}
	require.Positive(t, made)
	require.Less(t, made, 1<<20, "%s", out)
}

// program builds the program with the flags of a release.
func program(b *testing.B) string {
	b.Helper()
	bin := filepath.Join(b.TempDir(), "cupel")
	out, err := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, ".").CombinedOutput()
	require.NoError(b, err, "%s", out)
	return bin
}

// execs runs the program repeatedly; best-ms is the fastest run, RSS-MB the largest.
func execs(b *testing.B, bin string, args ...string) {
	best, rss := time.Duration(1<<62), int64(0)
	for b.Loop() {
		cmd := exec.Command(bin, args...)
		cmd.Dir = filepath.Dir(bin)
		start := time.Now()
		out, err := cmd.CombinedOutput()
		best = min(best, time.Since(start))
		require.NoError(b, err, "%s", out)
		used := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
		if runtime.GOOS == "darwin" {
			used /= 1 << 10
		}
		rss = max(rss, used)
	}
	b.ReportMetric(float64(best.Microseconds())/1e3, "best-ms")
	b.ReportMetric(float64(rss)/1e3, "RSS-MB")
}

// BenchmarkStartup measures the least time of a command, and the smallest run with its report. The
// lower bound is an empty Go program, about 1 ms.
func BenchmarkStartup(b *testing.B) {
	bin := program(b)
	b.Run("version", func(b *testing.B) { execs(b, bin, "--version") })
	b.Run("run", func(b *testing.B) { execs(b, bin, "run", "--quiet", "--task", "G01", "--candidate", "strong") })
}

// BenchmarkProcess measures cupel run with its report on packs of 1,000 to 20,000 episodes of 2.4
// turns. Memory grows only by some bytes per episode for the index of the pack and the report.
func BenchmarkProcess(b *testing.B) {
	bin := program(b)
	tasks, candidates := []string{"G01", "G02", "G04", "G06", "G24"}, []string{"strong", "weak"}
	for _, n := range []int{1000, 20_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			pack := filepath.Join(b.TempDir(), "trials.pack")
			args := []string{"run", "--quiet", "--pack", pack, "--trials", strconv.Itoa(n / 10)}
			files := fstest.MapFS{}
			for _, task := range tasks {
				args = append(args, "--task", task)
				for _, candidate := range candidates {
					text, err := fs.ReadFile(counts.FS, "cassettes/"+cassettes.Path(task, candidate, 1))
					require.NoError(b, err)
					for trial := range n / 10 {
						files[cassettes.Path(task, candidate, trial+1)] = &fstest.MapFile{Data: text}
					}
				}
			}
			for _, candidate := range candidates {
				args = append(args, "--candidate", candidate)
			}
			_, err := cassette.WritePack(pack, files)
			require.NoError(b, err)
			execs(b, bin, args...)
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "episodes/s")
		})
	}
}
