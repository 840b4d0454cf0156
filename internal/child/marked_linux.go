package child

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// rounds bounds how often processes are looked for that a killed one may have started.
const rounds = 20

// few is how many numbers are looked at one by one, because that is quicker than a list of all
// processes.
const few = 1000

// killMarked kills the processes whose environment has the mark, and says which they were.
// Those that a command started have higher numbers than it, so only these are looked at:
// the mark of one that got a number below, after the numbers have started over, is not found.
func killMarked(command int, mark string) (killed []string) {
	var seen []int
	s := scan{entry: []byte("\x00" + mark + "\x00")}
	if latest := s.latest(); latest >= command && latest-command < few && !s.any(command+1, latest) {
		return nil
	}
	for range rounds {
		before := len(seen)
		entries, _ := os.ReadDir("/proc") // without it nothing is found
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil || pid <= command || slices.Contains(seen, pid) || unmarked(pid) || !s.marked(pid) {
				continue
			}
			comm := bytes.Clone(s.read("/proc/" + e.Name() + "/comm"))
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

// scan looks at processes: dozens after each command, so it reads in the cheapest way.
type scan struct {
	entry []byte // of the environment, between zero bytes
	text  []byte // what was read last
}

// read returns what a file of /proc has, which is valid until the next read; nothing if it
// cannot be read, such as that of a process that has ended.
func (s *scan) read(path string) []byte {
	f, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = syscall.Close(f) }() // it was only read
	s.text = s.text[:0]
	for {
		s.text = slices.Grow(s.text, 16<<10)
		n, err := syscall.Read(f, s.text[len(s.text):cap(s.text)])
		switch {
		case err == syscall.EINTR:
		case err != nil || n == 0:
			return s.text
		default:
			s.text = s.text[:len(s.text)+n]
		}
	}
}

// latest is the number of the process or thread that was started last; 0 if the system does
// not tell.
func (s *scan) latest() int {
	load := s.read("/proc/loadavg") // without it: 0
	latest, _ := strconv.Atoi(string(bytes.TrimSpace(load[bytes.LastIndexByte(load, ' ')+1:])))
	return latest
}

// any reports whether a process or thread with a number from first to last has the entry.
func (s *scan) any(first, last int) bool {
	for number := first; number <= last; number++ {
		if !unmarked(number) && s.marked(number) {
			return true
		}
	}
	return false
}

// unmarked reports whether a number is surely not that of a process with a mark of a command
// that has ended: nothing has it, or a command that still runs, or a thread of one. To ask
// costs a fraction of reading an environment.
func unmarked(number int) bool {
	leader, err := syscall.Getpgid(number)
	if err != nil {
		return true
	}
	_, runs := running.Load(leader)
	return runs && unix.Tgkill(leader, number, 0) == nil // a thread of that process
}

// marked reports whether the environment of a process has the entry.
func (s *scan) marked(pid int) bool {
	env := s.read("/proc/" + strconv.Itoa(pid) + "/environ")
	return bytes.HasPrefix(env, s.entry[1:]) || bytes.Contains(env, s.entry)
}
