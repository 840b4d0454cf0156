package ledger

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// EpisodeRows are the rows of one finished episode.
type EpisodeRows struct {
	Episode   Episode
	Turns     []Turn
	ToolCalls []ToolCall
}

// Journal appends finished episodes to dir/journal/episodes.log, one line each:
// schema version, length and CRC-32C (Castagnoli) of the payload in hex, and the
// payload, the JSON of an EpisodeRows.
// A line that ends before its newline was cut by a crash; a broken line with
// another after it was damaged.
type Journal struct {
	// Sync makes Append return only when the record is on disk. Set it before
	// the first Append.
	Sync bool

	mu   sync.Mutex
	file *os.File
	size int64 // of whole records
	err  error // a failed Append that could not be undone
}

// maxRecord bounds a journal line, in bytes.
const maxRecord = 64 << 20

func journalPath(dir string) string { return filepath.Join(dir, "journal", "episodes.log") }

// OpenJournal opens the journal of a run folder for appending and makes it if
// there is none. It removes a torn tail, and refuses a journal that is damaged
// in the middle. One process at a time may have it open.
func OpenJournal(dir string) (*Journal, error) {
	path := journalPath(dir)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	good, _, err := scanJournal(f, func([]byte) error { return nil })
	if err == nil {
		err = f.Truncate(good)
	}
	if err == nil {
		_, err = f.Seek(good, io.SeekStart)
	}
	err = errors.Join(err, syncDir(filepath.Dir(path)), syncDir(dir))
	if err != nil {
		return nil, fmt.Errorf("open journal %s: %w", path, errors.Join(err, f.Close()))
	}
	return &Journal{file: f, size: good}, nil
}

// Append adds a record; it is safe for concurrent use. After an error the
// journal holds whole records only.
func (j *Journal) Append(rec EpisodeRows) error {
	line, err := encodeRecord(rec)
	if err != nil {
		return fmt.Errorf("journal episode %s: %w", rec.Episode.EpisodeID, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	_, err = j.file.Write(line)
	if err == nil && j.Sync {
		err = j.file.Sync()
	}
	if err != nil {
		err = fmt.Errorf("journal episode %s: %w", rec.Episode.EpisodeID, err)
		_, seekErr := j.file.Seek(j.size, io.SeekStart)
		if undo := errors.Join(j.file.Truncate(j.size), seekErr); undo != nil {
			j.err = errors.Join(err, undo)
		}
		return err
	}
	j.size += int64(len(line))
	return nil
}

// Close closes the file. Records appended without Sync may still be lost by a
// power failure.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.file.Close(); err != nil {
		return fmt.Errorf("close journal: %w", err)
	}
	return nil
}

// ReadJournal returns the records of the journal of a run folder, in the order
// they were appended. torn is the size in bytes of a tail cut by a crash, which
// is left out. An error names the offset of the damage, or is fs.ErrNotExist; the
// records before it are returned with it.
func ReadJournal(dir string) (recs []EpisodeRows, torn int64, err error) {
	path := journalPath(dir)
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("read journal: %w", err)
	}
	defer func() { _ = f.Close() }()
	_, torn, err = scanJournal(f, func(payload []byte) error {
		var rec EpisodeRows
		if err := json.Unmarshal(payload, &rec, json.RejectUnknownMembers(true)); err != nil {
			return err
		}
		recs = append(recs, rec)
		return nil
	})
	if err != nil {
		return recs, 0, fmt.Errorf("read journal %s: %w", path, err)
	}
	return recs, torn, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errBroken = errors.New("length or checksum of the record do not match")

const recordHead = "%d %08x %08x "

// encodeRecord returns a journal line.
func encodeRecord(rec EpisodeRows) ([]byte, error) {
	payload, err := json.Marshal(rec, jsontext.AllowInvalidUTF8(true), json.FormatNilSliceAsNull(true))
	if err != nil {
		return nil, err
	}
	if len(payload) > maxRecord/2 {
		return nil, fmt.Errorf("its rows have %d bytes, more than %d", len(payload), maxRecord/2)
	}
	return appendFrame(nil, payload), nil
}

// appendFrame appends a journal line with the payload given.
func appendFrame(dst, payload []byte) []byte {
	dst = fmt.Appendf(dst, recordHead, schemaVersion, len(payload), crc32.Checksum(payload, castagnoli))
	return append(append(dst, payload...), '\n')
}

// scanJournal calls visit with each payload, and returns the size of the whole
// records and of the torn tail.
func scanJournal(r io.Reader, visit func(payload []byte) error) (good, torn int64, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return good, 0, fmt.Errorf("at offset %d: %w", good, err)
		}
		if err != nil { // a tail without a newline
			return good, int64(len(line)), nil
		}
		payload, err := payloadOf(line)
		if err == nil {
			err = visit(payload)
		}
		if errors.Is(err, errBroken) {
			// After a power failure the newline of the last line may be on disk
			// before what comes before it.
			if _, more := in.Peek(1); errors.Is(more, io.EOF) {
				return good, int64(len(line)), nil
			}
		}
		if err != nil {
			return good, 0, fmt.Errorf("damaged at offset %d: %w", good, err)
		}
		good += int64(len(line))
	}
}

// readLine returns a line with its newline, or io.EOF and what is left.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxRecord {
			return nil, fmt.Errorf("record of more than %d bytes", maxRecord)
		}
	}
}

// payloadOf checks a journal line and returns its payload.
func payloadOf(line []byte) ([]byte, error) {
	version, rest, ok := bytes.Cut(line, []byte{' '})
	const head = 2 * (8 + 1)
	if !ok || len(rest) < head+1 {
		return nil, errBroken
	}
	payload := rest[head : len(rest)-1]
	want := fmt.Appendf(nil, recordHead, schemaVersion, len(payload), crc32.Checksum(payload, castagnoli))
	if !bytes.Equal(rest[:head], want[len(want)-head:]) {
		return nil, errBroken
	}
	if !bytes.Equal(line[:len(want)], want) {
		return nil, fmt.Errorf("record of schema version %.20q, this cupel reads version %d: finish the run with the cupel that began it",
			version, schemaVersion)
	}
	return payload, nil
}
