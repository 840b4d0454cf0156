// Package child runs commands that people name in configuration: with the environment and
// the bounds that they are given, and with an end that leaves none of their descendants
// behind. On Unix a command has a process group of its own, on Windows a job object.
package child

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Grace bounds how long the end of a command is delayed by a descendant that left its group,
// or that still holds one of its pipes.
const Grace = 2 * time.Second

// base are the variables of cupel's own environment that every command gets, if they are set.
var base = []string{"PATH", "HOME", "TMPDIR", "SYSTEMROOT", "TEMP", "USERPROFILE", "PATHEXT"}

// Environ returns the variables that every command gets, as NAME=value: where programs, the
// home and temporary files are, and nothing else of cupel's environment. lookup is such as
// os.LookupEnv.
func Environ(lookup func(name string) (string, bool)) (env []string) {
	for _, name := range base {
		if value, ok := lookup(name); ok && value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// Command is what to start.
type Command struct {
	// Args is the program, looked up in PATH if it has no slash, and its arguments. No shell
	// runs it.
	Args []string
	// Dir is the working directory; empty means that of this process.
	Dir string
	// Env is the complete environment; nil means none.
	Env []string
	// Stdin is copied to the command's standard input, which is then closed. nil means a pipe,
	// Process.Stdin.
	Stdin io.Reader
	// Stdout gets the standard output. Once it refuses a write, the command is killed. nil
	// means a pipe, Process.Stdout.
	Stdout io.Writer
	// Stderr gets the standard error; nil drops it.
	Stderr io.Writer
	// Mark is an entry of Env that no other process has. Where the system tells the
	// environment of processes (Linux), descendants that left the group are found by it and
	// killed. Empty finds none.
	Mark string
	// Terminal leaves the command in this process's group, so that it can read the terminal
	// and gets its signals. Its own descendants are then not killed with it, except on Windows.
	Terminal bool
}

// Process is a running command. Kill and Signal may be called by any goroutine at any time; the other
// methods are not safe for concurrent use.
type Process struct {
	// Stdin and Stdout are pipes to the command if it has no others. Both are closed by Wait.
	Stdin  io.WriteCloser
	Stdout io.ReadCloser

	cmd     *exec.Cmd
	mark    string
	ours    []io.Closer    // ends of pipes in this process
	copying sync.WaitGroup // of output
	group   group

	mu    sync.Mutex
	ended bool // it never started, or its number may belong to another by now
	state *os.ProcessState
	left  string
}

// Start starts a command. An error wraps exec.ErrNotFound, fs.ErrPermission or the like, and
// names no input; the caller says what was to be started.
func Start(c Command) (*Process, error) {
	if len(c.Args) == 0 {
		return nil, errors.New("no command")
	}
	p := &Process{cmd: exec.Command(c.Args[0], c.Args[1:]...), mark: c.Mark}
	p.cmd.Dir, p.cmd.Env = c.Dir, c.Env
	if p.cmd.Env == nil {
		p.cmd.Env = []string{}
	}
	var theirs []io.Closer // ends of pipes that only the command has to hold
	p.mu.Lock()            // output that is refused at once kills the command once it is started
	err := p.pipes(c, &theirs)
	if err == nil {
		err = p.group.start(p.cmd, c.Terminal)
	}
	p.ended = err != nil
	p.mu.Unlock()
	for _, end := range theirs {
		_ = end.Close()
	}
	if err != nil {
		p.hangUp()
		p.copying.Wait()
		return nil, err
	}
	return p, nil
}

// pipes connects the command. A file is handed to it as it is: so it can be a terminal.
func (p *Process) pipes(c Command, theirs *[]io.Closer) error {
	pipe := func() (r, w *os.File, err error) {
		if r, w, err = os.Pipe(); err != nil {
			return nil, nil, fmt.Errorf("make a pipe: %w", err)
		}
		return r, w, nil
	}
	if file, ok := c.Stdin.(*os.File); ok {
		p.cmd.Stdin = file
	} else {
		r, w, err := pipe()
		if err != nil {
			return err
		}
		p.cmd.Stdin, p.Stdin = r, w
		*theirs, p.ours = append(*theirs, r), append(p.ours, w)
		if c.Stdin != nil {
			go func() {
				_, _ = io.Copy(w, c.Stdin) // a command need not read it
				_ = w.Close()
			}()
		}
	}
	out := func(to io.Writer) (io.Writer, io.ReadCloser, error) {
		if file, ok := to.(*os.File); ok {
			return file, nil, nil
		}
		r, w, err := pipe()
		if err != nil {
			return nil, nil, err
		}
		*theirs, p.ours = append(*theirs, w), append(p.ours, r)
		if to != nil {
			p.copying.Go(func() {
				if _, err := io.Copy(to, r); err != nil && !errors.Is(err, os.ErrClosed) {
					p.Kill()
				}
			})
		}
		return w, r, nil
	}
	var err error
	if p.cmd.Stdout, p.Stdout, err = out(c.Stdout); err == nil && c.Stderr != nil {
		p.cmd.Stderr, _, err = out(c.Stderr)
	}
	return err
}

func (p *Process) hangUp() {
	for _, end := range p.ours {
		_ = end.Close()
	}
}

// Kill ends the command and its descendants immediately. Wait must be called still.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.group.kill()
	}
}

// Signal asks the command, and the descendants in its group, to end: by the signal, or on
// Windows by Ctrl-Break, for whatever signal. Wait must be called still.
func (p *Process) Signal(sig os.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.group.signal(sig)
	}
}

// State is how the command ended; nil before Wait.
func (p *Process) State() *os.ProcessState { return p.state }

// Wait waits for the end of the command, kills the descendants that it left behind, and
// waits at most Grace until its output is complete. It returns a sentence about descendants
// that had left the group or held the output open; empty if there were none. A further call
// returns the same.
func (p *Process) Wait() (leftover string) {
	if p.state != nil {
		return p.left
	}
	_ = p.cmd.Wait() // how it ended is in the state
	p.mu.Lock()
	p.ended = true
	p.state = p.cmd.ProcessState
	p.group.end() // its number is not given to another while a descendant is in the group
	p.mu.Unlock()
	var left []string
	over := time.NewTimer(Grace)
	defer over.Stop()
	complete := make(chan struct{})
	go func() {
		p.copying.Wait()
		close(complete)
	}()
	if p.mark != "" {
		left = killMarked(p.cmd.Process.Pid, p.mark)
	}
	select {
	case <-complete:
	case <-over.C:
		left = append(left, fmt.Sprintf("a process outside its group held its output open %v after its end", Grace))
	}
	p.hangUp()
	<-complete
	p.left = strings.Join(left, "; ")
	return p.left
}
