package batch

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// segments reads texts one after another, without a copy of them together.
type segments struct {
	list   []string
	length int64
}

func (s *segments) add(texts ...string) {
	for _, t := range texts {
		s.list = append(s.list, t)
		s.length += int64(len(t))
	}
}

func (s *segments) reader() io.Reader {
	readers := make([]io.Reader, len(s.list))
	for i, t := range s.list {
		readers[i] = strings.NewReader(t)
	}
	return io.MultiReader(readers...)
}

// eachLine calls f with every line of JSON Lines that is not empty.
func eachLine(op string, resp *http.Response, f func(line []byte) error) error {
	defer func() { _ = resp.Body.Close() }()
	in := bufio.NewReaderSize(resp.Body, 64<<10)
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) && len(line) <= maxLine {
			continue
		}
		if len(line) > maxLine {
			return &Error{Op: op, Err: errors.New("a result is too long")}
		}
		if text := strings.TrimSpace(string(line)); text != "" {
			if failed := f([]byte(text)); failed != nil {
				return &Error{Op: op, Err: failed}
			}
		}
		line = line[:0]
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return &Error{Op: op, Err: errors.Join(errEarly, err)}
		}
	}
}

// quoted is a JSON string without HTML escapes.
func quoted(s string) string {
	text, _ := json.Marshal(s) // a string can always be encoded
	return string(text)
}
