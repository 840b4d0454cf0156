package recorder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/internal/checksum"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// journalSuffix ends the name of a cassette's journal, oldSuffix the name of a replaced
// one.
const (
	journalSuffix = ".journal"
	oldSuffix     = ".old"
)

// journal writes the exchanges of a recording to disk as they finish. A record is the line
// "exchange NUMBER SIZE RUN" and a cassette of that one exchange of SIZE bytes, whose checksum
// covers the line too; numbers have the order of the cassette. A record may instead retract an
// earlier exchange of its number, see Recorder.Retract. The file is opened for each record, so
// that a recorder that is never saved does not leave it open.
type journal struct {
	mu           sync.Mutex
	begun        bool
	err          error                // the first failure to write
	conversation secrets.Conversation // of the exchanges on disk
	split        bool                 // a credential was split over several exchanges
	// resumed means that the first write continues the file at end, the end of its last intact
	// record.
	resumed bool
	end     int64
}

// maxRun bounds the name of a run, in bytes.
const maxRun = 100

// journalFile is the path of the journal of o's cassette.
func journalFile(o Options) string {
	return o.file().OnDisk() + journalSuffix
}

// keep writes a finished exchange to disk, unless Save would refuse it. Save reports an
// error of keep, because the caller must get the reply it paid for even if the disk fails.
func (j *journal) keep(o Options, k *recording) {
	t := &cassette.Data{Header: o.Header, Interactions: []cassette.Interaction{k.it}}
	if k.err != nil || t.Check() != nil || cassette.Scan(o.file(), t) != nil || o.Secrets.Find(o.Path) != "" {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.containsSplit(o, &k.it) {
		return
	}
	j.add(o, record(k.number, o.Run, cassette.Encode(t)))
}

// retractKey begins the content of a record that retracts an exchange, before its
// digest.
const retractKey = "retract: "

// retract adds the record that retracts an exchange.
func (j *journal) retract(o Options, number int64, digest string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.begun || j.resumed {
		j.add(o, record(number, o.Run, checksum.Append([]byte(retractKey+digest+"\n"))))
	}
}

// add appends a record and stores the first error. The caller must have locked.
func (j *journal) add(o Options, record []byte) {
	if err := j.write(journalFile(o), record); err != nil && j.err == nil {
		j.err = err
	}
}

// record encodes a record of a sealed cassette.
func record(number int64, run string, cassette []byte) []byte {
	line := fmt.Appendf(make([]byte, 0, len(cassette)+maxHead), "exchange %d %d", number, len(cassette))
	if run != "" {
		line = append(append(line, ' '), run...)
	}
	return checksum.Append(append(append(line, '\n'), cassette[:len(cassette)-checksum.Size]...))
}

// write appends to the file. The first write cuts off the torn end of a continued journal,
// or renames the journal of an earlier recording.
func (j *journal) write(file string, record []byte) error {
	flags := os.O_WRONLY | os.O_APPEND
	if !j.begun && !j.resumed {
		flags |= os.O_CREATE | os.O_EXCL
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
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
	if !j.begun && j.resumed {
		err = f.Truncate(j.end)
	}
	if err == nil {
		_, err = f.Write(record)
	}
	err = errors.Join(err, f.Sync(), f.Close())
	if !j.begun {
		err = errors.Join(err, atomicfile.SyncDir(filepath.Dir(file)))
	}
	j.begun = true
	return err
}

// failure is the reason why the journal is incomplete; nil if it is complete.
func (j *journal) failure() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		return nil
	}
	return fmt.Errorf("its journal is incomplete, too: %w", j.err)
}

// filter removes exchanges from the journal that would now be refused, because a credential
// may become known after its exchange.
func (j *journal) filter(o Options, recordings []*recording) error {
	j.mu.Lock()
	err := os.Remove(journalFile(o))
	j.begun, j.resumed, j.conversation, j.split = false, false, nil, false
	j.mu.Unlock()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, k := range recordings {
		if err == nil && k.done {
			j.keep(o, k)
		}
	}
	return err
}

// discard removes the journal and a replaced one after their recording is saved.
func (j *journal) discard(o Options) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begun, j.resumed, j.err, j.conversation, j.split = false, false, nil, nil, false
	return removeJournal(o)
}

// removeJournal removes the replaced journal first, so that the journal still marks an
// incomplete removal.
func removeJournal(o Options) error {
	for _, file := range []string{journalFile(o) + oldSuffix, journalFile(o)} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
