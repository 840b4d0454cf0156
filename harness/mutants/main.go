// Command mutants measures how much of cupel's behaviour the golden suites and the
// tests check: it applies small changes of behaviour, one at a time, and reports
// which of them make a golden episode or a test fail. See docs/mutants.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"time"
)

// The exit codes: too many mutants survive, and the mutants could not be examined.
const (
	exitSurvivors = 1
	exitError     = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	enough, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case err != nil:
		_, _ = fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(exitError)
	case !enough:
		os.Exit(exitSurvivors)
	}
}

// run reports whether enough mutants are killed. The report goes to out, progress to
// log.
func run(ctx context.Context, args []string, out, log io.Writer) (enough bool, err error) {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.SetOutput(log)
	only := flags.String("run", "", "run only the mutants whose CLASS/ID this regular expression matches")
	quick := flags.Bool("goldens", false, "run only the golden suites")
	lanes := flags.Int("j", 2, "how many mutants to run in parallel")
	if err := flags.Parse(args); err != nil {
		return false, err
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return false, fmt.Errorf("-run: %w", err)
	}
	all, err := readTable(table, ".")
	if err != nil {
		return false, err
	}
	var mutants, equivalent []mutant
	for _, m := range all {
		switch {
		case !wanted.MatchString(m.Class + "/" + m.ID):
		case m.Equivalent != "":
			equivalent = append(equivalent, m)
		default:
			mutants = append(mutants, m)
		}
	}
	start := time.Now() //nolint:forbidigo // the wall time of the report
	l, err := newLab(ctx, *quick, log)
	if err != nil {
		return false, err
	}
	results, err := l.examineAll(ctx, mutants, *lanes)
	if err := errors.Join(err, l.close()); err != nil {
		return false, err
	}
	text, enough := report(results, equivalent, *quick)
	_, err = fmt.Fprintf(out, "%s\nWall time: %s\n", text, time.Since(start).Round(time.Second))
	return enough, err
}
