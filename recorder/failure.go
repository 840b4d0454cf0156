package recorder

import (
	"cmp"
	"errors"
	"net"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
)

// maxFailure bounds the stored text of a transport's error, in bytes.
const maxFailure = 2000

// failure is a recorded failure of the transport. It is a net.Error, so that callers
// recognise a replayed timeout.
type failure struct {
	text     string
	timedOut bool
}

// Error returns the text of the transport's error.
func (f *failure) Error() string { return f.text }

// Timeout reports whether the error was a timeout.
func (f *failure) Timeout() bool { return f.timedOut }

// Temporary is deprecated and always false.
func (f *failure) Temporary() bool { return false }

// failureOf returns the stored parts of an error.
func failureOf(err error) (text string, timedOut bool) {
	text = strings.ToValidUTF8(err.Error(), "\ufffd")
	text = cmp.Or(clip.Bytes(text, maxFailure), "failed without a word")
	var e net.Error
	return text, errors.As(err, &e) && e.Timeout()
}
