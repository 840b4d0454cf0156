package cassette

import "fmt"

// MissingError means that the cassette to replay does not exist.
type MissingError struct {
	Path    string
	Command string // records it; may be empty
}

func (e *MissingError) Error() string {
	return "no cassette " + e.Path + advice("record it with", e.Command)
}

// CorruptError means that a file is not a trusted cassette: cut, edited, written by another
// tool, of an unknown version, or another kind of file.
type CorruptError struct {
	Path   string
	Reason string
}

func (e *CorruptError) Error() string { return "cassette " + e.Path + ": " + e.Reason }

// SecretError means that a cassette was not written because it contains a credential. The
// error never contains the credential.
type SecretError struct {
	Path string
	// Interaction is the index of the exchange, -1 for the cassette's header.
	Interaction int
	// Field is the location, such as request.url or response.headers.Retry-After.
	Field string
	// Kind is the kind of credential, such as "a configured secret".
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
