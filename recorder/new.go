package recorder

import "net/http"

// Recorder is the http.RoundTripper of one episode. Safe for concurrent use.
type Recorder struct{}

// New opens a cassette for replay, or makes ready to record. Replay fails with
// a *MissingError (no cassette) or *CorruptError (cut, edited or foreign).
func New(o Options) (*Recorder, error) { panic("skeleton") }

// RoundTrip answers one request. In replay a request without a recording fails
// with a *MissError.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) { panic("skeleton") }

// Save seals what was recorded and replaces the cassette atomically; nothing
// in other modes.
func (r *Recorder) Save() error { panic("skeleton") }

// Leftover returns how many recorded exchanges were never asked for.
func (r *Recorder) Leftover() int { panic("skeleton") }

// Digest is the SHA-256 hex of the cassette: as read, or as saved.
func (r *Recorder) Digest() string { panic("skeleton") }
