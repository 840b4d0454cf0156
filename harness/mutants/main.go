// Command mutants measures how much of cupel's behaviour the golden suites and the
// tests check: it applies small changes of behaviour, one at a time, and reports
// which of them make a golden episode or a test fail. See docs/mutants.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run returns the exit code: 0 if enough mutants are killed, 1 if not, 2 if that
// could not be found out.
func run(ctx context.Context, args []string, out, log io.Writer) int {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.SetOutput(log)
	only := flags.String("run", "", "run only the mutants whose CLASS/ID this regular expression matches")
	quick := flags.Bool("goldens", false, "run only the golden suites")
	lanes := flags.Int("j", 2, "how many mutants to run in parallel")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintln(log, "mutants: -run:", err)
		return 2
	}
	all, err := readTable(table, ".")
	if err != nil {
		fmt.Fprintln(log, "mutants:", err)
		return 2
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
		fmt.Fprintln(log, "mutants:", err)
		return 2
	}
	results, err := l.examineAll(ctx, mutants, *lanes)
	if err := l.close(); err != nil {
		fmt.Fprintln(log, "mutants:", err)
	}
	if err != nil {
		fmt.Fprintln(log, "mutants:", err)
		return 2
	}
	enough := report(out, results, equivalent, *quick)
	fmt.Fprintf(out, "\nWall time: %s\n", time.Since(start).Round(time.Second))
	if !enough {
		return 1
	}
	return 0
}
