package recorder

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/internal/checksum"
)

// Recovered is the content of an unfinished recording's journal.
type Recovered struct {
	// Cassette is the sealed file that Save would have written with the finished exchanges;
	// nil if there are none.
	Cassette  []byte
	Exchanges int
	// Torn is the number of places where the journal is cut or damaged. A crash while an
	// exchange was being written causes one.
	Torn int
}

const (
	// maxTorn bounds the search for intact records in a damaged journal.
	maxTorn = 100
	// maxHead bounds the first line of a record, in bytes.
	maxHead = 64 + maxRun
)

// Recover reads a journal: the file NAME.journal of a killed or failed recording of NAME,
// or NAME.journal.old. It does not modify the file. A replay of the recovered cassette ends
// in a *MissError where the recording ended.
func Recover(file string) (Recovered, error) {
	return RecoverIn(Dir(filepath.Dir(file)), filepath.Base(file))
}

// RecoverIn is Recover of a journal in a Store.
func RecoverIn(s Store, name string) (Recovered, error) {
	data, err := readJournalFile(s, name)
	if err != nil {
		return Recovered{}, fmt.Errorf("recover recording: %w", err)
	}
	c := readJournal(data)
	t := &cassette.Data{}
	for _, rec := range c.exchanges(false) {
		t.Header = rec.one.Header
		t.Interactions = append(t.Interactions, rec.one.Interactions[0])
	}
	r := Recovered{Exchanges: len(t.Interactions), Torn: c.torn}
	if r.Exchanges == 0 {
		return r, nil
	}
	r.Cassette, err = cassette.Seal(cassette.File{Path: name}, t)
	return r, err
}

// journalRecord is one intact record of a journal.
type journalRecord struct {
	number int64
	run    string
	one    *cassette.Data // nil if it retracts an exchange
	// retracts is the digest of the exchange with this number that it retracts.
	retracts string
}

func (r journalRecord) place() int64 { return r.number >> 32 }

func (r journalRecord) digest() string { return r.one.Interactions[0].Digest }

// journalContent is the content of a journal.
type journalContent struct {
	records []journalRecord // in the order of the file
	// torn counts the gaps between intact records.
	torn int
	// end is the end of the last intact record.
	end int64
}

// readJournal reads the intact records.
func readJournal(data []byte) (c journalContent) {
	for at := 0; at < len(data) && c.torn < maxTorn; {
		rec, size, ok := readRecord(data[at:])
		if !ok {
			c.torn++
			next := bytes.Index(data[at+1:], []byte("exchange "))
			if next < 0 {
				break
			}
			at += 1 + next
			continue
		}
		at += size
		c.end = int64(at)
		c.records = append(c.records, rec)
	}
	return c
}

// readRecord reads the record at the beginning of data, and its size; false if it is not
// intact.
func readRecord(data []byte) (rec journalRecord, size int, ok bool) {
	line, _, found := strings.Cut(string(data[:min(len(data), maxHead)]), "\n")
	head := len(line) + 1
	_, err := fmt.Sscanf(line, "exchange %d %d", &rec.number, &size)
	if !found || err != nil || size < checksum.Size || size > len(data)-head {
		return rec, 0, false
	}
	rec.run = runOf(data)
	content, _, err := checksum.Check(data[:head+size])
	if err != nil {
		return rec, 0, false
	}
	if digest, ok := strings.CutPrefix(string(content[head:]), retractKey); ok {
		rec.retracts = strings.TrimSuffix(digest, "\n")
		return rec, head + size, true
	}
	rec.one, ok = cassette.DecodeContent(string(content[head:]))
	if !ok || len(rec.one.Interactions) != 1 || rec.one.Check() != nil {
		return rec, 0, false
	}
	return rec, head + size, true
}

// runOf is the run of the record at the beginning of data; empty if it has none.
func runOf(data []byte) string {
	line, _, _ := strings.Cut(string(data[:min(len(data), maxHead)]), "\n")
	if fields := strings.SplitN(line, " ", 4); len(fields) == 4 {
		return fields[3]
	}
	return ""
}

// exchanges returns the exchanges, ordered by number, then by writing. It omits a retracted
// one if a later one replaces it or all is set.
func (c *journalContent) exchanges(all bool) []journalRecord {
	type request struct {
		number int64
		digest string
	}
	retracted, dropped := make([]bool, len(c.records)), make([]bool, len(c.records))
	open := map[request][]int{}   // by request: exchanges that can be retracted
	replaced := map[int64][]int{} // by place: exchanges that a later one replaces
	for i, rec := range c.records {
		if rec.one == nil {
			key := request{rec.number, rec.retracts}
			for _, at := range open[key] {
				retracted[at] = true
				replaced[rec.place()] = append(replaced[rec.place()], at)
			}
			delete(open, key)
			continue
		}
		for _, at := range replaced[rec.place()] {
			dropped[at] = true
		}
		delete(replaced, rec.place())
		key := request{rec.number, rec.digest()}
		open[key] = append(open[key], i)
	}
	var list []journalRecord
	for i, rec := range c.records {
		if rec.one != nil && !dropped[i] && (!all || !retracted[i]) {
			list = append(list, rec)
		}
	}
	slices.SortStableFunc(list, func(a, b journalRecord) int { return cmp.Compare(a.number, b.number) })
	return list
}
