package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/providers/sim"
)

func newSim(p *process) *cobra.Command {
	var addr string
	var seed int64
	var remote bool
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Serve the simulated models on loopback, in the providers' wire formats",
		Long: `Serves sim-strong, sim-erratic and sim-weak: rule-based programs that read their
prompt and err at documented, seeded rates. They answer OpenAI Chat Completions
at /v1/chat/completions and Anthropic Messages at /v1/messages. Nothing they
say is evidence about a real model.`,
		Example: `  cupel sim --addr 127.0.0.1:8177
  curl -s http://127.0.0.1:8177/v1/models`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			s, err := sim.Start(ctx, addr, sim.Config{Seed: seed, Latency: 1, AllowRemote: remote})
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
	return cmd
}

// simTransport starts the simulated models on a free loopback port and returns
// a transport that reaches them whatever host a request names.
func simTransport(ctx context.Context, seed int64) (http.RoundTripper, func() error, error) {
	s, err := sim.Start(ctx, "", sim.Config{Seed: seed, Latency: 1})
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
