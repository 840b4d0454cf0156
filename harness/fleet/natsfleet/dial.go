// Package natsfleet is a fleet's queue on NATS JetStream, with a server of its own or an
// existing one.
//
// The streams of a fleet NAME, whose subjects end in the run, the lane and a digest of the unit's
// episodes:
//
//	cupel-NAME-work  units to execute: names and digests; one message for each
//	cupel-NAME-done  their results: journal records; the first result of a unit counts
//	cupel-NAME-log   which worker began a unit or sent a request, for units that are delivered again
//	cupel-NAME-data  exchanges of units in progress, and recorded cassettes
//
// The key-value store cupel-NAME has the run in progress, and cupel-NAME-live what coordinator
// and workers state about themselves, which expires.
package natsfleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/cupel-eval/cupel/harness/fleet"
)

// Service implements fleet.Service.
type Service struct{}

var _ fleet.Service = Service{}

// queue is a connection to the queue of one fleet.
type queue struct {
	access fleet.Access
	nc     *nats.Conn
	js     jetstream.JetStream
	live   jetstream.KeyValue
	runs   jetstream.KeyValue
	// again is when the connection was last made again.
	again atomic.Pointer[time.Time]
}

var (
	namePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)
	errNoStream = errors.New("its JetStream is off")
)

const (
	// requestTimeout bounds a request to the queue.
	requestTimeout = 5 * time.Second
	// liveFor is how long what a process states about itself is valid.
	liveFor = 15 * time.Second
	// stateEvery is how often it is stated.
	stateEvery = 2 * time.Second
)

// Dial implements fleet.Service.
func (Service) Dial(ctx context.Context, a fleet.Access) (fleet.Queue, error) {
	q, err := dial(ctx, a)
	if err != nil {
		return nil, fmt.Errorf("queue %s: %w", shown(a.URL), err)
	}
	return q, nil
}

func dial(ctx context.Context, a fleet.Access) (*queue, error) {
	if !namePattern.MatchString(a.Name) {
		return nil, fmt.Errorf("fleet name %.40q: use up to 32 letters, digits, - and _", a.Name)
	}
	if a.Say == nil {
		a.Say = func(string) {}
	}
	o, err := options(a)
	if err != nil {
		return nil, err
	}
	q := &queue{access: a}
	q.nc, err = connect(ctx, a, append(o, nats.ReconnectHandler(func(*nats.Conn) {
		now := time.Now() //nolint:forbidigo // see settled
		q.again.Store(&now)
		a.Say("connected to the queue again")
	})))
	if err != nil {
		return nil, explain(err)
	}
	if q.js, err = jetstream.New(q.nc, jetstream.WithDefaultTimeout(requestTimeout)); err == nil {
		err = q.prepare(ctx)
	}
	if err != nil {
		q.nc.Close()
		return nil, explain(err)
	}
	return q, nil
}

// connect connects, and waits for a queue that does not answer.
func connect(ctx context.Context, a fleet.Access, o []nats.Option) (nc *nats.Conn, err error) {
	const wait = 500 * time.Millisecond
	for left := a.Patience; ; left -= wait {
		nc, err = nats.Connect(a.URL, o...)
		if !errors.Is(err, nats.ErrNoServers) || left <= 0 || ctx.Err() != nil {
			return nc, err
		}
		if left == a.Patience {
			a.Say(fmt.Sprintf("the queue does not answer: trying again for %v", a.Patience))
		}
		pause(ctx, wait)
	}
}

// settled waits until others, too, have stored what they finished while the queue was away.
func (q *queue) settled(ctx context.Context) {
	if again := q.again.Load(); again != nil {
		pause(ctx, requestTimeout+3*time.Second-time.Since(*again))
	}
}

// shown is an address without what may be a credential.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(invalid address)"
	}
	u.User = nil
	return u.Redacted()
}

func options(a fleet.Access) ([]nats.Option, error) {
	u, err := url.Parse(a.URL)
	switch {
	case err != nil || u.Host == "":
		return nil, errors.New("write its address as nats://HOST:PORT, or tls://HOST:PORT")
	case u.User != nil:
		return nil, errors.New("the address must not have credentials: set CUPEL_QUEUE_USER and CUPEL_QUEUE_PASSWORD, CUPEL_QUEUE_TOKEN, or CUPEL_QUEUE_CREDS with the name of a credentials file")
	case u.Scheme != "nats" && u.Scheme != "tls":
		return nil, fmt.Errorf("%.20q is not supported: use nats:// or tls://", u.Scheme+"://")
	case u.Scheme == "nats" && !isLoopback(u.Hostname()):
		return nil, errors.New("beyond this machine a queue needs TLS: use tls://HOST:PORT")
	}
	say := a.Say
	o := []nats.Option{
		nats.Name(a.Client), nats.MaxReconnects(-1), nats.ReconnectWait(time.Second), nats.Timeout(requestTimeout),
		nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2), nats.IgnoreAuthErrorAbort(),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				say(fmt.Sprintf("lost the queue: %v; connecting again", err))
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { say("queue: " + err.Error()) }),
	}
	if u.Scheme == "tls" {
		o = append(o, nats.Secure(&tls.Config{MinVersion: tls.VersionTLS12, ServerName: u.Hostname()}))
		if a.CA != "" {
			o = append(o, nats.RootCAs(a.CA))
		}
		if a.Cert != "" {
			o = append(o, nats.ClientCert(a.Cert, a.Key))
		}
	}
	switch {
	case a.CredentialsFile != "":
		o = append(o, nats.UserCredentials(a.CredentialsFile))
	case a.Token != "":
		o = append(o, nats.Token(a.Token))
	case a.User != "":
		o = append(o, nats.UserInfo(a.User, a.Password))
	}
	return o, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// explain adds what to do about an error of the queue.
func explain(err error) error {
	var authority x509.UnknownAuthorityError
	switch {
	case errors.As(err, &authority):
		return fmt.Errorf("%w: write its address as tls://HOST:PORT, and name the file of that authority with --queue-ca", err)
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return fmt.Errorf("%w: set CUPEL_QUEUE_USER and CUPEL_QUEUE_PASSWORD, CUPEL_QUEUE_TOKEN or CUPEL_QUEUE_CREDS to credentials that it accepts", err)
	case errors.Is(err, nats.ErrNoServers):
		return fmt.Errorf("%w: is it running? On this machine, start one with cupel-fleet queue", err)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("%w: start the server with JetStream: %w", errNoStream, err)
	case errors.Is(err, nats.ErrPermissionViolation), isTimeout(err):
		return fmt.Errorf("%w: the queue did not answer, or its credentials may not create streams and key-value stores named cupel-*", err)
	}
	return err
}

func isTimeout(err error) bool {
	return errors.Is(err, nats.ErrTimeout) || errors.Is(err, context.DeadlineExceeded)
}

// prepare creates the streams and stores of the fleet unless they exist.
func (q *queue) prepare(ctx context.Context) (err error) {
	for _, s := range []jetstream.StreamConfig{
		{Name: q.stream("work"), Retention: jetstream.WorkQueuePolicy, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true},
		{Name: q.stream("done"), Retention: jetstream.WorkQueuePolicy, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true},
		{Name: q.stream("log"), Discard: jetstream.DiscardOld, MaxAge: 7 * 24 * time.Hour},
		{Name: q.stream("data"), Discard: jetstream.DiscardNew},
	} {
		s.Subjects = []string{s.Name + ".>"}
		_, err := q.js.Stream(ctx, s.Name) // it may have other settings, such as replicas
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			_, err = q.js.CreateStream(ctx, s)
		}
		if err != nil && !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return fmt.Errorf("stream %s: %w", s.Name, err)
		}
	}
	if q.runs, err = bucket(ctx, q, jetstream.KeyValueConfig{Bucket: q.stream("runs")}); err != nil {
		return err
	}
	q.live, err = bucket(ctx, q, jetstream.KeyValueConfig{Bucket: q.stream("live"), TTL: liveFor})
	return err
}

func bucket(ctx context.Context, q *queue, c jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	kv, err := q.js.KeyValue(ctx, c.Bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = q.js.CreateKeyValue(ctx, c)
	}
	if errors.Is(err, jetstream.ErrBucketExists) { // another process was faster
		kv, err = q.js.KeyValue(ctx, c.Bucket)
	}
	if err != nil {
		return nil, fmt.Errorf("key-value store %s: %w", c.Bucket, err)
	}
	return kv, nil
}

// stream is the name of a stream or a store of the fleet.
func (q *queue) stream(what string) string { return "cupel-" + q.access.Name + "-" + what }

// Close implements fleet.Queue.
func (q *queue) Close() error {
	q.nc.Close()
	return nil
}
