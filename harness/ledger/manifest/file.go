package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	strict "github.com/go-json-experiment/json"

	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/cupel-eval/cupel/internal/atomicfile"
)

// Format is the version of run.json. Version 3 added the seal.
const Format = 3

const (
	// File is the name of the manifest in a run folder.
	File = "run.json"
	// maxManifest bounds run.json, in bytes.
	maxManifest = 64 << 20
	// Running is the Status of a run without a ledger.
	Running = "running"
)

// sealedManifest is the content of run.json. The seal is its last member, on a separate line, and
// covers all lines before it.
type sealedManifest struct {
	Manifest
	Seal string `json:"seal"`
}

// Write writes dir/run.json of a run without a ledger; ledger.Writer.Close writes that of an
// ended run. m.Format must be Format.
func Write(dir string, m Manifest) error {
	path := filepath.Join(dir, File)
	text, err := Encode(m)
	if err == nil {
		err = atomicfile.WriteBytes(path, text)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Encode returns the content of run.json: indented JSON, the same bytes for the same manifest.
// m.Format must be Format.
func Encode(m Manifest) ([]byte, error) {
	if m.Format != Format {
		return nil, fmt.Errorf("format %d, must be %d", m.Format, Format)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(sealedManifest{Manifest: m}); err != nil {
		return nil, err
	}
	body, ok := bytes.CutSuffix(buf.Bytes(), []byte(manifestSeal("")))
	if !ok {
		panic("ledger: the seal is not the last member of the manifest") // unreachable
	}
	text := append(body[:len(body):len(body)], manifestSeal(sealed.Of(body))...)
	if len(text) > maxManifest {
		return nil, fmt.Errorf("%d bytes, more than %d", len(text), maxManifest)
	}
	return text, nil
}

// manifestSeal returns the last lines of run.json.
func manifestSeal(seal string) string { return "  \"seal\": \"" + seal + "\"\n}\n" }

// Read reads dir/run.json. It returns a *CorruptError if the file is missing (fs.ErrNotExist), has
// another seal or format version, unknown or repeated members, or invalid thresholds.
func Read(dir string) (Manifest, error) {
	m, _, err := ReadWithDigest(dir)
	return m, err
}

// ReadWithDigest is Read; digest is the SHA-256 of the file, which the footers of the
// ledger name.
func ReadWithDigest(dir string) (m Manifest, digest string, err error) {
	path := filepath.Join(dir, File)
	data, err := sealed.ReadFile(path, maxManifest)
	if err == nil {
		m, err = decode(data)
	}
	if err != nil {
		return Manifest{}, "", fmt.Errorf("read manifest: %w", sealed.Damage(path, err))
	}
	return m, sealed.Digest(data), nil
}

func decode(data []byte) (Manifest, error) {
	// The version is checked first, because another format may have unknown members.
	var head struct {
		Format int `json:"format"`
	}
	if err := strict.Unmarshal(data, &head); err != nil {
		return Manifest{}, fmt.Errorf("damaged: %w; %s", err, sealed.Fix)
	}
	if head.Format != Format {
		return Manifest{}, fmt.Errorf("format version %d, this cupel reads version %d: use the cupel named by code_version in the file",
			head.Format, Format)
	}
	body := data[:max(0, len(data)-len(manifestSeal(sealed.Of(nil))))]
	if string(data[len(body):]) != manifestSeal(sealed.Of(body)) {
		return Manifest{}, fmt.Errorf("changed after it was written: its lines do not have the digest that its seal names; "+
			"to judge by other thresholds, use --threshold; else %s", sealed.Fix)
	}
	var m sealedManifest
	if err := strict.Unmarshal(data, &m, strict.RejectUnknownMembers(true)); err != nil {
		return Manifest{}, err
	}
	return m.Manifest, errors.Join(m.Acceptance.Validate(), m.Decide.validate())
}
