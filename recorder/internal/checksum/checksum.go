// Package checksum appends a line with the SHA-256 of all bytes before it to a text, and verifies
// that line.
package checksum

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Key begins the last line, Size is its length in bytes.
const (
	Key  = "seal: sha256:"
	Size = len(Key) + 2*sha256.Size + 1 // the line with its newline
)

// Append appends the last line, the digest of all bytes before it.
func Append(data []byte) []byte {
	sum := sha256.Sum256(data)
	return fmt.Appendf(data, "%s%x\n", Key, sum)
}

// These errors say why the checksum of a file is invalid.
var (
	ErrNone    = errors.New("not sealed: written by another tool, or cut")
	ErrBroken  = errors.New("checksum mismatch: the file was truncated or edited")
	errEndings = errors.New("checksum mismatch: something turned its line endings into CR LF (in git: *.yaml -text)")
)

// Check verifies the last line and returns the bytes before it, and the SHA-256 hex of the whole
// file.
func Check(data []byte) (content []byte, digest string, err error) {
	cut := len(data) - Size
	h := sha256.New()
	if cut <= 0 || data[cut-1] != '\n' || !bytes.HasPrefix(data[cut:], []byte(Key)) {
		h.Write(data)
		err = ErrNone
		if bytes.Contains(data, []byte("\n"+Key)) {
			err = ErrBroken
			if bytes.Contains(data, []byte("\r\n")) {
				err = errEndings
			}
		}
		return data, hex.EncodeToString(h.Sum(nil)), err
	}
	h.Write(data[:cut])
	var line [Size]byte
	want := append(hex.AppendEncode(append(line[:0], Key...), h.Sum(nil)), '\n')
	if !bytes.Equal(data[cut:], want) {
		return nil, "", ErrBroken
	}
	h.Write(data[cut:])
	return data[:cut], hex.EncodeToString(h.Sum(nil)), nil
}
