package recorder

import (
	"fmt"
	"strings"
)

// MissError means that a cassette has no unused recording of a request.
type MissError struct {
	Path string
	// Nearest is the index of the most similar recording; -1 if the cassette is empty.
	Nearest int
	// Diff lists the fields in which the request differs from the nearest recording, and
	// what would make it equal: at most 16 lines of bounded length, without credentials.
	Diff    []string
	Command string // records the cassette again; may be empty
}

func (e *MissError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cassette %s has no recording of this request", e.Path)
	if e.Nearest >= 0 {
		fmt.Fprintf(&b, " (nearest: interaction %d)", e.Nearest)
	}
	for _, line := range e.Diff {
		b.WriteString("\n  " + line)
	}
	if e.Command != "" {
		b.WriteString("\nrecord it again with: " + e.Command)
	}
	return b.String()
}
