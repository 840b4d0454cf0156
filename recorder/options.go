// Package recorder records HTTP exchanges to a cassette and replays them. Its
// http.RoundTripper returns live responses while recording and recorded ones in replay. It
// does not depend on the rest of cupel and works in any http.Client.
//
// A cassette is a go-vcr file with two additions that go-vcr ignores. One is a cupel block:
// what was recorded, the digest by which each exchange is matched, and the size and delay of
// every read. The other is the last line, the SHA-256 of all bytes above it. A file that was
// truncated or edited is rejected with an error that names it.
//
// A recording may be killed at any time. Every finished exchange is on disk, in a journal
// next to the future cassette, before the caller sees the end of its body. Save turns the
// journal into the cassette. A later recording may continue the journal of a killed one
// (Options.Resume), and Recover reads it.
//
// Trailers, protocol upgrades, informational responses and headers that are not on the
// allow-list are not recorded.
package recorder

import (
	"context"
	"io/fs"
	"net/http"
	"time"

	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// Mode is the source of answers.
type Mode string

// These are the modes.
const (
	Replay Mode = "replay" // from the cassette only, never from a network
	Record Mode = "record" // from the network, recorded to the cassette
	Live   Mode = "live"   // from the network, not recorded
)

// Options configure a Recorder. Only Path and one of FS, Dir and Store are required.
type Options struct {
	// Mode defaults to Replay.
	Mode Mode
	// FS is the source of cassettes in Replay, Dir the target folder in Record, Path this
	// cassette's slash-separated name in either. Replay reads from Dir if FS is nil. While
	// recording, Path.journal has the finished exchanges, for Recover: there must be only one
	// recorder at a time.
	FS   fs.FS
	Dir  string
	Path string
	// Store is written to instead of Dir in Record; nil means Dir.
	Store Store
	// Header describes what is recorded; it is written into the cassette.
	Header cassette.Header
	// Run names the recording in the journal: at most 100 characters without white space; it
	// is not in the cassette.
	Run string
	// Resume lets Record continue the journal of a recording with the same Run and Header: its
	// intact exchanges answer equal requests, and are in the cassette as if they were new. Any
	// other journal is renamed.
	Resume bool
	// KeepJournal makes Save leave the journal to a caller that stores the recording's results
	// before Discard.
	KeepJournal bool
	// Base sends requests while recording or live; never used in replay. nil
	// means http.DefaultTransport.
	Base http.RoundTripper
	// Command is the shell command that records this cassette, for errors.
	Command string
	// Secrets finds what must never be in the cassette; nil finds patterns of credentials and
	// those in requests. A run's recorders share one.
	Secrets *secrets.Finder
	// Now is the clock for the latencies of live exchanges and the timing of replayed ones;
	// nil means time.Now.
	Now func() time.Time
	// Speed scales the timing of Replay: 0 does not wait, 1 delays every read of a body as
	// recorded, 2 half as long. A cancelled request ends the wait. The reported times are the
	// recorded ones at any speed.
	Speed float64
	// Sleep waits for Speed, or returns ctx's error early; nil waits in real time.
	Sleep func(ctx context.Context, d time.Duration) error
	// AllowUnsealed lets Replay read a cassette of go-vcr, which has no checksum, so
	// truncation goes undetected. A cupel cassette without its checksum is always refused.
	AllowUnsealed bool
}

// store is where o records to.
func (o Options) store() Store {
	if o.Store != nil {
		return o.Store
	}
	return Dir(o.Dir)
}

// file names the cassette of o.
func (o Options) file() cassette.File {
	return cassette.File{FS: o.FS, Dir: o.Dir, Path: o.Path, Command: o.Command, Secrets: o.Secrets, AllowUnsealed: o.AllowUnsealed}
}
