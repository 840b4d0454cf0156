package recorder

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
)

const (
	sealKey  = "seal: sha256:"
	sealSize = len(sealKey) + 2*sha256.Size + 1 // the line with its newline
)

// seal appends the last line: the digest of every byte before it.
func seal(data []byte) []byte {
	sum := sha256.Sum256(data)
	return fmt.Appendf(data, "%s%x\n", sealKey, sum)
}

// Why a file's seal does not hold.
var (
	errUnsealed = errors.New("not sealed: written by another tool, or cut")
	errBroken   = errors.New("its seal does not match its content: it was cut or edited")
	errEndings  = errors.New("its seal does not match its content: something turned its line endings into CR LF (in git: *.yaml -text)")
)

// unseal checks the seal and returns what it covers, and the SHA-256 hex of
// the whole file.
func unseal(data []byte) (content []byte, digest string, err error) {
	cut := len(data) - sealSize
	h := sha256.New()
	if cut <= 0 || data[cut-1] != '\n' || !bytes.HasPrefix(data[cut:], []byte(sealKey)) {
		h.Write(data)
		err = errUnsealed
		if bytes.Contains(data, []byte("\n"+sealKey)) {
			err = errBroken
			if bytes.Contains(data, []byte("\r\n")) {
				err = errEndings
			}
		}
		return data, hex.EncodeToString(h.Sum(nil)), err
	}
	h.Write(data[:cut])
	var line [sealSize]byte
	want := append(hex.AppendEncode(append(line[:0], sealKey...), h.Sum(nil)), '\n')
	if !bytes.Equal(data[cut:], want) {
		return nil, "", errBroken
	}
	h.Write(data[cut:])
	return data[:cut], hex.EncodeToString(h.Sum(nil)), nil
}

// SealFile seals a cassette in its place, as Seal does, and reports whether that
// changed it: one that is whole is left alone. It uses Dir, Path, Header and
// Secrets of o. The old file stays until the new one is complete.
func SealFile(o Options) (changed bool, err error) {
	o.FS = nil
	data, err := loadFile(o)
	if err != nil {
		return false, err
	}
	if _, err := decode(data, false); err == nil {
		return false, nil
	}
	sealed, err := Seal(o, data)
	if err != nil {
		return false, err
	}
	if err := writeFile(filepath.Join(o.Dir, filepath.FromSlash(o.Path)), sealed); err != nil {
		return false, fmt.Errorf("seal cassette %s: %w", o.Path, err)
	}
	return true, nil
}
