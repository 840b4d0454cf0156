// Package recorder puts HTTP exchanges on a cassette and plays them back: an
// http.RoundTripper takes requests in, and hands out live responses while
// recording, recorded ones while replaying. It knows nothing of the rest of
// cupel and serves any http.Client.
//
// A cassette is a go-vcr file with two additions that go-vcr ignores: a cupel
// block (what was recorded; per exchange the digest that is matched and the
// size and delay of every read) and, as the last line, a seal: the SHA-256 of
// every byte above it. A file that was cut or edited is refused by name.
//
// A recording may be killed at any moment: every finished exchange is on disk,
// in a journal beside the cassette to come, before the caller sees its end. Save
// turns them into the cassette; a later recording may continue the journal of a dead
// one (Options.Resume), and Recover reads it.
//
// Not recorded: trailers, protocol upgrades, informational responses and the
// headers outside the allow-list.
package recorder

import (
	"context"
	"io/fs"
	"net/http"
	"time"

	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// Mode says where answers come from.
type Mode string

// The modes.
const (
	Replay Mode = "replay" // from the cassette only: never a network
	Record Mode = "record" // from the network, kept for the cassette
	Live   Mode = "live"   // from the network, nothing kept
)

// Options configure a Recorder. Only Path and one of FS and Dir are required.
type Options struct {
	// Mode is Replay when empty.
	Mode Mode
	// FS is where Replay reads cassettes, Dir the folder where Record writes
	// them, Path the slash-separated name of this one inside either. Replay
	// reads from Dir when FS is nil. While recording, Path.journal holds the
	// exchanges that are finished, for Recover: one recorder at a time.
	FS   fs.FS
	Dir  string
	Path string
	// Header describes what is recorded; it is written into the cassette.
	Header cassette.Header
	// Run names the recording that the journal belongs to: at most 100 characters
	// without white space; it is not on the cassette.
	Run string
	// Resume lets Record continue the journal that a recording of the same Run and
	// Header left: its intact exchanges answer equal requests, and are on the cassette
	// as if they had just been made. Any other journal is set aside.
	Resume bool
	// KeepJournal lets Save leave the journal, for a caller who writes down what became
	// of the recording before it is discarded: see Discard.
	KeepJournal bool
	// Base sends requests while recording or live; never used in replay. nil
	// means http.DefaultTransport.
	Base http.RoundTripper
	// Command is what a person types to record this cassette; errors show it.
	Command string
	// Finder find what must never reach the cassette; nil knows the looks of
	// credentials and those that requests carry. A run's recorders share one.
	Secrets *secrets.Finder
	// Now is the clock for the latencies of live exchanges and for the pace of
	// replayed ones; nil means time.Now.
	Now func() time.Time
	// Speed is the pace of Replay: 0 answers at once, 1 lets every read of a body
	// wait as long as it took when recorded, 2 half as long. A cancelled request
	// ends the wait. The times reported are the recorded ones at any speed.
	Speed float64
	// Sleep waits for the pace, or returns ctx's error early; nil waits for real.
	Sleep func(ctx context.Context, d time.Duration) error
	// AllowUnsealed lets Replay read a cassette that go-vcr itself wrote. Such
	// a file has no seal, so that one cut short passes unnoticed. A cassette of
	// cupel's own without its seal is refused anyway.
	AllowUnsealed bool
}

// file names the cassette of o.
func (o Options) file() cassette.File {
	return cassette.File{FS: o.FS, Dir: o.Dir, Path: o.Path, Command: o.Command, Secrets: o.Secrets, AllowUnsealed: o.AllowUnsealed}
}
