// Package exit has the exit codes of the program. They are part of the interface:
// scripts and CI branch on them.
package exit

import (
	"context"
	"errors"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/cupel-eval/cupel/harness/rerun"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// The exit codes.
const (
	Accepted     = 0
	Failed       = 1   // harness or infrastructure error
	BadUsage     = 2   // wrong flags, configuration or suite
	Replay       = 3   // missing, stale or corrupt cassette or run
	Rejected     = 10  // a criterion failed
	Inconclusive = 11  // not enough evidence for a verdict
	Interrupted  = 130 // Ctrl-C
)

// codeError carries an exit code to main. Without err it prints nothing: what there is
// to say has been printed.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// With gives err an exit code. An err of nil has an empty text: what there is to say
// has been printed.
func With(code int, err error) error { return &codeError{code, err} }

// Usage marks an error as the caller's: flags, configuration, suite. It returns nil
// for nil.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return With(BadUsage, err)
}

// Code is the exit code of a program that ends with err.
func Code(err error) int {
	var (
		coded   *codeError
		config  *harness.ConfigError
		problem *goldens.Problem
		missing *cassette.MissingError
		corrupt *cassette.CorruptError
		miss    *recorder.MissError
		stale   *episode.StaleError
		apart   *rerun.DivergedError
		run     *sealed.CorruptError
	)
	switch {
	case err == nil:
		return Accepted
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, &config), errors.As(err, &problem):
		return BadUsage
	case errors.As(err, &missing), errors.As(err, &corrupt), errors.As(err, &miss), errors.As(err, &stale), errors.As(err, &apart),
		errors.As(err, &run), errors.Is(err, admission.ErrDamaged):
		return Replay
	case errors.Is(err, context.Canceled):
		return Interrupted
	}
	return Failed
}
