package natsfleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/regular"
)

// maxPayload bounds a message of the embedded server, in bytes.
const maxPayload = 8 << 20

// Serve implements fleet.Service.
func (Service) Serve(ctx context.Context, o fleet.ServeOptions, ready func(url string)) error {
	if err := serve(ctx, o, ready); err != nil {
		return fmt.Errorf("serve a queue on %s: %w", o.Listen, err)
	}
	return nil
}

func serve(ctx context.Context, o fleet.ServeOptions, began func(url string)) error {
	opts, err := serverOptions(o)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return err
	}
	unlock, err := lockFolder(o.Dir)
	if err != nil {
		return err
	}
	defer unlock()
	s, err := server.NewServer(opts)
	if err != nil {
		return err
	}
	log := &serverLog{}
	s.SetLogger(log, false, false)
	s.Start()
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	if !started(s, log) {
		return fmt.Errorf("the server did not start in %s: %s", o.Dir, log.last())
	}
	scheme := "nats"
	if opts.TLSConfig != nil {
		scheme = "tls"
	}
	_, port, _ := net.SplitHostPort(s.Addr().String()) // the server chooses it if it is 0
	began(scheme + "://" + net.JoinHostPort(opts.Host, port))
	if failed := unhealthy(ctx, s); failed != "" {
		if !s.JetStreamEnabled() {
			failed = log.last()
		}
		return fmt.Errorf("cannot store the queue in %s: %s; give the disk space or make it writable, and start the queue again with the same folder: run and workers wait for it, and continue", o.Dir, failed)
	}
	return nil
}

// lockFolder keeps other queues out of a folder, which two of them would damage.
func lockFolder(dir string) (unlock func(), err error) {
	f, err := regular.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	held, err := atomicfile.Lock(f)
	if err == nil && held {
		err = errors.New("another queue uses it: stop that one, or name another folder with --dir")
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return func() { _ = f.Close() }, nil
}

// started waits until clients can connect. It returns false if they cannot within 20 s, or the server
// gave up.
func started(s *server.Server, log *serverLog) bool {
	for range 100 {
		if s.ReadyForConnections(200 * time.Millisecond) {
			return true
		}
		if log.gaveUp() {
			return false
		}
	}
	return false
}

// unhealthy waits until the server cannot store anything, and says why. A stream that met an error
// of the disk answers nothing until the server starts again. It returns nothing once ctx has ended.
func unhealthy(ctx context.Context, s *server.Server) string {
	for failed := 0; ; {
		pause(ctx, time.Second)
		if ctx.Err() != nil {
			return ""
		}
		h := s.Healthz(&server.HealthzOptions{})
		if h.Error == "" {
			failed = 0
		} else if failed++; failed > 1 { // a stream that is being removed looks damaged for a moment
			return h.Error
		}
	}
}

func serverOptions(o fleet.ServeOptions) (*server.Options, error) {
	host, port, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("write the address as HOST:PORT: %w", err)
	}
	number, err := strconv.Atoi(port)
	if err != nil || number < 0 || number > 65535 {
		return nil, fmt.Errorf("port %.20q: must be 0 to 65535", port)
	}
	if number == 0 {
		number = server.RANDOM_PORT
	}
	if host == "" {
		host = "127.0.0.1"
	}
	var errs []error
	if !isLoopback(host) {
		if o.Cert == "" || o.Key == "" {
			errs = append(errs, errors.New("beyond this machine a queue needs TLS: give --tls-cert and --tls-key"))
		}
		if o.User == "" && o.Token == "" {
			errs = append(errs, errors.New("beyond this machine a queue needs credentials: set CUPEL_QUEUE_USER and CUPEL_QUEUE_PASSWORD, or CUPEL_QUEUE_TOKEN"))
		}
	}
	opts := &server.Options{
		ServerName: "cupel", Host: host, Port: number, JetStream: true, StoreDir: o.Dir, JetStreamMaxStore: o.MaxBytes, MaxPayload: maxPayload,
		Username: o.User, Password: o.Password, Authorization: o.Token, NoSigs: true,
	}
	if opts.JetStreamMaxStore == 0 {
		opts.JetStreamMaxStore = -1
	}
	if o.Cert != "" || o.Key != "" {
		if opts.TLSConfig, err = tlsConfig(o); err != nil {
			errs = append(errs, err)
		}
	}
	return opts, errors.Join(errs...)
}

func tlsConfig(o fleet.ServeOptions) (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(o.Cert, o.Key)
	if err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	if o.CA == "" {
		return c, nil
	}
	text, err := regular.ReadFile(o.CA)
	if err != nil {
		return nil, fmt.Errorf("read the authority of clients: %w", err)
	}
	c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	if !c.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate in PEM form", o.CA)
	}
	return c, nil
}
