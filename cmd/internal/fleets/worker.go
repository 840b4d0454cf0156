package fleets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/commandline"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

const workerHelp = `Takes episodes from a queue, executes them and returns their results, until it is stopped.
It uses this machine's suites, cupel.yaml, prices and keys: the queue names a suite below
the working folder, and a run is refused if suite, configuration, prices or version of
cupel differ from those of the run.

The first Ctrl-C or SIGTERM stops taking; episodes in progress have --grace to end, and
are then handed back. A worker that disappears loses its episodes to others after the
lease of the run. Details: docs/scale.md.`

func newWorker(h func() Host) *cobra.Command {
	var conn connection
	var o fleet.WorkOptions
	var suite, folder string
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Execute episodes from a queue",
		Long:  workerHelp,
		Example: `  cupel-fleet worker --queue nats://127.0.0.1:4222
  cupel-fleet worker --queue tls://queue.internal:4222 --queue-ca ca.crt --concurrency 32`,
		RunE: func(c *cobra.Command, _ []string) error {
			host := h()
			access, err := conn.access(host)
			if err != nil {
				return err
			}
			if o.Concurrency < 0 || o.Grace < 0 {
				return exit.Usage(errors.New("--concurrency and --grace must not be negative"))
			}
			if o.Build, err = build(host.Version); err != nil {
				return err
			}
			ctx, drain, stop := commandline.Interrupts(c.Context(), host.Stderr, "cupel: stopping: episodes in progress may end; Ctrl-C again hands them back now")
			defer stop()
			access.Patience = patience
			q, err := host.Service.Dial(ctx, access)
			if err != nil {
				return err
			}
			own, unlock, err := ownFolder(folder)
			if err != nil {
				return err
			}
			defer unlock()
			var cleanup func()
			o.Drain, o.Open = drain, func(ctx context.Context, m manifest.Manifest, limits *fleet.Shared) (fleet.Worker, error) {
				if cleanup != nil { // of the run before
					cleanup()
				}
				w, clean, err := open(ctx, host, c, suite, own, m, limits)
				cleanup = clean
				return w, err
			}
			_, _ = fmt.Fprintf(host.Stderr, "worker %s on %s (Ctrl-C stops)\n", access.Client, conn.url)
			err = errors.Join(q.Work(ctx, o), q.Close())
			if cleanup != nil {
				cleanup()
			}
			return err
		},
	}
	conn.add(cmd.Flags())
	cmd.Flags().String("config", "cupel.yaml", "configuration file")
	cmd.Flags().StringVar(&suite, "suite", "", "suite folder on this machine (default: the one that the run names)")
	cmd.Flags().String("pack", "", "pack to replay from (default: the suite's cassettes folder)")
	cmd.Flags().StringVar(&folder, "dir", "worker", "folder in which workers log what they spend; keep it between restarts")
	cmd.Flags().IntVar(&o.Concurrency, "concurrency", 0, "episodes in parallel (default: one per processor in replay, otherwise 8 per provider)")
	cmd.Flags().DurationVar(&o.Grace, "grace", 20*time.Second, "time that episodes have to end when the worker is stopped")
	return cmd
}

// mostWorkers bounds the workers that share a folder.
const mostWorkers = 1000

// ownFolder returns the first folder below dir that no other worker uses, so that a worker which is
// started again continues the log of the one that was killed.
func ownFolder(dir string) (own string, unlock func(), err error) {
	for i := 1; i <= mostWorkers; i++ {
		own = filepath.Join(dir, strconv.Itoa(i))
		if err = os.MkdirAll(own, 0o777); err != nil {
			break
		}
		if unlock, err = ledger.Lock(own); err == nil {
			return own, unlock, nil
		}
	}
	return "", nil, fmt.Errorf("find a folder for the worker below %s: %w", dir, err)
}

// open prepares for a run.
func open(ctx context.Context, h Host, c *cobra.Command, suite, folder string, m manifest.Manifest, limits *fleet.Shared) (fleet.Worker, func(), error) {
	if suite == "" {
		suite = m.SuitePath
		if !strings.HasPrefix(suite, "builtin:") && !filepath.IsLocal(filepath.FromSlash(suite)) {
			return nil, nil, fmt.Errorf("the run names suite %.80q, which is not below the working folder: name this machine's with --suite", suite)
		}
	}
	o, cleanup, err := h.Options(ctx, c, suite, m)
	if err != nil {
		return nil, nil, err
	}
	if limits != nil {
		o.Caps, o.Limits, o.Sharing = limits.Caps, limits.Limits, limits.Sharing
	}
	o.Runs = folder
	w, err := harness.NewWorker(o, m)
	if err != nil {
		cleanup()
		return nil, nil, err
	}
	return w, cleanup, nil
}
