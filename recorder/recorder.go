package recorder

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/cupel-eval/cupel/internal/pause"
	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// Recorder is the http.RoundTripper of one episode. It is safe for concurrent use.
type Recorder struct {
	o       Options
	journal journal // record

	mu         sync.Mutex
	digest     string
	index      *recordingIndex // in Replay
	recordings []*recording    // in Record, in starting order
	begun      map[int]int     // in Record: by place, the number of its recordings
	// checked is the number of known credentials at the last search of the journal.
	checked int
	left    leftover  // in Record: of the continued journal
	origin  *Recorder // replay: what Save saves, see Again; usually nil
}

// New opens a cassette for replay or prepares a recording. Replay fails with a
// *MissingError if there is no cassette, and with a *CorruptError if the file is truncated,
// edited or not a cassette.
func New(o Options) (*Recorder, error) {
	o.Mode = cmp.Or(o.Mode, Replay)
	if o.Base == nil {
		o.Base = http.DefaultTransport
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the seam: latencies of live exchanges are real
	}
	if o.Sleep == nil {
		o.Sleep = pause.For
	}
	if o.Secrets == nil && o.Mode != Replay {
		o.Secrets = secrets.New()
	}
	if !(o.Speed >= 0 && o.Speed <= math.MaxFloat64) { // also rejects NaN
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
		if o.Dir == "" && o.Store == nil {
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

// RoundTrip answers one request. In replay, a request without a recording fails with a
// *MissError. RoundTrip does not change the request, and always reads or closes its body.
// The caller must read the response body to its end, or close it, before Save.
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

// Live reports whether requests reach the network, as they do in every mode except Replay.
// A client that signs requests needs credentials only then.
func (r *Recorder) Live() bool { return r.o.Mode != Replay }

// Leftover returns the number of recorded exchanges that no request has used; 0 in every
// mode except Replay.
func (r *Recorder) Leftover() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.index == nil {
		return 0
	}
	return r.index.left
}

// Source returns the recorder whose recording r replays, see Again; r itself if there is none.
func (r *Recorder) Source() *Recorder {
	if r.origin != nil {
		return r.origin
	}
	return r
}

// Skip counts the unused recordings of requests to a host, and those of a role
// unless that is empty, as used.
func (r *Recorder) Skip(host, role string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.index == nil {
		return
	}
	for _, same := range r.index.byDigest {
		it := &r.index.data.Interactions[same.indexes[0]]
		at, err := url.Parse(it.Request.URL)
		if err == nil && at.Host == host || role != "" && it.Role == role {
			r.index.left -= len(same.indexes) - same.next
			same.next = len(same.indexes)
		}
	}
}

// Digest returns the SHA-256 hex of the cassette file that was read or saved. It is empty
// before Save and in Live mode.
func (r *Recorder) Digest() string {
	if r.origin != nil {
		return r.origin.Digest()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.digest
}

// Header returns the header of the cassette: in replay the one that was read, which is zero
// in a file of go-vcr, otherwise that of Options.
func (r *Recorder) Header() cassette.Header { return r.o.Header }
