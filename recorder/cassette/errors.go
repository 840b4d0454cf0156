package cassette

import "fmt"

// MissingError says that there is no cassette to replay.
type MissingError struct {
	Path    string
	Command string // records it; may be empty
}

func (e *MissingError) Error() string {
	return "no cassette " + e.Path + advice("record it with", e.Command)
}

// CorruptError says that a file is no cassette to trust: cut, edited, written
// by another tool, of an unknown version, or no cassette at all.
type CorruptError struct {
	Path   string
	Reason string
}

func (e *CorruptError) Error() string { return "cassette " + e.Path + ": " + e.Reason }

// SecretError says that a cassette was not written because a credential would
// have been on it. It never holds the credential.
type SecretError struct {
	Path string
	// Interaction is the index of the exchange, -1 for the cassette's header.
	Interaction int
	// Field is where, such as request.url or response.headers.Retry-After.
	Field string
	// Kind is what was found, such as "a configured secret".
	Kind string
}

func (e *SecretError) Error() string {
	where := "header"
	if e.Interaction >= 0 {
		where = fmt.Sprintf("interaction %d", e.Interaction)
	}
	return fmt.Sprintf("cassette %s not written: %s holds %s in %s", e.Path, where, e.Kind, e.Field)
}

// advice returns "; what: command", or nothing without a command.
func advice(what, command string) string {
	if command == "" {
		return ""
	}
	return "; " + what + ": " + command
}
