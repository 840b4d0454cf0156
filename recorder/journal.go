package recorder

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

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

// journal appends the exchanges of a recording to its Store as they finish. A record is the line
// "exchange NUMBER SIZE RUN" and a cassette of that one exchange of SIZE bytes, whose checksum
// covers the line too; numbers have the order of the cassette. A record may instead retract an
// earlier exchange of its number, see Recorder.Retract.
type journal struct {
	mu           sync.Mutex
	begun        bool
	err          error                // the first failure to write
	conversation secrets.Conversation // of the exchanges on disk
	split        bool                 // a credential was split over several exchanges
	// resumed means that the first write continues the file.
	resumed bool
	// end is the end of its last intact record.
	end int64
}

// maxRun bounds the name of a run, in bytes.
const maxRun = 100

// journalName is the name of the journal of o's cassette in its Store.
func journalName(o Options) string { return o.Path + journalSuffix }

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
	if err := j.write(o, record); err != nil && j.err == nil {
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

// write appends to the file, behind its last intact record. The first write renames the
// journal of an earlier recording, unless it continues it.
func (j *journal) write(o Options, record []byte) error {
	s, name := o.store(), journalName(o)
	if !j.begun && !j.resumed {
		if err := s.Rename(name, name+oldSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		j.end = 0
	}
	if err := s.Append(name, j.end, record); err != nil {
		return err
	}
	j.begun = true
	j.end += int64(len(record))
	return nil
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
	err := o.store().Remove(journalName(o))
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
	for _, name := range []string{journalName(o) + oldSuffix, journalName(o)} {
		if err := o.store().Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
