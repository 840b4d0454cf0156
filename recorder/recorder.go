// Package recorder puts HTTP exchanges on a cassette and plays them back: an
// http.RoundTripper takes requests in, and hands out live responses while
// recording, recorded ones while replaying. It knows nothing of the rest of
// cupel and serves any http.Client.
package recorder

import (
	"context"
	"io/fs"
	"net/http"
	"time"
)

// Mode says where answers come from.
type Mode string

// The modes.
const (
	Replay Mode = "replay" // from the cassette only: never a network
	Record Mode = "record" // from the network, kept for the cassette
	Live   Mode = "live"   // from the network, nothing kept
)

// Options configure a Recorder.
type Options struct {
	Mode Mode
	// FS is where Replay reads cassettes, Dir the folder where Record writes
	// them, Path the slash-separated name of this one inside either.
	FS   fs.FS
	Dir  string
	Path string
	// Header describes what is recorded; it is written into the cassette.
	Header Header
	// Base sends requests while recording or live; never used in replay.
	Base http.RoundTripper
	// Command is what a person types to record this cassette; errors show it.
	Command string
	// Secrets are credentials that must never reach the cassette.
	Secrets []string
	// Now is the clock for the latencies of live exchanges; nil means time.Now.
	Now func() time.Time
}

// Header describes a cassette: what was recorded, of whom, and with what.
type Header struct {
	Suite     string `yaml:"suite,omitempty"`
	Task      string `yaml:"task,omitempty"`
	Candidate string `yaml:"candidate,omitempty"`
	Trial     int    `yaml:"trial,omitempty"`
	Provider  string `yaml:"provider,omitempty"`
	Model     string `yaml:"model,omitempty"`
	// Simulated says that no real model was asked.
	Simulated bool `yaml:"simulated,omitempty"`
	// Recorded is the UTC day of the recording, YYYY-MM-DD.
	Recorded string `yaml:"recorded,omitempty"`
	// Adapter is the version of the wire codec.
	Adapter string `yaml:"adapter,omitempty"`
	// Digests of what went into the requests, by name (prompt, tools, contract, policy).
	Digests map[string]string `yaml:"digests,omitempty"`
}

// Exchange is one finished HTTP exchange, live or replayed. Its times are
// those of the network: a replayed exchange carries the recorded ones.
type Exchange struct {
	// Index is the position in the cassette, -1 when live.
	Index int
	// Digest is the SHA-256 hex of the canonical request: what is matched.
	Digest string
	// Status is the HTTP status, 0 when the transport failed.
	Status int
	// FirstByte is the time from sending to the first byte of the body,
	// Duration to its end; whole microseconds.
	FirstByte, Duration time.Duration
	Replayed            bool
}

type observerKey struct{}

// Observe returns a context whose exchanges are reported to f as each body has
// been read to its end or closed, or the transport has failed. f is called on
// the goroutine that reads the body.
func Observe(ctx context.Context, f func(Exchange)) context.Context {
	return context.WithValue(ctx, observerKey{}, f)
}
