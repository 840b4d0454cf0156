// Package fleet is what a run on several machines consists of. A coordinator publishes the
// plan to a queue, workers take units from it, and the coordinator writes the run folder from
// their results. Package harness has the two ends, and package natsfleet a queue.
package fleet

import (
	"context"
	"time"

	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// Service makes queues available to the command line.
type Service interface {
	// Serve runs a queue in this process until ctx ends. It calls ready once clients can
	// connect.
	Serve(ctx context.Context, o ServeOptions, ready func(url string)) error
	// Dial connects to a queue. It fails if the queue does not answer, refuses the
	// credentials, or would get them without TLS.
	Dial(ctx context.Context, o Access) (Queue, error)
}

// Defaults of the options.
const (
	DefaultName     = "cupel"
	DefaultLease    = 30 * time.Second
	DefaultAttempts = 3
)

// Access says how to reach a queue. Credentials never come from URL.
type Access struct {
	// URL is nats://HOST:PORT, or tls://HOST:PORT, which is required beyond this machine.
	URL string
	// Name separates the fleets that share a queue: letters, digits, - and _.
	Name string
	// User and Password, Token or CredentialsFile authenticate; empty means no authentication.
	User, Password, Token, CredentialsFile string
	// CA, Cert and Key are PEM files for TLS; empty means the system's authorities and no
	// certificate of the client.
	CA, Cert, Key string
	// Client names this process in the queue and in its status.
	Client string
	// Patience is how long to wait for a queue that does not answer at first, such as one that is
	// restarting. Later, everybody waits for it.
	Patience time.Duration
	// Say is called with messages for people, such as a lost connection.
	Say func(string)
}

// FromEnvironment sets the credentials that lookup, such as os.LookupEnv, finds:
// CUPEL_QUEUE_USER and CUPEL_QUEUE_PASSWORD, CUPEL_QUEUE_TOKEN, and CUPEL_QUEUE_CREDS, which
// names a credentials file.
func (a *Access) FromEnvironment(lookup func(name string) (string, bool)) {
	a.User, _ = lookup("CUPEL_QUEUE_USER")
	a.Password, _ = lookup("CUPEL_QUEUE_PASSWORD")
	a.Token, _ = lookup("CUPEL_QUEUE_TOKEN")
	a.CredentialsFile, _ = lookup("CUPEL_QUEUE_CREDS")
}

// ServeOptions configure a queue of this process.
type ServeOptions struct {
	// Listen is HOST:PORT. TLS and credentials are required unless it is on this machine.
	Listen string
	// Dir stores the queue.
	Dir string
	// User and Password, or Token, are what clients must give; empty means nothing.
	User, Password, Token string
	// Cert and Key are PEM files for TLS. With CA, clients need a certificate of that
	// authority.
	Cert, Key, CA string
	// MaxBytes bounds the stored data; 0 means no bound but the disk.
	MaxBytes int64
}

// Queue is a connection to a queue. It is safe for concurrent use.
type Queue interface {
	// Coordinate returns an executor of one run, which needs no other process but workers. At most
	// one run of a fleet is coordinated at a time.
	Coordinate(o CoordinateOptions) Coordinator
	// Work executes units until drain is closed or ctx ends.
	Work(ctx context.Context, o WorkOptions) error
	// Status returns the state of the fleet.
	Status(ctx context.Context) (Status, error)
	// Close ends the connection.
	Close() error
}

// Coordinator executes a run by the workers of a queue.
type Coordinator interface {
	Executor
	// Finish ends the coordination: workers hand back what they have. If the run is complete,
	// everything that only it needs is removed from the queue.
	Finish(complete bool) error
}

// CoordinateOptions configure a Coordinator.
type CoordinateOptions struct {
	// Lease is how long a worker that is not heard of keeps its units; 0 means DefaultLease.
	Lease time.Duration
	// Attempts is the number of workers that a unit may take along until it counts as the
	// cause; 0 means DefaultAttempts.
	Attempts int
	// Caps and Limits are those of the whole fleet.
	Caps   admission.Caps
	Limits map[string]admission.Limits
	// Build tells this program apart from others of its version; empty if the version does. Workers
	// with another one are refused.
	Build string
}

// Shared are the caps and limits of a fleet, as one of its workers takes part in them.
type Shared struct {
	Caps   admission.Caps
	Limits map[string]admission.Limits
	// Sharing is a harness.Sharing.
	Sharing interface {
		Wanted()
		Join(c *admission.Control, folder string) (leave func() error, err error)
	}
}

// WorkOptions configure a worker.
type WorkOptions struct {
	// Open prepares for the run of m from the worker's own files. limits is nil in a replay. An
	// error refuses the run.
	Open func(ctx context.Context, m manifest.Manifest, limits *Shared) (Worker, error)
	// Build is as in CoordinateOptions.
	Build string
	// Concurrency bounds the units in progress; 0 means one bound for each provider.
	Concurrency int
	// Drain, when closed, ends the work: no further unit is taken, and those in progress have
	// Grace until they are handed back.
	Drain <-chan struct{}
	Grace time.Duration
}

// Status is the state of a fleet.
type Status struct {
	// Name is that of the fleet.
	Name string `json:"name"`
	// Spent is what the workers have reported, and Granted what they may have spent: see package
	// shared. Both are nil in a replay, and while a run begins or ends. Caps are those of the fleet.
	Spent   *admission.Spend `json:"spent"`
	Granted *admission.Spend `json:"granted"`
	Caps    admission.Caps   `json:"caps"`
	// Limits are those of providers, of each key for all workers together, as the run states them.
	Limits map[string]admission.Limits `json:"limits,omitempty"`
	// Run is the run in progress; nil if there is none.
	Run *RunStatus `json:"run"`
	// Coordinated is set if the coordinator of Run is alive.
	Coordinated bool `json:"coordinated"`
	// Queued are units that wait for a worker, Taken those that have one, and Returned the
	// results that the coordinator has not stored yet.
	Queued   uint64 `json:"queued"`
	Taken    uint64 `json:"taken"`
	Returned uint64 `json:"returned"`
	// Workers are sorted by name.
	Workers []WorkerStatus `json:"workers"`
}

// RunStatus is the progress of a run as its coordinator last stated it.
type RunStatus struct {
	RunID       string `json:"run_id"`
	Suite       string `json:"suite"`
	Mode        string `json:"mode"`
	Coordinator string `json:"coordinator"`
	Done        int    `json:"done"`
	Total       int    `json:"total"`
	Solved      int    `json:"solved"`
	// Excluded are episodes without a result.
	Excluded    int   `json:"excluded"`
	CostNanoUSD int64 `json:"cost_nano_usd"`
	CostUnknown bool  `json:"cost_unknown,omitempty"`
	Tokens      int64 `json:"tokens"`
	Requests    int64 `json:"requests"`
	Retries     int64 `json:"retries"`
	// Redelivered are units that more than one worker began. Resumed are exchanges of lost
	// workers that were not asked again. Repeated are the requests that were in flight when their
	// worker was lost: at most so many were asked again.
	Redelivered int    `json:"redelivered"`
	Resumed     int    `json:"resumed"`
	Repeated    int    `json:"repeated"`
	Stopping    string `json:"stopping,omitempty"`
}

// WorkerStatus is the state of a worker as it last stated it.
type WorkerStatus struct {
	Name string `json:"name"`
	// State is idle, working, draining or refused.
	State string `json:"state"`
	// RunID is the run it works on, or refused for Reason.
	RunID    string `json:"run_id,omitempty"`
	Reason   string `json:"reason,omitempty"`
	InFlight int    `json:"in_flight"`
	Done     int    `json:"done"`
	// Lanes are the limits in force for it; none in a replay.
	Lanes []LaneStatus `json:"lanes,omitempty"`
}

// LaneStatus is what a worker may send to a provider with one key.
type LaneStatus struct {
	Provider string `json:"provider"`
	// Key numbers the provider's keys in the worker, from 1.
	Key int `json:"key"`
	// Limit is how many requests may be in flight now: the provider's answers lower and raise it.
	Limit    int `json:"limit"`
	InFlight int `json:"in_flight"`
	Waiting  int `json:"waiting"`
	// Paused is until when the provider asked for no requests, by the worker's clock; nil if it did
	// not.
	Paused *time.Time `json:"paused,omitempty"`
	// Spent is what the worker has spent at the provider, with all keys.
	Spent admission.Spend `json:"spent"`
}
