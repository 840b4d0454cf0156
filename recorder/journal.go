package recorder

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/cupel-eval/cupel/internal/regular"
)

// journalSuffix makes the name of a cassette's journal, oldSuffix that of one
// set aside.
const (
	journalSuffix = ".journal"
	oldSuffix     = ".old"
)

// journal keeps the exchanges of a recording on disk as they finish. A record
// is the line "exchange NUMBER SIZE" and, in SIZE bytes, a cassette of that one
// exchange, whose seal covers the line too; numbers have the order of the cassette. The file is opened anew for every
// record, so that a recorder nobody saves holds nothing open.
type journal struct {
	mu    sync.Mutex
	begun bool
	err   error // the first failure to write
	said  tails // in the exchanges on disk
	split bool  // a credential was split over several of them
}

const recordHead = "exchange %d %d\n"

// journalFile is where the journal of the cassette that o names is.
func journalFile(o Options) string {
	return filepath.Join(o.Dir, filepath.FromSlash(o.Path)) + journalSuffix
}

// keep puts a finished exchange on disk, unless Save would refuse it. A failure
// is kept for Save to tell: what was paid for is handed to the caller whatever
// the disk does.
func (j *journal) keep(o Options, k *take) {
	t := &tape{header: o.Header, interactions: []interaction{k.it}}
	if k.err != nil || t.check() != nil || scan(o, t) != nil || o.Secrets.Find(o.Path) != "" {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.holdsSplit(o, &k.it) {
		return
	}
	if err := j.write(journalFile(o), record(k.number(), t)); err != nil && j.err == nil {
		j.err = err
	}
}

// record lays out a record.
func record(number int64, t *tape) []byte {
	whole := encode(t)
	line := fmt.Appendf(make([]byte, 0, len(whole)+len(recordHead)+20), recordHead, number, len(whole))
	return seal(append(line, whole[:len(whole)-sealSize]...))
}

// write appends to the file. The first time it sets aside what an earlier
// recording left there.
func (j *journal) write(file string, record []byte) error {
	flags := os.O_WRONLY | os.O_APPEND
	if !j.begun {
		flags |= os.O_CREATE | os.O_EXCL
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.Rename(file, file+oldSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	f, err := regular.OpenFile(file, flags, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(record)
	err = errors.Join(err, f.Sync(), f.Close())
	if !j.begun {
		err = errors.Join(err, syncDir(filepath.Dir(file)))
	}
	j.begun = true
	return err
}

// failure is why the journal is not whole; nil if it is.
func (j *journal) failure() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		return nil
	}
	return fmt.Errorf("nor is there a whole journal of it: %w", j.err)
}

// filter writes the journal anew without what would be refused by now: a
// credential may become known after the exchange that holds it.
func (j *journal) filter(o Options, takes []*take) error {
	j.mu.Lock()
	err := os.Remove(journalFile(o))
	j.begun, j.said, j.split = false, nil, false
	j.mu.Unlock()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, k := range takes {
		if err == nil && k.done {
			j.keep(o, k)
		}
	}
	return err
}

// discard removes the journal, and one set aside: their recording is saved.
func (j *journal) discard(o Options) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begun, j.err, j.said, j.split = false, nil, nil, false
	for _, file := range []string{journalFile(o), journalFile(o) + oldSuffix} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Recovered is what an unfinished recording left in its journal.
type Recovered struct {
	// Cassette is the sealed file that Save would have written of the exchanges
	// that were finished; nil when there are none.
	Cassette  []byte
	Exchanges int
	// Torn counts the places where the journal is cut or damaged. A crash while
	// an exchange was being written leaves one.
	Torn int
}

// maxTorn bounds the search for whole records in a damaged journal.
const maxTorn = 100

// Recover reads a journal: the file NAME.journal that a recording of NAME left
// when it was killed or failed, or NAME.journal.old. It changes nothing. A
// replay of the recovered cassette ends in a *MissError where the recording did.
func Recover(file string) (Recovered, error) {
	info, err := os.Stat(file)
	if err != nil {
		return Recovered{}, fmt.Errorf("recover recording: %w", err)
	}
	if info.Size() > 2*maxBytes {
		return Recovered{}, fmt.Errorf("recover recording %s: larger than %d bytes", file, 2*maxBytes)
	}
	data, err := regular.ReadFile(file)
	if err != nil {
		return Recovered{}, fmt.Errorf("recover recording: %w", err)
	}
	t, torn := readJournal(data)
	r := Recovered{Exchanges: len(t.interactions), Torn: torn}
	if r.Exchanges == 0 {
		return r, nil
	}
	r.Cassette, err = press(Options{Path: file}, t)
	return r, err
}

// readJournal returns the whole exchanges in the order of their numbers, and how
// often it met something else.
func readJournal(data []byte) (t *tape, torn int) {
	type kept struct {
		number int64
		it     interaction
	}
	var all []kept
	t = &tape{}
	for len(data) > 0 && torn < maxTorn {
		number, size, one := readRecord(data)
		if one == nil {
			torn++
			if size = bytes.Index(data[1:], []byte("exchange ")) + 1; size == 0 {
				break
			}
		} else {
			t.header = one.header
			all = append(all, kept{number, one.interactions[0]})
		}
		data = data[size:]
	}
	slices.SortStableFunc(all, func(a, b kept) int { return cmp.Compare(a.number, b.number) })
	for _, k := range all {
		t.interactions = append(t.interactions, k.it)
	}
	return t, torn
}

// readRecord reads the record that data begins with; nil if it is not whole.
func readRecord(data []byte) (number int64, size int, one *tape) {
	line, _, _ := bytes.Cut(data[:min(len(data), 64)], []byte("\n"))
	head := len(line) + 1
	if _, err := fmt.Sscanf(string(line)+"\n", recordHead, &number, &size); err != nil || size <= 0 || size > len(data)-head {
		return 0, 0, nil
	}
	content, _, err := unseal(data[:head+size])
	if err != nil {
		return 0, 0, nil
	}
	one, ok := readLayout(string(content[head:]))
	if !ok || len(one.interactions) != 1 || one.check() != nil {
		return 0, 0, nil
	}
	return number, head + size, one
}
