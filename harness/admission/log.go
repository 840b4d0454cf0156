package admission

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"
)

// SpendLog is a file of what a run has reserved and spent, so that a run that was
// killed continues with what it has spent: a reservation without its settlement may
// have been billed, and counts. One line each: version, length and CRC-32C
// (Castagnoli) of the payload in hex, and the payload:
//
//	m BYTES
//	r NUMBER COST TOKENS REQUESTS "PROVIDER" "REQUEST"
//	s NUMBER COST TOKENS REQUESTS
//
// REQUEST is Request.ID, by which an open reservation is settled after a crash from
// the recorded reply: see Lane.Settle.
//
// Each line is handed to the operating system before the request is sent, so a
// killed process loses none. A power failure may lose what came after the last Sync.
// The first line says how much of the log was on disk then: a log that has less, or
// a changed bit anywhere, is refused.
type SpendLog struct {
	mu   sync.Mutex
	file *os.File
	path string
	size int64 // of whole records
	last int64 // the number of the latest reservation
	// settled is the final spending by provider; unsettled are the open reservations, found or
	// new.
	settled   map[string]Spend
	unsettled map[int64]reservation
	// byRequest is the latest open reservation of each request that was found in the log.
	byRequest map[string]int64
	err       error // the first write error: further writes are refused
	line      []byte

	disk   sync.Mutex // locked while the file is synced; locked before mu
	synced int64      // the size on disk, as in the first line
}

type reservation struct {
	provider, request string
	worst             Spend
}

const (
	logVersion = 2
	// maxLine bounds a line, maxName the name of a provider or a request, in bytes.
	maxLine = 4096
	maxName = 256
)

// OpenSpendLog opens a log for appending, or creates it. It cuts off a torn tail, and
// returns ErrDamaged for any other damage. Only one process at a time may have it open.
func OpenSpendLog(path string) (*SpendLog, error) {
	f, err := openLogFile(path)
	if err != nil {
		return nil, fmt.Errorf("open spend log: %w", err)
	}
	l := &SpendLog{file: f, path: path, settled: map[string]Spend{}, unsettled: map[int64]reservation{}, byRequest: map[string]int64{}}
	err = l.read(f)
	if err == nil {
		err = f.Truncate(l.size)
	}
	if err == nil {
		_, err = f.Seek(l.size, io.SeekStart)
	}
	if err != nil {
		return nil, fmt.Errorf("open spend log %s: %w", path, errors.Join(err, f.Close()))
	}
	return l, nil
}

// Spent returns the spending by provider, with open reservations at their worst case, in a
// fresh map.
func (l *SpendLog) Spent() map[string]Spend {
	l.mu.Lock()
	defer l.mu.Unlock()
	spent := maps.Clone(l.settled)
	for _, r := range l.unsettled {
		spent[r.provider] = spent[r.provider].Plus(r.worst)
	}
	return spent
}

// Close syncs the log to disk and closes it. It returns the first write error.
func (l *SpendLog) Close() error {
	err := l.Sync()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := errors.Join(l.err, err, l.file.Sync(), l.file.Close()); err != nil {
		return fmt.Errorf("close spend log %s: %w", l.path, err)
	}
	return nil
}

// reserve logs the worst case of a request and returns its number.
func (l *SpendLog) reserve(provider, request string, worst Spend) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if max(len(provider), len(request)) > maxName {
		return 0, fmt.Errorf("spend log: the name of a provider or a request has more than %d bytes", maxName)
	}
	number := l.last + 1
	if err := l.append(reserved(number, provider, request, worst)); err != nil {
		return 0, err
	}
	l.last = number
	l.unsettled[number] = reservation{provider, request, worst}
	return number, nil
}

// settle logs a request's spending. If that fails, the reservation stays open and the next
// request is refused with the error.
func (l *SpendLog) settle(number int64, actual Spend) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.append(settled(number, actual)) == nil {
		l.close(number, actual)
	}
}

// found returns, only once, the open reservation that an earlier process made for a
// request. If there are several it is the latest, because a request whose reply was stored
// is not repeated.
func (l *SpendLog) found(request string) (number int64, worst Spend, open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	number, open = l.byRequest[request]
	delete(l.byRequest, request)
	return number, l.unsettled[number].worst, open
}

// close replaces a reservation by the request's spending.
func (l *SpendLog) close(number int64, actual Spend) {
	r := l.unsettled[number]
	delete(l.unsettled, number)
	if l.byRequest[r.request] == number {
		delete(l.byRequest, r.request)
	}
	l.settled[r.provider] = l.settled[r.provider].Plus(actual)
}

func reserved(number int64, provider, request string, worst Spend) []byte {
	line := strconv.AppendQuoteToASCII(append(numbers('r', number, worst), ' '), provider)
	return strconv.AppendQuoteToASCII(append(line, ' '), request)
}

func settled(number int64, actual Spend) []byte { return numbers('s', number, actual) }

func numbers(kind byte, number int64, s Spend) []byte {
	line := append(make([]byte, 0, 128), kind)
	for _, n := range []int64{number, s.CostNanoUSD, s.Tokens, s.Requests} {
		line = strconv.AppendInt(append(line, ' '), n, 10)
	}
	return line
}

// append writes a complete line or none.
func (l *SpendLog) append(payload []byte) error {
	if l.err != nil {
		return l.err
	}
	l.line = appendFrame(l.line[:0], payload)
	if _, err := l.file.Write(l.line); err != nil {
		l.err = fmt.Errorf("write spend log %s: %w", l.path, err)
		if undo := l.file.Truncate(l.size); undo != nil {
			l.err = errors.Join(l.err, undo)
		}
		return l.err
	}
	l.size += int64(len(l.line))
	return nil
}

const logHead = "%d %08x %08x "

// appendFrame appends a line with the payload given.
func appendFrame(dst, payload []byte) []byte {
	dst = fmt.Appendf(dst, logHead, logVersion, len(payload), crc32.Checksum(payload, crc32.MakeTable(crc32.Castagnoli)))
	return append(append(dst, payload...), '\n')
}

// read reads complete records up to the end or a torn tail.
func (l *SpendLog) read(r io.Reader) error {
	in := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) { // cupel never writes such long lines
			if _, err = in.ReadSlice('\n'); err == nil {
				err = fmt.Errorf("record of more than %d bytes", maxLine)
			}
		}
		if err == nil {
			err = l.record(line)
		}
		if errors.Is(err, io.EOF) && len(line) == 0 && l.size > 0 && l.size >= l.synced {
			return nil
		}
		if errors.Is(err, errBroken) || errors.Is(err, io.EOF) {
			if _, more := in.Peek(1); errors.Is(more, io.EOF) && l.torn(line) {
				return nil
			}
			err = errBroken
		}
		if err != nil {
			return fmt.Errorf("damaged at offset %d: %w: %w; restore the file, or start a new run", l.size, err, ErrDamaged)
		}
		l.size += int64(len(line))
	}
}

// frameOf is the inverse of appendFrame, for any version.
func frameOf(line []byte) (payload []byte, version string, ok bool) {
	first, rest, _ := bytes.Cut(line, []byte{' '})
	const head = 2 * (8 + 1)
	if len(rest) < head+1 {
		return nil, "", false
	}
	payload = rest[head : len(rest)-1]
	return payload, string(first), bytes.HasSuffix(appendFrame(nil, payload), rest)
}

var errBroken = errors.New("length or checksum of the record do not match")

// record applies one line.
func (l *SpendLog) record(line []byte) error {
	payload, version, ok := frameOf(line)
	switch {
	case !ok:
		return errBroken
	case version != strconv.Itoa(logVersion):
		return fmt.Errorf("record of version %.20q, this cupel reads version %d", version, logVersion)
	}
	// Fields that do not parse fail the comparison with the formatted numbers.
	fields := append(strings.SplitN(string(payload), " ", 6), make([]string, 6)...)
	number := parse(fields[1])
	s := Spend{CostNanoUSD: parse(fields[2]), Tokens: parse(fields[3]), Requests: parse(fields[4])}
	provider, request := unquoteTwo(fields[5])
	_, open := l.unsettled[number]
	switch {
	case l.size == 0 && bytes.Equal(line, mark(number)):
		l.synced = number
	case l.size == 0:
		return fmt.Errorf("%.80q is not the first record", payload)
	case min(s.CostNanoUSD, s.Tokens, s.Requests) < 0:
		return fmt.Errorf("%.80q is negative", payload)
	case bytes.Equal(payload, reserved(number, provider, request, s)) && number > l.last:
		l.last = number
		l.byRequest[request] = number
		l.unsettled[number] = reservation{provider, request, s}
	case bytes.Equal(payload, settled(number, s)) && open:
		l.close(number, s)
	default:
		return fmt.Errorf("%.80q does not follow from the records before it", payload)
	}
	return nil
}

// unquoteTwo reads two quoted texts with a space between them; missing ones are empty.
func unquoteTwo(s string) (a, b string) {
	first, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", ""
	}
	a, _ = strconv.Unquote(first)                                   // QuotedPrefix has checked it
	b, _ = strconv.Unquote(strings.TrimPrefix(s[len(first):], " ")) // what it is not is not written so
	return a, b
}

// parse reads a number; 0 if s is not one.
func parse(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}
