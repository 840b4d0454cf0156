// Package fleets has the verbs of a fleet, queue, worker and status, and what run needs to be
// executed by one.
package fleets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// Host is what the verbs need of the program.
type Host struct {
	Service fleet.Service
	// Stdout and Stderr are for people, JSON is standard output for programs.
	Stdout, Stderr, JSON io.Writer
	// Env looks a variable up in the environment, and Credential one whose value is never shown.
	Env, Credential func(name string) (string, bool)
	// Version is that of the program.
	Version string
	// Options are what the worker's own configuration says of a run of a suite.
	Options func(ctx context.Context, c *cobra.Command, suite string, m manifest.Manifest) (o harness.Options, cleanup func(), err error)
}

// Program is the name of the program with a service, or without one.
func Program(service fleet.Service) string {
	if service == nil {
		return "cupel"
	}
	return "cupel-fleet"
}

// Commands are the verbs; none without a service.
func Commands(service fleet.Service, h func() Host) []*cobra.Command {
	if service == nil {
		return nil
	}
	return []*cobra.Command{newQueue(h), newWorker(h), newStatus(h)}
}

// only are the verbs and flags of programs with a service or stores.
var only = []string{"push", "queue", "status", "worker", "--attempts", "--fleet", "--lease", "--past", "--queue", "--queue-ca", "--queue-cert", "--queue-key", "--store"}

// Elsewhere returns a hint at cupel-fleet where a program without a service is asked for what
// only that one has, or "".
func Elsewhere(service fleet.Service, name string) string {
	if service != nil || !slices.Contains(only, name) {
		return ""
	}
	return "cupel-fleet has it: use it in place of cupel; "
}

// patience is how long run and worker wait for a queue that does not answer at first.
const patience = 15 * time.Second

// connection are the flags that say how to reach a queue.
type connection struct{ url, name, ca, cert, key string }

func (c *connection) add(fl *pflag.FlagSet) {
	fl.StringVar(&c.url, "queue", "", "`URL` of the queue: nats://HOST:PORT, or tls://HOST:PORT beyond this machine")
	fl.StringVar(&c.name, "fleet", fleet.DefaultName, "name of the fleet; fleets of other names share the queue")
	fl.StringVar(&c.ca, "queue-ca", "", "file of the authority that signed the queue's certificate (default: CUPEL_QUEUE_CA, or the system's)")
	fl.StringVar(&c.cert, "queue-cert", "", "file of a client certificate for the queue")
	fl.StringVar(&c.key, "queue-key", "", "file of the key of --queue-cert")
}

// access completes the flags from the environment.
func (c *connection) access(h Host) (fleet.Access, error) {
	a := fleet.Access{URL: c.url, Name: c.name, CA: c.ca, Cert: c.cert, Key: c.key, Client: clientName(), Say: func(s string) {
		_, _ = fmt.Fprintln(h.Stderr, "cupel: "+s)
	}}
	if a.URL == "" {
		return a, exit.Usage(errors.New("name the queue: --queue nats://127.0.0.1:4222"))
	}
	if (c.cert == "") != (c.key == "") {
		return a, exit.Usage(errors.New("--queue-cert and --queue-key go together"))
	}
	if a.CA == "" {
		a.CA, _ = h.Env("CUPEL_QUEUE_CA")
	}
	a.FromEnvironment(h.Credential)
	return a, nil
}

// clientName names this process in the queue.
func clientName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	host = strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' {
			return r
		}
		return '-'
	}, host)
	return fmt.Sprintf("%.40s-%d", host, os.Getpid())
}

// Run are the flags of the verb run.
type Run struct {
	connection
	options fleet.CoordinateOptions
}

// Add declares the flags.
func (r *Run) Add(fl *pflag.FlagSet) {
	r.add(fl)
	fl.DurationVar(&r.options.Lease, "lease", fleet.DefaultLease, "with --queue: how long a worker that is not heard of keeps an episode")
	fl.IntVar(&r.options.Attempts, "attempts", fleet.DefaultAttempts, "with --queue: workers that may be lost with an episode until it counts as a harness error")
}

// Queued reports whether the run is executed by a fleet.
func (r *Run) Queued() bool { return r.url != "" }

// ResumeHint is the command that resumes a run, by the same workers if it has some.
func (r *Run) ResumeHint(dir string) string {
	if !r.Queued() {
		return rundir.ResumeHint(dir)
	}
	return r.resume(dir)
}

// resume is the command that resumes a run of the fleet.
func (c *connection) resume(run string) string {
	text := "cupel-fleet run --queue " + c.url
	if c.name != fleet.DefaultName {
		text += " --fleet " + c.name
	}
	if c.ca != "" {
		text += " --queue-ca " + c.ca
	}
	if c.cert != "" {
		text += " --queue-cert " + c.cert + " --queue-key " + c.key
	}
	return text + " --resume " + run
}

// Join lets the workers of the queue execute the run of o. finish must be called after the run.
func (r *Run) Join(ctx context.Context, h Host, o *harness.Options) (finish func(complete bool) error, err error) {
	if r.options.Lease < minLease || r.options.Attempts < 1 {
		return nil, exit.Usage(fmt.Errorf("--lease must be at least %v and --attempts at least 1", minLease))
	}
	a, err := r.access(h)
	if err != nil {
		return nil, err
	}
	if r.options.Build, err = build(h.Version); err != nil {
		return nil, err
	}
	a.Patience = patience
	q, err := h.Service.Dial(ctx, a)
	if err != nil {
		return nil, err
	}
	r.options.Caps, r.options.Limits = o.Caps, o.Limits
	c := q.Coordinate(r.options)
	o.Executor, o.Key, o.Canary = c, nil, false // workers have the keys
	return func(complete bool) error { return errors.Join(c.Finish(complete), q.Close()) }, nil
}
