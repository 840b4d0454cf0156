package tape

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/child"
	"github.com/cupel-eval/cupel/internal/regular"
)

// patience is how long a command may take to end after a signal.
const patience = 10 * time.Second

// run runs the command. On a terminal it stays in cupel's group of processes, as a shell
// would have it: it can read from the terminal, and Ctrl-C reaches it by itself. Elsewhere it
// has a group of its own, which gets the signals that cupel gets and ends with the command. A
// second signal kills it. The exit code of a command that a signal ended is 128 and the signal's
// number, and 127 or 126 if the command could not be started.
func run(o Options, env []string) (code int, interrupted bool, err error) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	terminal := onTerminal(o)
	p, err := child.Start(child.Command{Args: o.Command, Env: env, Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr, Terminal: terminal})
	if err != nil {
		code := 126
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			code = 127
		}
		return 0, false, exit.With(code, fmt.Errorf("run %s: %w", quoted(o.Command[0]), err))
	}
	ended := make(chan struct{})
	go func() {
		p.Wait()
		close(ended)
	}()
	var late <-chan time.Time
	for {
		select {
		case sig := <-signals:
			switch {
			case interrupted:
				p.Kill()
			case sig != os.Interrupt || !terminal:
				p.Signal(sig)
			}
			interrupted, late = true, time.After(patience)
		case <-late:
			p.Kill()
		case <-ended:
			return exitCode(p.State()), interrupted, nil
		}
	}
}

// onTerminal reports whether Ctrl-C reaches the command by itself.
func onTerminal(o Options) bool {
	for _, f := range []*os.File{o.Stdin, o.Stdout, o.Stderr} {
		if f != nil && term.IsTerminal(int(f.Fd())) {
			return true
		}
	}
	return false
}

// exitCode is that of a command which has ended.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// lock keeps a second recording of a file away until unlock.
func lock(file string) (unlock func(), err error) {
	name := file + ".lock"
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return nil, fmt.Errorf("record %s: %w", file, err)
	}
	f, err := regular.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", file, err)
	}
	held, err := atomicfile.Lock(f)
	if held {
		err = errors.New("another cupel process records it; wait for it to end")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("record %s: %w", file, err), f.Close())
	}
	return func() {
		_ = os.Remove(name) // a file that remains is not locked
		_ = f.Close()       // nothing was written
	}, nil
}
