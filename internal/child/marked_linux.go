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

// few is how many numbers are looked at one by one, because that is quicker than a list of all
// processes.
const few = 32

// killMarked kills the processes whose environment has the mark, and says which they were.
// Those that a command started have higher numbers than it, so only these are looked at:
// the mark of one that got a number below, after the numbers have started over, is not found.
func killMarked(command int, mark string) (killed []string) {
	var seen []int
	entry := []byte("\x00" + mark + "\x00")
	if latest := latestProcess(); latest >= command && latest-command < few && !anyMarked(command+1, latest, entry) {
		return nil
	}
	for range rounds {
		before := len(seen)
		entries, _ := os.ReadDir("/proc") // without it nothing is found
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil || pid <= command || slices.Contains(seen, pid) || !marked(pid, entry) {
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

// latestProcess is the number of the process or thread that was started last; 0 if the system
// does not tell.
func latestProcess() int {
	load, _ := regular.ReadFile("/proc/loadavg") // without it: 0
	latest, _ := strconv.Atoi(string(bytes.TrimSpace(load[bytes.LastIndexByte(load, ' ')+1:])))
	return latest
}

// anyMarked reports whether a process or thread with a number from first to last has an entry.
func anyMarked(first, last int, entry []byte) bool {
	for number := first; number <= last; number++ {
		if marked(number, entry) {
			return true
		}
	}
	return false
}

// marked reports whether the environment of a process has an entry, which is between zero bytes.
func marked(pid int, entry []byte) bool {
	env, err := regular.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ") // of one that has ended: nothing
	return err == nil && (bytes.HasPrefix(env, entry[1:]) || bytes.Contains(env, entry))
}
