package canary

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/cupel-eval/cupel/internal/regular"
)

// File is the name of the history below the folder of run folders.
const File = "canary.jsonl"

// maxLine bounds a line of the history in bytes.
const maxLine = 1 << 20

// Load reads the history file of a runs folder. A file that is not there is an empty
// history. Lines that cannot be read, such as the torn last one of a process that was
// killed, are counted and left out. A line that was changed after it was written is a
// *sealed.CorruptError: without it the others could say something else.
func Load(runs string) (history []Observation, unreadable int, err error) {
	f, err := regular.Open(filepath.Join(runs, File))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read canary history: %w", err)
	}
	defer func() { _ = f.Close() }()
	history, unreadable, err = Read(f)
	if damaged, ok := errors.AsType[*sealed.CorruptError](err); ok {
		damaged.Path = filepath.Join(runs, damaged.Path)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read canary history: %w", err)
	}
	return history, unreadable, nil
}

// The last member of a line is the checksum of the others. Lines of an older cupel have none.
const sealStart, sealEnd = `,"seal":"sha256:`, `"}`

// sealLine seals the JSON object of a line.
func sealLine(object []byte) []byte {
	body := object[:len(object)-1]
	return fmt.Appendf(nil, "%s%s%x%s", body, sealStart, sha256.Sum256(body), sealEnd)
}

// sealLen is how long a seal is; sealTail matches the end of one.
const sealLen = len(sealStart) + 2*sha256.Size + len(sealEnd)

var sealTail = regexp.MustCompile(`[0-9a-f]{64}"}$`)

// changed says whether a line that has a seal does not have its own. A torn line has none:
// it ends before.
func changed(line []byte) bool {
	i := bytes.LastIndex(line, []byte(sealStart))
	if (i < 0 || len(line) < i+sealLen) && !sealTail.Match(line) {
		return false
	}
	return len(line) <= sealLen || !bytes.Equal(line, sealLine(line[:len(line)-sealLen+1]))
}

// Read reads the lines of a history, in their order.
func Read(r io.Reader) (history []Observation, unreadable int, err error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	tooLong, number := false, 1
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
			if !tooLong && changed(text) {
				return nil, 0, &sealed.CorruptError{Path: fmt.Sprintf("%s:%d", File, number),
					Err: errors.New("the line was changed after it was written; restore the file from a copy, or delete the line")}
			}
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
		number++
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
	f, err := regular.OpenFile(filepath.Join(runs, File), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o666)
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
	if _, err := f.Write([]byte(start + string(sealLine(line)) + "\n")); err != nil {
		return err
	}
	return f.Sync()
}
