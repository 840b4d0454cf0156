package child

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A command ends with a process that is killed and can do nothing about it.
func TestEndsWithAKilledProcess(t *testing.T) {
	const helper = "CUPEL_TEST_CHILD_PARENT"
	if os.Getenv(helper) != "" {
		p, err := Start(Command{Args: []string{"sleep", "61"}, Env: environ()})
		require.NoError(t, err)
		fmt.Printf("started %d\n", p.cmd.Process.Pid)
		time.Sleep(time.Minute)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestEndsWithAKilledProcess$")
	cmd.Env = append(os.Environ(), helper+"=1")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "started ")))
	require.NoError(t, err)
	require.True(t, alive(t, pid))
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	gone(t, pid)
}
