package cassette

import (
	"bytes"
	"fmt"

	"github.com/cupel-eval/cupel/recorder/internal/checksum"
)

// SealFile seals a cassette that go-vcr wrote, or a sealed one that was edited by hand, in
// its place, and reports whether that changed it: one that is intact is left alone. Digests
// are computed again, and headers outside the allow-list are dropped. A cassette with a
// credential is a *SecretError, one that was cut a *CorruptError. SealFile uses Dir, Path
// and Secrets of f. The old file stays until the new one is complete.
func SealFile(f File) (changed bool, err error) {
	f.FS = nil
	data, err := loadFile(f)
	if err != nil {
		return false, err
	}
	if _, err := Decode(data, false); err == nil {
		return false, nil
	}
	sealed, err := reseal(f, data)
	if err != nil {
		return false, err
	}
	if err := f.Write(sealed); err != nil {
		return false, fmt.Errorf("seal cassette %s: %w", f.Path, err)
	}
	return true, nil
}

// reseal reads a cassette that go-vcr wrote, or a sealed one that was edited by
// hand, and returns it as a sealed cassette of cupel's own: digests are
// computed again, headers outside the allow-list are dropped, credentials are a
// *SecretError. An edited cassette keeps its header. One that was cut is a
// *CorruptError.
//
// Sealing says that the file is intact: only a person can know that of a file
// another tool wrote.
func reseal(f File, data []byte) ([]byte, error) {
	if len(data) > MaxBytes {
		return nil, &CorruptError{f.Path, fmt.Sprintf("larger than %d bytes", MaxBytes)}
	}
	t, err := reopen(data)
	if err != nil {
		return nil, &CorruptError{f.Path, err.Error()}
	}
	return Seal(f, t)
}

// reopen reads a cassette to be sealed: an edited cupel cassette keeps its header, and its
// digests are recomputed.
func reopen(data []byte) (*Data, error) {
	content := data
	if i := bytes.LastIndex(data, []byte("\n"+checksum.Key)); i >= 0 && len(data)-(i+1) == checksum.Size {
		content = data[:i+1]
	}
	edited := len(content) < len(data)
	t, err := readYAML(content, edited)
	if err != nil || !edited {
		return t, err
	}
	for i := range t.Interactions {
		it := &t.Interactions[i]
		first, reads := it.FirstByte, it.Reads
		it.adopt()
		if readBytes(reads) == len(it.Response.Body) { // otherwise the body was edited
			it.FirstByte, it.Reads = first, reads
		}
	}
	return t, nil
}
