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

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/providers/sim"
)

// simHelp is the long help of sim.
const simHelp = `Serves sim-oracle, sim-strong, sim-erratic and sim-weak, which follow the playbooks of
suites and err at documented, seeded rates, as agents contract, tools and plan; sim-nop,
which does nothing; and sim-probe, which does what it is told line by line. --suite names
a suite with a playbook.yaml. Whole or as a stream, the models answer

  OpenAI              /v1/chat/completions, /v1/responses, /v1/completions
  Anthropic Messages  /v1/messages, with threads and /v1/messages/count_tokens
  Gemini, Vertex AI   /v1beta/models/MODEL:generateContent, :streamGenerateContent
  Bedrock             /model/MODEL/converse, /model/MODEL/invoke, and both as streams
  Ollama              /api/chat, /api/tags, /api/show
  TGI                 /generate, /generate_stream, both also under /models/MODEL
  Cohere              /v2/chat
  Mistral             /mistral/v1/chat/completions

over HTTP/1.1 and cleartext HTTP/2. docs/simulator.md lists all addresses, and the
official clients that were tried. Nothing they say is evidence about a real model.

With --chaos the server misbehaves as servers do: it limits rates, breaks off,
stalls, sends half a reply or none. --chaos takes names with rates from 0 to 1,
NAME[=RATE],…; names without a rate share what the others leave, and all stands
for every name. Which request suffers what is drawn from the seed and the request.
A single request asks for it with the header X-Sim-Chaos: NAME, without any flag.
--list-chaos prints the names and what a client should make of them.

With --limit the server limits rates as the vendors do: rpm requests and tpm tokens
come back in a minute, a little all the time, and burst requests (default rpm) may
come at once. What comes too fast is refused with 429 and the vendor's own way to say
when to come back: Retry-After (OpenAI, Anthropic), RetryInfo (Gemini). Every reply of
OpenAI's and Anthropic's has their headers of limit, remaining and reset.`

func newSim(p *process) *cobra.Command {
	var addr string
	var seed int64
	var remote, list bool
	var chaos, limit string
	var suites []string
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Serve the simulated models on loopback, in the providers' wire formats",
		Long:  simHelp,
		Example: `  cupel sim --addr 127.0.0.1:8177
  curl -s http://127.0.0.1:8177/v1/models
  cupel sim --suite suites/mine
  cupel sim --chaos rate-limit=0.2,cut-body=0.1
  cupel sim --chaos all=0.1 --seed 7
  cupel sim --limit rpm=60,tpm=100000
  cupel sim --limit rpm=60,burst=3
  cupel sim --list-chaos`,
		Args: cobra.NoArgs,
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
	cmd.Flags().Int64Var(&seed, "seed", 1, "seed of the models' errors and delays")
	cmd.Flags().BoolVar(&remote, "allow-remote", false, "allow an address that is not loopback")
	cmd.Flags().StringArrayVar(&suites, "suite", nil, "suite whose playbook the models follow; may be repeated (default: the built-in suites)")
	cmd.Flags().StringVar(&chaos, "chaos", "", "misbehave: NAME[=RATE],… or all[=RATE]")
	cmd.Flags().StringVar(&limit, "limit", "", "limit rates: rpm=N,tpm=N,burst=N, each may be left out")
	cmd.Flags().BoolVar(&list, "list-chaos", false, "print what --chaos can do and exit")
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
