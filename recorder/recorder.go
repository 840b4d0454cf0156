package recorder

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// Recorder is the http.RoundTripper of one episode. Safe for concurrent use.
type Recorder struct {
	o       Options
	journal journal // record

	mu         sync.Mutex
	digest     string
	index      *recordingIndex // replay: the recordings
	recordings []*recording    // record: the exchanges in the order they were started
	begun      map[int]int     // record: how many there are of each place
	// checked is how many credentials were known when the journal was looked through.
	checked int
	left    leftover // record: of the journal that is continued
}

// New opens a cassette for replay, or makes ready to record. Replay fails with
// a *MissingError (no cassette) or *CorruptError (cut, edited or foreign).
func New(o Options) (*Recorder, error) {
	if o.Mode == "" {
		o.Mode = Replay
	}
	if o.Base == nil {
		o.Base = http.DefaultTransport
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the seam: latencies of live exchanges are real
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Secrets == nil && o.Mode != Replay {
		o.Secrets = secrets.New()
	}
	if !(o.Speed >= 0 && o.Speed <= math.MaxFloat64) { // NaN is neither
		return nil, fmt.Errorf("replay speed %v: it must be 0 (at once) or more, 1 is the recorded pace", o.Speed)
	}
	r := &Recorder{o: o}
	if o.Mode == Live {
		return r, nil
	}
	if !fs.ValidPath(o.Path) || o.Path == "." {
		return nil, fmt.Errorf("cassette path %q: it must be slash-separated and stay inside its folder", o.Path)
	}
	switch o.Mode {
	case Record:
		if o.Dir == "" {
			return nil, errors.New("record cassette " + o.Path + ": no folder to write to")
		}
		r.checked = o.Secrets.Known()
		if err := purge(o); err != nil {
			return nil, fmt.Errorf("record cassette %s: look for credentials in its journal: %w", o.Path, err)
		}
		if len(o.Run) > maxRun || strings.ContainsFunc(o.Run, unicode.IsSpace) {
			return nil, fmt.Errorf("record cassette %s: run %.120q: must have at most %d bytes and no white space", o.Path, o.Run, maxRun)
		}
		if o.Resume {
			var err error
			if r.left, err = r.journal.resume(o); err != nil {
				return nil, err
			}
		}
	case Replay:
		t, err := cassette.Load(o.file())
		if err != nil {
			return nil, err
		}
		r.o.Header, r.digest, r.index = t.Header, t.Digest, newRecordingIndex(t)
	default:
		return nil, fmt.Errorf("unknown mode %q: replay, record or live", o.Mode)
	}
	return r, nil
}

// RoundTrip answers one request. In replay a request without a recording fails
// with a *MissError. The request is never changed, its body always read or
// closed. A response body must be read to its end or closed before Save.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if r.o.Mode == Replay {
		return r.replay(req)
	}
	r.o.Secrets.Learn(req)
	if r.o.Mode == Record {
		r.recheck()
		return r.record(req)
	}
	return r.live(req)
}

// Live reports whether requests reach the network: in other modes than Replay. A
// client that signs its requests need not look for credentials otherwise.
func (r *Recorder) Live() bool { return r.o.Mode != Replay }

// Leftover returns how many recorded exchanges were never asked for; 0 in
// other modes than Replay.
func (r *Recorder) Leftover() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.index == nil {
		return 0
	}
	return r.index.left
}

// Digest is the SHA-256 hex of the cassette file: as read, or as saved. It is
// empty before Save and when Live.
func (r *Recorder) Digest() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.digest
}

// Header is what the cassette says of itself: as read in replay, the zero
// value for one that go-vcr wrote; otherwise as given in Options.
func (r *Recorder) Header() cassette.Header { return r.o.Header }
