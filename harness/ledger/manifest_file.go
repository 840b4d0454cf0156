package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	strict "github.com/go-json-experiment/json"
)

// ManifestFormat is the version of run.json: 2 since acceptance has min_solved and no
// rule.
const ManifestFormat = 2

const (
	manifestName = "run.json"
	// maxManifest bounds run.json, in bytes.
	maxManifest = 64 << 20
)

// WriteManifest writes dir/run.json atomically: indented JSON, the same bytes
// for the same manifest. It refuses another Format than ManifestFormat.
func WriteManifest(dir string, m Manifest) error {
	path := filepath.Join(dir, manifestName)
	if m.Format != ManifestFormat {
		return fmt.Errorf("write %s: format %d, must be %d", path, m.Format, ManifestFormat)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if buf.Len() > maxManifest {
		return fmt.Errorf("write %s: %d bytes, more than %d", path, buf.Len(), maxManifest)
	}
	return writeFile(dir, manifestName, buf.Bytes())
}

// ReadManifest reads dir/run.json. It refuses, naming the file, one that is
// missing (fs.ErrNotExist), of another format version, with unknown or repeated
// members, with trailing data, or with thresholds that are not allowed.
func ReadManifest(dir string) (Manifest, error) {
	path := filepath.Join(dir, manifestName)
	data, err := readFile(path, maxManifest)
	if err != nil {
		return Manifest{}, fmt.Errorf("read manifest: %w", err)
	}
	m, err := decodeManifest(data)
	if err != nil {
		return Manifest{}, fmt.Errorf("read manifest: %s: %w", path, err)
	}
	return m, nil
}

func decodeManifest(data []byte) (Manifest, error) {
	// The version first: in another format anything may be unknown.
	var head struct {
		Format int `json:"format"`
	}
	if err := strict.Unmarshal(data, &head); err != nil {
		return Manifest{}, err
	}
	if head.Format != ManifestFormat {
		return Manifest{}, fmt.Errorf("format version %d, this cupel reads version %d: use the cupel named by code_version in the file",
			head.Format, ManifestFormat)
	}
	var m Manifest
	if err := strict.Unmarshal(data, &m, strict.RejectUnknownMembers(true)); err != nil {
		return Manifest{}, err
	}
	return m, errors.Join(m.Acceptance.Validate(), m.Decide.validate())
}
