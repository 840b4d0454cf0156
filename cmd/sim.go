package cmd

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/listing"
	"github.com/cupel-eval/cupel/cmd/internal/simserver"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/providers/batchsim"
	"github.com/cupel-eval/cupel/providers/sim"
)

func newSim(p *process) *cobra.Command {
	return simserver.Command(func() simserver.Host {
		return simserver.Host{Stdout: p.stdout, Stderr: p.stderr, Books: p.booksOf, Suite: func(path string) (*goldens.Suite, error) {
			suite, _, err := p.loadSuite(path)
			return suite, err
		}}
	})
}

// booksOf reads the playbooks of suites by their paths, of the built-in ones if none is
// named. A suite that is named must have a playbook.
func (p *process) booksOf(paths []string) ([]*playbook.Book, error) {
	named := len(paths) > 0
	if !named {
		for _, name := range slices.Sorted(maps.Keys(builtins)) {
			paths = append(paths, builtinPrefix+name)
		}
	}
	var out []*playbook.Book
	for _, path := range paths {
		suite, _, err := p.loadSuite(path)
		if err != nil {
			return nil, err
		}
		known, err := books(suite)
		if err == nil && named && len(known) == 0 {
			err = fmt.Errorf("suite %s has no %s; write the solutions of its tasks there, as docs/playbooks.md says", path, playbook.File)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, known...)
	}
	return out, nil
}

// noteNoPlaybook says if simulated models are selected for a suite without a playbook:
// they solve none of its tasks.
func (p *process) noteNoPlaybook(suite *goldens.Suite, candidates []goldens.Candidate, patterns []string) {
	simulated := slices.ContainsFunc(candidates, func(c goldens.Candidate) bool {
		return strings.HasPrefix(c.Provider, "sim-") && listing.Matches(patterns, c.Name)
	})
	if book, err := load.Playbook(suite); simulated && err == nil && book == nil {
		_, _ = fmt.Fprintf(p.stderr, "cupel: suite %s has no playbook.yaml, so simulated models cannot solve its tasks; docs/playbooks.md says how to write one\n", suite.Name)
	}
}

// books reads the playbooks of suites; a suite without one adds none.
func books(suites ...*goldens.Suite) ([]*playbook.Book, error) {
	var out []*playbook.Book
	for _, s := range suites {
		b, err := load.Playbook(s)
		if err != nil {
			return nil, fmt.Errorf("read the playbook of suite %s: %w", s.Name, err)
		}
		if b != nil {
			out = append(out, b)
		}
	}
	return out, nil
}

// simBatchDelay is how long a simulated batch takes.
const simBatchDelay = 300 * time.Millisecond

// simTransport starts the simulated models of a suite on a free loopback port and returns
// a transport that reaches them whatever host a request names. They take latency times
// as long as a real model.
func simTransport(ctx context.Context, seed int64, latency float64, suite *goldens.Suite) (http.RoundTripper, func() error, error) {
	known, err := books(suite)
	if err != nil {
		return nil, nil, err
	}
	s, err := batchsim.Start(ctx, "", batchsim.Config{Models: sim.Config{Seed: seed, Latency: latency, Books: known}, Delay: time.Duration(latency * float64(simBatchDelay))})
	if err != nil {
		return nil, nil, fmt.Errorf("start simulated models: %w", err)
	}
	addr := strings.TrimPrefix(s.URL(), "http://")
	dialer := net.Dialer{Timeout: 5 * time.Second}
	t := &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, addr)
		},
		MaxIdleConnsPerHost: 64,
	}
	return t, func() error { t.CloseIdleConnections(); return s.Close() }, nil
}
