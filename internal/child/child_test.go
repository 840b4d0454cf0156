//go:build unix

package child

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// soon is long before the sleeps of these tests end, also on a busy machine.
const soon = 15 * time.Second

func environ() []string { return Environ(os.LookupEnv) }

// alive says whether a process exists and is no zombie.
func alive(t *testing.T, pid int) bool {
	t.Helper()
	out, _ := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return len(out) > 0 && !strings.HasPrefix(string(out), "Z")
}

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool { return !alive(t, pid) }, 5*time.Second, 10*time.Millisecond, "process %d", pid)
}

func TestRunsWithWhatItIsGiven(t *testing.T) {
	t.Setenv("SECRET_KEY", "sk-planted")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	out, said := Bounded{Max: 1 << 20}, Tail{Max: 4}
	p, err := Start(Command{
		Args: []string{"sh", "-c", "pwd; cat; echo \"[$A]\"; env; echo 0123456789 >&2; exit 3"}, Dir: dir, Env: append(environ(), "A=b c"),
		Stdin: strings.NewReader("typed\n"), Stdout: &out, Stderr: &said,
	})
	require.NoError(t, err)
	require.Empty(t, p.Wait())
	require.Empty(t, p.Wait(), "again")
	require.Equal(t, 3, p.State().ExitCode())
	text, refused := out.Bytes()
	require.False(t, refused)
	require.True(t, strings.HasPrefix(string(text), dir+"\ntyped\n[b c]\n"), "%s", text)
	require.NotContains(t, string(text), "planted")
	require.Equal(t, "789\n", said.String())
}

func TestPipes(t *testing.T) {
	p, err := Start(Command{Args: []string{"cat"}, Env: environ()})
	require.NoError(t, err)
	_, err = io.WriteString(p.Stdin, "one\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(p.Stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "one\n", line)
	require.NoError(t, p.Stdin.Close())
	require.Empty(t, p.Wait())
	require.True(t, p.State().Success())
	p.Kill() // after the end: nothing
}

func TestCannotStart(t *testing.T) {
	_, err := Start(Command{})
	require.EqualError(t, err, "no command")
	_, err = Start(Command{Args: []string{"no-such-program-here"}, Stdout: io.Discard})
	require.ErrorIs(t, err, exec.ErrNotFound)
	_, err = Start(Command{Args: []string{"sh"}, Dir: "/no/such/folder", Stdin: strings.NewReader("")})
	require.ErrorIs(t, err, os.ErrNotExist)
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte("x"), 0o644))
	_, err = Start(Command{Args: []string{text}})
	require.ErrorIs(t, err, os.ErrPermission)
}

// TestDescendantsEndWithIt: what stays in the group is killed when the command ends, and when
// it is killed.
func TestDescendantsEndWithIt(t *testing.T) {
	for _, end := range []string{"exit", "sleep 60"} {
		p, err := Start(Command{Args: []string{"sh", "-c", "(trap '' TERM INT HUP; sleep 61; sleep 61) & echo $!; " + end}, Env: environ()})
		require.NoError(t, err)
		line, err := bufio.NewReader(p.Stdout).ReadString('\n')
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		require.NoError(t, err)
		start := time.Now()
		if end != "exit" {
			p.Kill()
		}
		require.Empty(t, p.Wait())
		require.Less(t, time.Since(start), soon)
		gone(t, pid)
	}
}

// TestFlood: a command that writes without end is killed at the bound.
func TestFlood(t *testing.T) {
	out := Bounded{Max: 1000}
	p, err := Start(Command{Args: []string{"sh", "-c", "while :; do echo flood; done"}, Env: environ(), Stdout: &out})
	require.NoError(t, err)
	require.Empty(t, p.Wait())
	_, refused := out.Bytes()
	require.True(t, refused)
	require.Equal(t, syscall.SIGKILL, p.State().Sys().(syscall.WaitStatus).Signal())
}

// leaver writes a program that leaves the group of the command, and returns its arguments.
func leaver(t *testing.T, rest string) []string {
	t.Helper()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("there is no setsid on this machine")
	}
	return []string{"sh", "-c", "setsid sh -c 'echo $$; " + rest + "' & read x < /dev/null; sleep 0.2"}
}

// TestLeftTheGroup: one that left the group and holds the output delays the end by Grace,
// and is reported.
func TestLeftTheGroup(t *testing.T) {
	out := Bounded{Max: 1000}
	p, err := Start(Command{Args: leaver(t, "sleep 60"), Env: environ(), Stdout: &out})
	require.NoError(t, err)
	start := time.Now()
	require.Equal(t, "a process outside its group held its output open 2s after its end", p.Wait())
	require.Less(t, time.Since(start), soon)
	text, _ := out.Bytes()
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}

// TestMarked: with a mark it is found and killed, even where it holds nothing of the command.
func TestMarked(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("this system does not show the environment of processes")
	}
	for i, rest := range []string{"exec sleep 60", "exec sleep 60 >/dev/null 2>&1 </dev/null"} {
		out := Bounded{Max: 1000}
		mark := fmt.Sprintf("CUPEL_TEST_MARK=%d-%d", os.Getpid(), i)
		p, err := Start(Command{Args: leaver(t, rest), Env: append(environ(), mark), Mark: mark, Stdout: &out})
		require.NoError(t, err)
		start := time.Now()
		left := p.Wait()
		require.Less(t, time.Since(start), soon)
		text, _ := out.Bytes()
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("process %d (sleep) had left its group and was killed after its end", pid), left)
		gone(t, pid)
	}
}

func BenchmarkTrivial(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		out := Bounded{Max: 1000}
		p, err := Start(Command{Args: []string{"/bin/true"}, Env: []string{"A=b"}, Mark: "A=b", Stdin: strings.NewReader("x"), Stdout: &out, Stderr: io.Discard})
		if err != nil {
			b.Fatal(err)
		}
		p.Wait()
	}
}
