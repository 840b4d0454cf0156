//go:build unix

package reports

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// writeStream writes a run with the given number of episodes of five turns as a folder.
func writeStream(t testing.TB, dir string, episodes int) {
	t.Helper()
	m, row := stream(episodes, 5)
	w, err := ledger.NewWriter(dir)
	require.NoError(t, err)
	for i := range episodes {
		require.NoError(t, w.Append(row(i)))
	}
	_, err = w.Close(func(totals manifest.Totals) (manifest.Manifest, error) {
		m.SetTotals(totals)
		return m, nil
	})
	require.NoError(t, err)
}

// reportOf builds and writes the report of a run folder, like cupel report.
func reportOf(dir string) error {
	m, err := manifest.Read(dir)
	if err != nil {
		return err
	}
	b := NewBuilder(m)
	for rows, err := range ledger.Scan(dir) {
		if err != nil {
			return err
		}
		b.Add(rows)
	}
	return Write(dir, b.Report(), nil)
}

// A separate process builds and writes the report of a million turns, 200,000 episodes,
// in less than 10 s and 500 MB. CUPEL_SCALE=200000 sets the number of episodes. The
// default is 20,000, and the sample 8,000, with limits in proportion.
func TestReportOfManyTurns(t *testing.T) {
	const child = "CUPEL_SCALE_REPORT"
	if dir := os.Getenv(child); dir != "" {
		start := time.Now()
		require.NoError(t, reportOf(dir))
		t.Logf("built and written in %v", time.Since(start))
		status, _ := os.ReadFile("/proc/self/status") // on Linux
		t.Logf("%s", status)
		return
	}
	if testing.Short() {
		t.Skip("a process that writes a large report; not with -short")
	}
	episodes := testkit.SlowN(8_000, 20_000)
	if s := os.Getenv("CUPEL_SCALE"); s != "" {
		var err error
		episodes, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	dir := t.TempDir()
	writeStream(t, dir, episodes)
	cmd := exec.Command(os.Args[0], "-test.run=^TestReportOfManyTurns$", "-test.v")
	cmd.Env = append(os.Environ(), child+"="+dir, "GOGC=100") // the setting of the documented figures
	start := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(start)
	require.NoError(t, err, "%s", out)
	rss := peak(t, cmd, string(out))
	// The limit of elapsed time applies to an idle machine with two cores. On a busy one,
	// half of the processor time counts.
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	t.Logf("%d turns: %v, %v of CPU, at most %d MB", 5*episodes, took.Round(time.Millisecond), cpu.Round(time.Millisecond), rss/1000)
	require.Less(t, rss/1000, int64(150+350*episodes/200_000), "MB")
	limit := time.Second + time.Duration(episodes)*9*time.Second/200_000
	require.Less(t, min(took, cpu/2), limit, "of two cores")
}

// peak returns the largest memory of a process, in KiB. It uses the process's own
// report, because Linux includes the memory of the parent at the start of a process.
func peak(t *testing.T, cmd *exec.Cmd, said string) int64 {
	t.Helper()
	if m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindStringSubmatch(said); m != nil {
		kib, err := strconv.ParseInt(m[1], 10, 64)
		require.NoError(t, err)
		return kib
	}
	rss := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS == "darwin" {
		rss /= 1 << 10
	}
	return rss
}
