package fleets

import (
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"os"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/fleet"
)

// minLease is the shortest lease: it is renewed six times.
const minLease = time.Second

const queueHelp = `Runs a queue on this machine: a NATS server with JetStream, which stores everything in
--dir and continues from there after a restart. It listens on this machine only, unless
--listen says otherwise; then TLS and credentials are required:

  CUPEL_QUEUE_USER and CUPEL_QUEUE_PASSWORD, or CUPEL_QUEUE_TOKEN

An existing NATS cluster with JetStream serves as well: give its address to run, worker
and status. Details: docs/scale.md.`

func newQueue(h func() Host) *cobra.Command {
	var o fleet.ServeOptions
	var max int64
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "Serve a queue for workers",
		Long:  queueHelp,
		Example: `  cupel-fleet queue
  cupel-fleet queue --listen 0.0.0.0:4222 --tls-cert queue.crt --tls-key queue.key`,
		RunE: func(c *cobra.Command, _ []string) error {
			host := h()
			var a fleet.Access
			a.FromEnvironment(host.Credential)
			o.User, o.Password, o.Token = a.User, a.Password, a.Token
			if (o.User == "") != (o.Password == "") {
				return exit.Usage(fmt.Errorf("CUPEL_QUEUE_USER and CUPEL_QUEUE_PASSWORD go together"))
			}
			o.MaxBytes = max << 20
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			began := false
			err := host.Service.Serve(ctx, o, func(url string) {
				began = true
				_, _ = fmt.Fprintf(host.Stderr, "queue on %s, stored in %s (Ctrl-C stops)\n", url, o.Dir)
			})
			if began {
				return err
			}
			return exit.Usage(err)
		},
	}
	cmd.Flags().StringVar(&o.Listen, "listen", "127.0.0.1:4222", "`HOST:PORT` to listen on; port 0 means a free one")
	cmd.Flags().StringVar(&o.Dir, "dir", "queue", "folder of the queue")
	cmd.Flags().StringVar(&o.Cert, "tls-cert", "", "file of the server's certificate")
	cmd.Flags().StringVar(&o.Key, "tls-key", "", "file of the key of --tls-cert")
	cmd.Flags().StringVar(&o.CA, "tls-ca", "", "file of the authority that must have signed the certificates of clients")
	cmd.Flags().Int64Var(&max, "max-megabytes", 0, "bound of the stored data in MB (default: the disk)")
	return cmd
}
