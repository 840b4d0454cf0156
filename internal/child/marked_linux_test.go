package child

import (
	"os/exec"
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
