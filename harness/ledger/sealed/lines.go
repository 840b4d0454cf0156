package sealed

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cupel-eval/cupel/internal/atomicfile"
)

// The text files of a run folder end with a line that has the checksum of all lines before it.
// It is a comment in YAML.

const lineSealStart = "# seal: "

// lineSeal returns the last line.
func lineSeal(seal string) string { return lineSealStart + seal + "\n" }

// lineSealLen is its length.
var lineSealLen = int64(len(lineSeal(Of(nil))))

// maxSealed bounds a file of sealed lines.
const maxSealed = 4 << 30

// Write replaces path with the lines that render writes and their seal. It ends the last line if
// render does not.
func Write(path string, render func(io.Writer) error) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		h := sha256.New()
		end := endOfLine{to: io.MultiWriter(w, h)}
		if err := render(&end); err != nil {
			return err
		}
		if err := end.line(); err != nil {
			return err
		}
		_, err := io.WriteString(w, lineSeal("sha256:"+hex.EncodeToString(h.Sum(nil))))
		return err
	})
}

// endOfLine forwards the written bytes and remembers the last one.
type endOfLine struct {
	to   io.Writer
	last byte
}

// Write implements io.Writer.
func (e *endOfLine) Write(p []byte) (int, error) {
	if len(p) > 0 {
		e.last = p[len(p)-1]
	}
	return e.to.Write(p)
}

// line ends an unfinished line.
func (e *endOfLine) line() error {
	if e.last == 0 || e.last == '\n' {
		return nil
	}
	_, err := e.to.Write([]byte{'\n'})
	return err
}

// Open opens a file of sealed lines, without the seal. It returns a *CorruptError if the file is
// missing, truncated or changed.
func Open(path string) (io.ReadCloser, error) {
	f, size, err := OpenFile(path, maxSealed)
	if err != nil {
		return nil, Damage(path, err)
	}
	lines := io.NewSectionReader(f, 0, size-lineSealLen)
	if err := checkLines(f, lines, size); err != nil {
		_ = f.Close()
		return nil, Damage(path, err)
	}
	return sealedLines{lines, f}, nil
}

type sealedLines struct {
	*io.SectionReader
	file *os.File
}

// Close closes the file.
func (s sealedLines) Close() error { return s.file.Close() }

func checkLines(f io.ReaderAt, lines *io.SectionReader, size int64) error {
	changed := errors.New("cut or changed after it was written: its lines do not have the digest that its last line names; " + Fix)
	if size < lineSealLen {
		return changed
	}
	end := make([]byte, lineSealLen)
	if _, err := f.ReadAt(end, size-lineSealLen); err != nil {
		return err
	}
	h := sha256.New()
	if _, err := io.Copy(h, lines); err != nil {
		return err
	}
	if string(end) != lineSeal("sha256:"+hex.EncodeToString(h.Sum(nil))) {
		return changed
	}
	_, err := lines.Seek(0, io.SeekStart)
	return err
}

// Read reads a file of sealed lines of at most limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var text bytes.Buffer
	n, err := io.Copy(&text, io.LimitReader(f, limit+1))
	if err == nil && n > limit {
		err = Damage(path, fmt.Errorf("more than %d bytes", limit))
	}
	return text.Bytes(), err
}
