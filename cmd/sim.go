package cmd

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/listing"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/providers/sim"
)

// simHelp is the long help of sim.
const simHelp = `Serves simulated models on loopback over the APIs of OpenAI, Anthropic, Gemini, Vertex AI,
Bedrock, Ollama, TGI, Cohere and Mistral, streamed or not. sim-oracle, sim-strong,
sim-erratic and sim-weak follow the playbooks of suites and err at documented, seeded
rates; sim-nop does nothing; sim-probe does what the prompt says line by line. Results
say nothing about real models.

--chaos injects faults: NAME[=RATE],… with rates from 0 to 1. Names without a rate
share the rest; all stands for every name. The header X-Sim-Chaos: NAME does so for a
single request. --list-chaos prints the names.

--limit limits rates as providers do: rpm requests and tpm tokens a minute, at most
burst requests (default rpm) in parallel. Requests beyond it get 429 with the provider's
headers.
Details: docs/simulator.md.`

func newSim(p *process) *cobra.Command {
	var addr string
	var seed int64
	var remote, list bool
	var chaos, limit string
	var suites []string
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Serve simulated models over provider APIs",
		Long:  simHelp,
		Example: `  cupel sim --addr 127.0.0.1:8177
  curl -s http://127.0.0.1:8177/v1/models
  cupel sim --suite suites/mine
  cupel sim --chaos rate-limit=0.2,cut-body=0.1
  cupel sim --chaos all=0.1 --seed 7
  cupel sim --limit rpm=60,tpm=100000
  cupel sim --limit rpm=60,burst=3
  cupel sim --list-chaos`,
		RunE: func(c *cobra.Command, _ []string) error {
			if list {
				return printChaos(p.stdout)
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			known, err := p.booksOf(suites)
			if err != nil {
				return err
			}
			s, err := sim.Start(ctx, addr, sim.Config{Seed: seed, Latency: 1, AllowRemote: remote, Chaos: chaos, Limit: limit, Books: known})
			if err != nil {
				return err
			}
			_, _ = fmt.Fprintf(p.stderr, "simulated models on %s/v1 (Ctrl-C stops)\n", s.URL())
			<-ctx.Done()
			return s.Close()
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:8177", "address to listen on")
	cmd.Flags().Int64Var(&seed, "seed", 1, "seed of simulated errors and delays")
	cmd.Flags().BoolVar(&remote, "allow-remote", false, "allow an address that is not loopback")
	cmd.Flags().StringArrayVar(&suites, "suite", nil, "suite whose playbook the models follow; repeatable (default: the built-in suites)")
	cmd.Flags().StringVar(&chaos, "chaos", "", "faults to inject: NAME[=RATE],… or all[=RATE]")
	cmd.Flags().StringVar(&limit, "limit", "", "rate limits: rpm=N,tpm=N,burst=N, each optional")
	cmd.Flags().BoolVar(&list, "list-chaos", false, "print the names for --chaos and exit")
	return cmd
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

// printChaos lists every chaos with the kinds of error that a client reports of
// a whole and of a streamed reply.
func printChaos(w io.Writer) error {
	kinds := func(list []string) string {
		if len(list) == 0 {
			return "harmless"
		}
		return strings.Join(list, "/")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "NAME\tWHOLE\tSTREAMED\tWHAT HAPPENS") // it fails in Flush
	for _, c := range sim.Chaoses() {
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", c.Name, kinds(c.Whole), kinds(c.Stream), c.Does)
	}
	return t.Flush()
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

// simTransport starts the simulated models of a suite on a free loopback port and returns
// a transport that reaches them whatever host a request names. They take latency times
// as long as a real model.
func simTransport(ctx context.Context, seed int64, latency float64, suite *goldens.Suite) (http.RoundTripper, func() error, error) {
	known, err := books(suite)
	if err != nil {
		return nil, nil, err
	}
	s, err := sim.Start(ctx, "", sim.Config{Seed: seed, Latency: latency, Books: known})
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
