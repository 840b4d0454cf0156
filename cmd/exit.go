package cmd

import (
	"context"
	"errors"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/recorder"
)

// Exit codes. They are part of the interface: scripts and CI branch on them.
const (
	exitAccepted     = 0
	exitError        = 1   // harness or infrastructure error
	exitUsage        = 2   // wrong flags, configuration or suite
	exitReplay       = 3   // missing, stale or corrupt cassette or run
	exitRejected     = 10  // a criterion failed
	exitInconclusive = 11  // not enough evidence for a verdict
	exitInterrupted  = 130 // Ctrl-C
)

// codeError carries an exit code to main. A nil Err exits silently: what there
// is to say has been printed.
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

// usage marks an error as the caller's: flags, configuration, suite.
func usage(err error) error { return &codeError{exitUsage, err} }

// exitCode reads the code off an error, once, in main.
func exitCode(err error) int {
	var (
		coded   *codeError
		config  *harness.ConfigError
		problem *goldens.Problem
		missing *recorder.MissingError
		corrupt *recorder.CorruptError
		miss    *recorder.MissError
		stale   *harness.StaleError
		apart   *harness.ApartError
		run     *ledger.CorruptError
	)
	switch {
	case err == nil:
		return exitAccepted
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, &config), errors.As(err, &problem):
		return exitUsage
	case errors.As(err, &missing), errors.As(err, &corrupt), errors.As(err, &miss), errors.As(err, &stale), errors.As(err, &apart),
		errors.As(err, &run), errors.Is(err, admission.ErrDamaged):
		return exitReplay
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitError
}
