package child

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestScanReadsWholeEnvironments: the entry is found behind a long environment, and first.
func TestScanReadsWholeEnvironments(t *testing.T) {
	long := "LONG=" + strings.Repeat("x", 100<<10)
	for _, env := range [][]string{{long, "M=1"}, {"M=1", long}, {long, "M=1", "N=2"}} {
		cmd := exec.Command("sleep", "60")
		cmd.Env = env
		require.NoError(t, cmd.Start())
		has, lacks := scan{entry: []byte("\x00M=1\x00")}, scan{entry: []byte("\x00M=\x00")}
		require.Eventually(t, func() bool { return has.marked(cmd.Process.Pid) }, soon, soon/1000, "before exec it has that of this process")
		require.False(t, lacks.marked(cmd.Process.Pid))
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		require.False(t, has.marked(cmd.Process.Pid), "it has ended")
	}
	require.NotZero(t, new(scan).latest())
}

// TestUnmarked: commands that run, their threads, and numbers that nothing has need no look at
// their environment; what a command has started does, also in its group.
func TestUnmarked(t *testing.T) {
	p, err := Start(Command{Args: []string{"sh", "-c", "sleep 60 & echo $!; wait"}, Env: environ()})
	require.NoError(t, err)
	line, err := bufio.NewReader(p.Stdout).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	require.True(t, unmarked(p.cmd.Process.Pid))
	require.False(t, unmarked(pid))
	require.False(t, unmarked(os.Getpid()), "this process is not a command of its own")
	p.Kill()
	p.Wait()
	require.True(t, unmarked(p.cmd.Process.Pid), "nothing has the number")
	_, runs := running.Load(p.cmd.Process.Pid)
	require.False(t, runs)
}
