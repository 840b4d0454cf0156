// Package lines runs commands that are spoken to in lines of text, on their standard input
// and output. What a command writes is bounded, its standard error explains its failures,
// and it is killed with its children.
package lines

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/internal/child"
	"github.com/cupel-eval/cupel/internal/clip"
)

// Grace is how long a command may take to end after its standard input was closed.
const Grace = 500 * time.Millisecond

// MaxLine bounds a line, in bytes: that of the state of a world of 16 MiB, and an envelope.
const MaxLine = 16<<20 + 64<<10

const (
	maxOutput = 256 << 20 // bytes of standard output
	maxStderr = 2 << 10   // bytes of the end of standard error that is kept
)

// fixed are the variables that have the same value on every machine, for equal bytes.
var fixed = []string{"LC_ALL=C.UTF-8", "TZ=UTC", "PYTHONHASHSEED=0", "PYTHONUTF8=1"}

// Program is a command and how messages name it. A Program is not changed after its first
// use and is then safe for concurrent use.
type Program struct {
	// Command is the program and its arguments, at least the former; it is not run by a
	// shell.
	Command []string
	// Dir is the folder in which it runs.
	Dir string
	// Env names the environment variables that it gets besides the ones that every
	// command gets. Lookup finds their values; nil finds none.
	Env    []string
	Lookup func(name string) (string, bool)
	// Name is who did something wrong in messages, such as "the world's command", and
	// Setting the key in the suite, such as "process", whose command, env and timeout are
	// named as what to correct.
	Name, Setting string
}

// String names the command in messages.
func (p Program) String() string {
	return fmt.Sprintf("%s %q", p.Name, clip.Bytes(strings.Join(p.Command, " "), 200))
}

// Environ is the environment of the command.
func (p Program) Environ() ([]string, error) {
	env := slices.Concat(fixed, child.Environ(os.LookupEnv))
	for _, name := range p.Env {
		value, ok := "", false
		if p.Lookup != nil {
			value, ok = p.Lookup(name)
		}
		if !ok {
			return nil, fmt.Errorf("%s needs the environment variable %s; set it, or take it out of %s.env", p, name, p.Setting)
		}
		env = append(env, name+"="+value)
	}
	return env, nil
}

// Start starts the command.
func (p Program) Start() (*Process, error) {
	env, err := p.Environ()
	if err != nil {
		return nil, err
	}
	c := &Process{program: p, stderr: child.Tail{Max: maxStderr}}
	if c.Process, err = child.Start(child.Command{Args: p.Command, Dir: p.Dir, Env: env, Stderr: &c.stderr}); err != nil {
		return nil, fmt.Errorf("start %s in %s: %w; install it, or correct %s.command", p, p.Dir, err, p.Setting)
	}
	c.lines = bufio.NewReaderSize(c.Stdout, 64<<10)
	return c, nil
}

// Run runs the command to its end, without input. The error is that of the context, or says
// that the command failed, or did not end in time.
func (p Program) Run(ctx context.Context, timeout time.Duration) error {
	c, err := p.Start()
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	stop := context.AfterFunc(limited, c.Kill)
	_ = c.Stdin.Close()
	_, _ = io.Copy(io.Discard, c.Stdout)
	c.Wait()
	stop()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return c.Fail("did not end within %v; look what it waits for, or raise %s.timeout", timeout, p.Setting)
	case !c.State().Success():
		return c.Fail("failed (%v); run it by hand to see why", c.State())
	}
	return nil
}

// Process is a running command. One goroutine may read while another writes; all else is
// safe for concurrent use.
type Process struct {
	program Program
	*child.Process
	lines  *bufio.Reader
	stderr child.Tail
	read   int // bytes of standard output so far

	closing sync.Mutex // held while the process is being waited for
}

// Write writes a line, to which it adds the end.
func (c *Process) Write(line []byte) error {
	_, err := c.Stdin.Write(append(line, '\n'))
	return err
}

// Errors of Read about a command that writes too much. Any other error means that it has
// ended or has closed its standard output.
var (
	errLine   = fmt.Errorf("wrote a line of more than %d MiB", MaxLine>>20)
	errOutput = fmt.Errorf("wrote more than %d MiB to standard output; return less", maxOutput>>20)
)

// Read reads a line, which is valid until the next one is read. Explain makes its error
// one for users.
func (c *Process) Read() ([]byte, error) {
	var long []byte
	for {
		part, err := c.lines.ReadSlice('\n')
		c.read += len(part)
		switch {
		case len(long)+len(part) > MaxLine:
			return nil, errLine
		case c.read > maxOutput:
			return nil, errOutput
		case err == nil && long == nil:
			return part, nil
		}
		long = append(long, part...)
		if err == nil {
			return long, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// Explain ends the process after an error of Read or Write and says what the command did
// wrong when it should have answered a request. less says how its answer can be shorter.
func (c *Process) Explain(err error, request, less string) error {
	switch {
	case errors.Is(err, errLine):
		return c.Fail("%v in answer to %s; %s", errLine, request, less)
	case errors.Is(err, errOutput):
		return c.Fail("%v", errOutput)
	}
	c.Close(Grace)
	return c.Fail("ended (%v) before it answered %s; run it by hand to see why", c.State(), request)
}

// Late ends a process that did not answer a request in time.
func (c *Process) Late(request string, timeout time.Duration) error {
	return c.Fail("did not answer %s within %v; look what it waits for, or raise %s.timeout", request, timeout, c.program.Setting)
}

// Garbage ends a process that wrote a line that is not an answer.
func (c *Process) Garbage(line []byte) error {
	return c.Fail("wrote %s in place of a line of JSON; write answers alone to standard output, all else to standard error", Quote(line))
}

// Fail ends the process and makes an error that names the command and what it said on
// standard error.
func (c *Process) Fail(format string, args ...any) error {
	text := fmt.Sprintf("%s %s", c.program, fmt.Sprintf(format, args...))
	c.Close(0) // then standard error is complete
	if said := strings.Join(strings.Fields(c.stderr.String()), " "); said != "" {
		text += "; its standard error ends: " + said
	}
	return errors.New(text)
}

// Kill ends the process and its children immediately, and what waits for its pipes.
func (c *Process) Kill() {
	c.Process.Kill()
	_ = c.Stdin.Close()
	_ = c.Stdout.Close()
}

// Close ends the process: its standard input is closed, and it is killed with its children
// once it has closed its standard output, or the time allowed is over.
func (c *Process) Close(allowed time.Duration) {
	c.closing.Lock()
	defer c.closing.Unlock()
	if c.State() != nil {
		return
	}
	if allowed > 0 {
		_ = c.Stdin.Close()
		watch := time.AfterFunc(allowed, c.Kill)
		_, _ = io.Copy(io.Discard, c.Stdout)
		watch.Stop()
	}
	c.Kill()
	c.Wait() // a process that has left the group may stay; nothing waits for it
}

// Quote shows what a command wrote, in one line.
func Quote(text []byte) string {
	return fmt.Sprintf("%q", clip.Bytes(strings.ToValidUTF8(string(bytes.TrimSpace(text)), "\uFFFD"), 200))
}
