package cmd

import (
	"errors"

	"golang.org/x/term"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/human"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/recorder"
)

// askOnTerminal makes the person at the terminal the run's human. Episodes then
// run one after the other unless the configuration says otherwise.
func (p *process) askOnTerminal(o *harness.Options) error {
	if o.Mode == recorder.Replay || o.Mode == "" {
		return exit.Usage(errors.New("--human asks while a run is recorded or live: give --mode record or --mode live; a replay takes the tasks' replies and approvals"))
	}
	if p.stdin == nil || !term.IsTerminal(int(p.stdin.Fd())) {
		return exit.Usage(errors.New("--human needs a terminal to ask on, and standard input is none: leave it out and give the tasks replies and approvals"))
	}
	if o.Concurrency == 0 {
		o.Concurrency = 1
	}
	o.Human = human.New(p.stdin, p.stderr).Ask
	return nil
}
