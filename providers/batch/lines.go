package batch

import (
	"bufio"
	"bytes"
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

// eachLine calls f with every line of JSON Lines that is not empty, until f returns an error. It
// skips lines of more than maxLine bytes.
func eachLine(op string, resp *http.Response, f func(line []byte) error) error {
	defer func() { _ = resp.Body.Close() }()
	in := bufio.NewReaderSize(resp.Body, 64<<10)
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return &Error{Op: op, Err: errors.Join(errEarly, err)}
		}
		if text := bytes.TrimSpace(line); len(text) > 0 && !long {
			if failed := f(bytes.Clone(text)); failed != nil {
				return &Error{Op: op, Err: failed}
			}
		}
		if err != nil {
			return nil
		}
		line, long = line[:0], false
	}
}

// result makes the result of an item. A status that HTTP does not have becomes 502.
func result(id string, status int, body []byte) Result {
	if status < 200 || status > 599 {
		status = http.StatusBadGateway
	}
	return Result{ID: id, Status: status, Header: jsonHeader(), Body: body}
}

// quoted is a JSON string without HTML escapes.
func quoted(s string) string {
	text, _ := json.Marshal(s) // a string can always be encoded
	return string(text)
}
