package child

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"

	"github.com/cupel-eval/cupel/internal/regular"
)

// rounds bounds how often processes are looked for that a killed one may have started.
const rounds = 20

// killMarked kills the processes whose environment has the mark, and says which they were.
// Those that a command started have higher numbers than it, so only these are looked at:
// the mark of one that got a number below, after the numbers have started over, is not found.
func killMarked(command int, mark string) (killed []string) {
	var seen []int
	entry := []byte("\x00" + mark + "\x00")
	for range rounds {
		before := len(seen)
		entries, _ := os.ReadDir("/proc") // without it nothing is found
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil || pid <= command || slices.Contains(seen, pid) {
				continue
			}
			env, err := regular.ReadFile("/proc/" + e.Name() + "/environ") // of one that has ended: nothing
			if err != nil || !bytes.HasPrefix(env, entry[1:]) && !bytes.Contains(env, entry) {
				continue
			}
			comm, _ := regular.ReadFile("/proc/" + e.Name() + "/comm")
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed = append(killed, fmt.Sprintf("process %d (%s) had left its group and was killed after its end", pid, bytes.TrimSpace(comm)))
			}
			seen = append(seen, pid)
		}
		if len(seen) == before {
			break
		}
	}
	return killed
}
