// Package simserver is the verb sim: simulated models over provider APIs, and the outputs of a
// file in place of a model.
package simserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/internal/loopback"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/providers/batchsim"
	"github.com/cupel-eval/cupel/providers/sim"
)

const help = `Serves simulated models on loopback over the APIs of OpenAI, Anthropic, Gemini, Vertex AI,
Bedrock, Ollama, TGI, Cohere and Mistral, streamed or not. sim-oracle, sim-strong,
sim-erratic and sim-weak follow the playbooks of suites; sim-nop does nothing; sim-probe
does what the prompt says line by line. Results say nothing about real models.

--chaos injects faults: NAME[=RATE],… with rates from 0 to 1, or all; --list-chaos prints
the names. The header X-Sim-Chaos: NAME does so for a single request. --limit limits
rates as providers do: rpm requests and tpm tokens a minute, burst requests in parallel.
The batch APIs of OpenAI, Anthropic and Gemini take --batch-delay, with --batch-faults.

--outputs FILE plays the outputs of FILE over OpenAI's API instead: JSON lines of id, a
task of --suite, and output, a text or a list of calls.
Details: docs/simulator.md.`

// Host is what the verb needs of the program.
type Host struct {
	Stdout, Stderr io.Writer
	// Books reads the playbooks of suites by their paths, Suite a suite.
	Books func(paths []string) ([]*playbook.Book, error)
	Suite func(path string) (*goldens.Suite, error)
}

// options are the flags.
type options struct {
	addr, outputs string
	remote        bool
	suites        []string
	config        sim.Config
	batches       batchsim.Config
}

// Command is the verb.
func Command(h func() Host) *cobra.Command {
	var list bool
	o := options{config: sim.Config{Latency: 1}}
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Serve simulated models over provider APIs",
		Long:  help,
		Example: `  cupel sim --addr 127.0.0.1:8177
  curl -s http://127.0.0.1:8177/v1/models
  cupel sim --suite suites/mine
  cupel sim --chaos rate-limit=0.2,cut-body=0.1 --seed 7
  cupel sim --limit rpm=60,tpm=100000
  cupel sim --suite suites/bfcl --outputs outputs.jsonl`,
		RunE: func(c *cobra.Command, _ []string) error {
			if list {
				return printChaos(h().Stdout)
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if o.outputs != "" {
				return play(ctx, h(), o)
			}
			return simulate(ctx, h(), o)
		},
	}
	cmd.Flags().StringVar(&o.addr, "addr", "127.0.0.1:8177", "address to listen on")
	cmd.Flags().Int64Var(&o.config.Seed, "seed", 1, "seed of simulated errors and delays")
	cmd.Flags().BoolVar(&o.remote, "allow-remote", false, "allow an address that is not loopback")
	cmd.Flags().StringArrayVar(&o.suites, "suite", nil, "suite whose playbook the models follow; repeatable (default: the built-in suites)")
	cmd.Flags().StringVar(&o.config.Chaos, "chaos", "", "faults to inject: NAME[=RATE],… or all[=RATE]")
	cmd.Flags().StringVar(&o.config.Limit, "limit", "", "rate limits: rpm=N,tpm=N,burst=N, each optional")
	cmd.Flags().DurationVar(&o.batches.Delay, "batch-delay", 2*time.Second, "time that a batch takes")
	cmd.Flags().StringVar(&o.batches.Faults, "batch-faults", "", "faults of batches: NAME[=RATE],… (see --list-chaos)")
	cmd.Flags().StringVar(&o.outputs, "outputs", "", "file of outputs to play for the tasks of --suite, over OpenAI's API")
	cmd.Flags().BoolVar(&list, "list-chaos", false, "print the names for --chaos and exit")
	return cmd
}

func simulate(ctx context.Context, h Host, o options) (err error) {
	if o.config.Books, err = h.Books(o.suites); err != nil {
		return err
	}
	o.config.AllowRemote = o.remote
	o.batches.Models = o.config
	s, err := batchsim.Start(ctx, o.addr, o.batches)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(h.Stderr, "simulated models on %s/v1 (Ctrl-C stops)\n", s.URL())
	<-ctx.Done()
	return s.Close()
}

// play serves the outputs of a file for the tasks of a suite.
func play(ctx context.Context, h Host, o options) error {
	if len(o.suites) != 1 || o.config.Chaos != "" || o.config.Limit != "" {
		return exit.Usage(errors.New("--outputs needs one --suite, whose questions it answers, and neither --chaos nor --limit"))
	}
	suite, err := h.Suite(o.suites[0])
	if err != nil {
		return err
	}
	text, err := regular.ReadFile(o.outputs)
	if err != nil {
		return exit.Usage(err)
	}
	outputs, err := Read(o.outputs, text)
	if err != nil {
		return exit.Usage(err)
	}
	player, err := NewPlayer(suite, outputs)
	if err != nil {
		return err
	}
	s, err := loopback.Start(ctx, o.addr, player, o.remote)
	if err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	_, _ = fmt.Fprintf(h.Stderr, "%s on %s/v1 (Ctrl-C stops)\n", player, s.URL())
	<-ctx.Done()
	return s.Close()
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
	_, _ = fmt.Fprintln(t, "\nNAME\tFOR --batch-faults")
	for _, f := range batchsim.Faults() {
		_, _ = fmt.Fprintf(t, "%s\t%s\n", f.Name, f.Does)
	}
	return t.Flush()
}
