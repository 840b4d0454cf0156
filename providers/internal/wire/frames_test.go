package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// frames splits a text in one read and byte by byte, which must give the same frames.
func frames(t *testing.T, framing Framing, text string) []Frame {
	t.Helper()
	var whole, bytewise []Frame
	require.NoError(t, framing.Cut(strings.NewReader(text), 1<<20, func(f Frame) error { whole = append(whole, f); return nil }))
	require.NoError(t, framing.Cut(iotest.OneByteReader(strings.NewReader(text)), 1<<20, func(f Frame) error { bytewise = append(bytewise, f); return nil }))
	require.Equal(t, whole, bytewise)
	return whole
}

func TestEventsAreCut(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []Frame
	}{
		{"named", "event: a\ndata: 1\n\nevent: b\ndata: 2\n\n", []Frame{{"a", "1"}, {"b", "2"}}},
		{"the name goes with its event alone", "event: a\ndata: 1\n\ndata: 2\n\n", []Frame{{"a", "1"}, {"", "2"}}},
		{"the name comes late", "data: 1\nevent: a\n\n", []Frame{{"a", "1"}}},
		{"no space after the colon", "event:a\ndata:1\n\n", []Frame{{"a", "1"}}},
		{"one space is cut, no more", "data:  1 \n\n", []Frame{{"", " 1 "}}},
		{"several lines of data", "data: 1\ndata:\ndata: 2\n\n", []Frame{{"", "1\n\n2"}}},
		{"CRLF", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", []Frame{{"a", "1"}, {"", "2"}}},
		{"CR", "event: a\rdata: 1\r\rdata: 2\r\r", []Frame{{"a", "1"}, {"", "2"}}},
		{"mixed", "data: 1\r\ndata: 2\r\n\ndata: 3\n\r\n", []Frame{{"", "1\n2"}, {"", "3"}}},
		{"comments", ": hello\n\n:\n\ndata: 1\n: in between\ndata: 2\n\n", []Frame{{"", "1\n2"}}},
		{"ids, retries and unknown fields", "id: 7\nretry: 10\nmood: good\ndata: 1\n\nid\n\n", []Frame{{"", "1"}}},
		{"events without data", "event: a\n\ndata\n\ndata:\n\ndata: 1\n\n", []Frame{{"", "1"}}},
		{"no blank line at the end", "data: 1\n\ndata: 2\n", []Frame{{"", "1"}, {"", "2"}}},
		{"no line break at the end", "data: 1\n\nevent: b\ndata: 2", []Frame{{"", "1"}, {"b", "2"}}},
		{"blank lines", "\n\r\n\ndata: 1\n\n\n\n\ndata: 2\n\n", []Frame{{"", "1"}, {"", "2"}}},
		{"byte order mark", "\ufeffdata: 1\n\n", []Frame{{"", "1"}}},
		{"a colon in the data", "data: a: b\n\n", []Frame{{"", "a: b"}}},
		{"nothing", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, frames(t, Events, c.text))
		})
	}
}

func TestLinesAreCut(t *testing.T) {
	require.Equal(t, []Frame{{Data: `{"a":1}`}, {Data: "x"}}, frames(t, Lines, "\n{\"a\":1}\r\n \t\n x "))
	require.Nil(t, frames(t, Lines, " \n"))
}

func TestCuttingStops(t *testing.T) {
	bad := errors.New("bad")
	for name, framing := range map[string]Framing{"events": Events, "lines": Lines} {
		t.Run(name, func(t *testing.T) {
			n := 0
			err := framing.Cut(strings.NewReader("data: 1\n\ndata: 2\n\n"), 1<<10, func(Frame) error { n++; return bad })
			require.ErrorIs(t, err, bad)
			require.Equal(t, 1, n)
			err = framing.Cut(io.MultiReader(strings.NewReader("data: 1\n\n"), iotest.ErrReader(bad)), 1<<10, func(Frame) error { return nil })
			require.ErrorIs(t, err, bad)
			err = framing.Cut(strings.NewReader("data: "+strings.Repeat("x", 1<<16)+"\n\n"), 1<<10, func(Frame) error { return nil })
			require.Error(t, err)
		})
	}
}

func TestStreamsAreKnownByTheirBeginning(t *testing.T) {
	for head, want := range map[string]bool{
		"data: {}": true, "data:[1]": true, "event: a": true, ": ping": true, "id: 1": true, "retry: 10": true,
		"": false, "data": false, `{"data":1}`: false, `[{"event":1}]`: false, "<html>:": false, "Error: x": false, "database: down": false,
	} {
		for _, asked := range []bool{true, false} {
			require.Equal(t, want, Events.Starts([]byte(head), asked), head)
		}
	}
	require.True(t, Lines.Starts([]byte("{"), true))
	require.False(t, Lines.Starts([]byte("{"), false))
}

// plainEvents returns the fields of each event by the standard, for any line ending. It
// is a slow and simple implementation, with which cutEvents is compared.
func plainEvents(text string) (list []Frame) {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	var name string
	var data []string
	for line := range strings.SplitSeq(text+"\n\n", "\n") {
		field, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimPrefix(value, " "); {
		case line == "":
			if joined := strings.Join(data, "\n"); joined != "" {
				list = append(list, Frame{name, joined})
			}
			name, data = "", nil
		case field == "event":
			name = value
		case field == "data":
			data = append(data, value)
		}
	}
	return list
}

func FuzzEvents(f *testing.F) {
	f.Add("event: a\ndata: 1\ndata: 2\n\n: c\n\ndata:3")
	f.Add("data: 1\r\n\r\ndata: 2\r\rid: 1\n\n")
	f.Add("\ufeffdata\n\nevent\ndata:\ndata: \n\n")
	f.Add("data: 1\r")
	f.Fuzz(func(t *testing.T, text string) {
		require.Equal(t, plainEvents(text), frames(t, Events, text))
	})
}

func FuzzLines(f *testing.F) {
	f.Add("{}\n\n{} \r\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range frames(t, Lines, text) {
			require.NotEmpty(t, l.Data)
			require.NotContains(t, l.Data, "\n")
		}
	})
}

// talk returns a stream of 1,000 events, as providers send them.
func talk() []byte {
	return []byte(strings.Repeat("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"angry 17, sad 4, \"}}\n\n", 1000))
}

// Floor: BenchmarkEventsFloor, bufio.Scanner over the same bytes, which finds every
// line once and keeps none. Events also keeps the data. The target is over 200 MB/s.
func BenchmarkEvents(b *testing.B) {
	body := talk()
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		n := 0
		if err := cutEvents(bytes.NewReader(body), 1<<20, func(Frame) error { n++; return nil }); err != nil || n != 1000 {
			b.Fatal(err, n)
		}
	}
}

func BenchmarkEventsFloor(b *testing.B) {
	body := talk()
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		n := 0
		for s := bufio.NewScanner(bytes.NewReader(body)); s.Scan(); n++ {
		}
		if n != 3000 {
			b.Fatal(n)
		}
	}
}
