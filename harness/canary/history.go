package canary

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// File is the name of the history below the folder of run folders.
const File = "canary.jsonl"

// maxLine bounds a line of the history in bytes.
const maxLine = 1 << 20

// Load reads the history file of a runs folder. A file that is not there is an empty
// history. Lines that cannot be read, such as the torn last one of a process that was
// killed, are counted and left out.
func Load(runs string) (history []Observation, unreadable int, err error) {
	f, err := os.Open(filepath.Join(runs, File))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read canary history: %w", err)
	}
	defer func() { _ = f.Close() }()
	history, unreadable, err = Read(f)
	if err != nil {
		return nil, 0, fmt.Errorf("read canary history %s: %w", f.Name(), err)
	}
	return history, unreadable, nil
}

// Read reads the lines of a history, in their order.
func Read(r io.Reader) (history []Observation, unreadable int, err error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	tooLong := false
	for {
		part, err := lines.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > maxLine; !tooLong {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, err
		}
		if text := bytes.TrimSpace(line); tooLong || len(text) > 0 {
			var o Observation
			if !tooLong && json.Unmarshal(text, &o) == nil && o.valid() {
				history = append(history, o)
			} else {
				unreadable++
			}
		}
		if err != nil {
			return history, unreadable, nil
		}
		line, tooLong = line[:0], false
	}
}

// valid says whether an observation can be used: another program may have written it.
func (o Observation) valid() bool {
	for _, a := range o.Answers {
		if a.Digest == "" || a.Tokens != nil && *a.Tokens < 0 || a.LogProb != nil && !(*a.LogProb <= 0 && *a.LogProb > -math.MaxFloat32) {
			return false
		}
	}
	n := len(o.Answers)
	return o.Provider != "" && o.Model.Model != "" && o.Set != "" && !o.At.IsZero() && (n == 0 || n == len(Prompts())) &&
		(o.Change == nil || !o.Change.On.IsZero() && !o.Change.On.After(o.At))
}

// Append adds an observation to the history file of a runs folder, and returns once it
// is on the disk. What a torn last line holds stays a line by itself.
func Append(runs string, o Observation) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write canary history: %w", err)
		}
	}()
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(runs, 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(runs, File), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	last := []byte{'\n'}
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		if _, err := f.ReadAt(last, info.Size()-1); err != nil {
			return err
		}
	}
	start := strings.TrimSuffix("\n", string(last)) // ends a torn line
	if _, err := f.Write([]byte(start + string(line) + "\n")); err != nil {
		return err
	}
	return f.Sync()
}
