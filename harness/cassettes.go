package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cupel-eval/cupel/recorder"
)

// cassettesDigest covers every cassette a replay will read, and finds the missing ones.
func (r *runner) cassettesDigest() (string, error) {
	if r.Mode != recorder.Replay {
		return "", nil
	}
	var missing []error
	h := sha256.New()
	for _, p := range r.plan.all() {
		if p.cassette == "" {
			continue
		}
		digest, err := recorder.FileDigest(r.Cassettes, p.cassette)
		switch {
		case errors.Is(err, fs.ErrNotExist) && p.candidate.Provider == ScriptedCandidate:
			// needed only if the script calls an HTTP tool
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, &recorder.MissingError{Path: p.cassette, Command: r.command(p)})
		case err != nil:
			return "", fmt.Errorf("read cassette %s: %w", p.cassette, err)
		default:
			h.Write([]byte(digest))
		}
	}
	if len(missing) > 0 {
		return "", &MissingCassettes{Missing: missing, Planned: r.plan.len(), All: r.RecordCommand("", "", r.Trials)}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// MissingCassettes says that a replay cannot start.
type MissingCassettes struct {
	// Missing holds one *recorder.MissingError per episode.
	Missing []error
	Planned int
	// All is the command that records every one of them.
	All string
}

// Error shows the first one and how many there are.
func (e *MissingCassettes) Error() string {
	text := e.Missing[0].Error()
	if len(e.Missing) > 1 {
		text += fmt.Sprintf("\n%d of %d planned episodes have no cassette; record all with: %s", len(e.Missing), e.Planned, e.All)
	}
	return text
}

// Unwrap returns the missing ones.
func (e *MissingCassettes) Unwrap() []error { return e.Missing }
