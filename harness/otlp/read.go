package otlp

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	resources "go.opentelemetry.io/proto/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/internal/regular"
)

// Bounds of what is read, in bytes after decompression, and of what is reported.
const (
	maxInput    = 1 << 30 // of all files
	maxProtobuf = regular.MaxSize
	maxSpan     = 32 << 20
	maxSpans    = 4_000_000
	maxProblems = 20
)

// Format reads files of traces: OTLP as JSON, JSON lines or protobuf, each also with gzip, and
// the JSON lines of the OpenAI Agents SDK.
type Format struct{}

// Suffixes implements imports.Format.
func (Format) Suffixes() []string {
	return []string{".json", ".jsonl", ".ndjson", ".pb", ".binpb", ".gz"}
}

// Read implements imports.Format. Spans of one trace may be in several files.
func (Format) Read(ctx context.Context, files []imports.File, o imports.Options, add func(*imports.Episode) error) (imports.Result, error) {
	c := newCollector(o.KeepGoing)
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return imports.Result{}, err
		}
		c.name = f.Source.Name
		if err := (decoder{c}).file(f.Path); err != nil && !errors.Is(err, errTooMany) {
			c.problem("", err)
		}
		if c.full() {
			break
		}
	}
	list := c.episodes(o.ByTrace)
	if len(c.problems) > 0 && !o.KeepGoing {
		if c.full() {
			c.problems = append(c.problems, "more problems are not listed")
		}
		return imports.Result{}, errors.New(strings.Join(append(c.problems, "import what is sound with --keep-going"), "\n"))
	}
	for i := range list {
		if err := add(&list[i]); err != nil {
			return imports.Result{}, err
		}
	}
	return imports.Result{Version: Version, LeftOut: c.leftOut, Problems: c.problems}, nil
}

// collector gathers the spans and log records of an import.
type collector struct {
	keepGoing bool
	name      string // of the file in progress
	spans     []*span
	events    []event
	leftOut   map[string]int
	problems  []string
	read      int64 // bytes
	maxBytes  int64
	maxSpans  int
	// conversations are those that traces of the OpenAI Agents SDK name, by trace.
	conversations map[string]string
}

func newCollector(keepGoing bool) *collector {
	return &collector{keepGoing: keepGoing, maxBytes: maxInput, maxSpans: maxSpans, leftOut: map[string]int{}, conversations: map[string]string{}}
}

// decoder reads files for a collector.
type decoder struct{ *collector }

// errTooMany ends the reading of a file when enough problems are known.
var errTooMany = errors.New("too many problems")

func (c *collector) full() bool { return !c.keepGoing && len(c.problems) >= maxProblems }

// problem notes what is wrong at a place in the file.
func (c *collector) problem(place string, err error) {
	text := c.name + ": "
	if place != "" {
		text += place + ": "
	}
	c.note(text + strings.ReplaceAll(err.Error(), "\u00a0", " ")) // protojson varies its spaces
}

func (c *collector) note(text string) {
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, text)
	}
	c.leftOut["problems"]++
}

// reader counts what a file takes of maxInput.
func (c *collector) reader(r io.Reader) io.Reader { return &bounded{r, c} }

type bounded struct {
	r io.Reader
	c *collector
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.c.read += int64(n); b.c.read > b.c.maxBytes {
		return n, fmt.Errorf("more than %d bytes in all; %w", b.c.maxBytes, errFull)
	}
	return n, err
}

func (c decoder) file(path string) error {
	f, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return c.stream(f)
}

// stream reads one file's content, whatever its encoding.
func (c decoder) stream(r io.Reader) error {
	in := bufio.NewReaderSize(c.reader(r), 64<<10)
	if head, _ := in.Peek(2); len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		z, err := gzip.NewReader(in)
		if err != nil {
			return err
		}
		in = bufio.NewReaderSize(c.reader(z), 64<<10)
	}
	head, err := in.Peek(64)
	switch {
	case len(head) == 0 && errors.Is(err, io.EOF):
		return errors.New("empty; export some traces first")
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case looksJSON.Match(head):
		return c.json(in)
	}
	data, err := io.ReadAll(io.LimitReader(in, maxProtobuf+1))
	if err == nil && len(data) > maxProtobuf {
		err = fmt.Errorf("more than %d bytes of protobuf; export smaller files", maxProtobuf)
	}
	if err != nil {
		return err
	}
	return c.protobuf(data)
}

// looksJSON tells JSON from protobuf, which may begin with white space and a brace, too: its first
// bytes are a field number, which is that of a line feed, and a length.
var looksJSON = regexp.MustCompile(`^\s*[\[{]\s*(["{}\[\]]|$)`)

// json reads a sequence of JSON values: a whole document, or one a line. Spans are decoded one by
// one, so that a large document takes little more memory than its spans.
func (c decoder) json(in io.Reader) error {
	dec := jsontext.NewDecoder(in, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	for n := 1; ; n++ {
		if dec.PeekKind() == '[' { // a list of documents
			if _, err := dec.ReadToken(); err != nil {
				return at(dec, err)
			}
		}
		if dec.PeekKind() == ']' {
			if _, err := dec.ReadToken(); err != nil {
				return at(dec, err)
			}
		}
		rest, err := c.document(dec, n)
		if errors.Is(err, io.EOF) && n > 1 {
			return nil
		}
		if err != nil {
			return at(dec, err)
		}
		if rest == nil {
			continue
		}
		if err := c.agents(rest, fmt.Sprintf("value %d", n)); err != nil {
			c.problem(fmt.Sprintf("value %d", n), err)
		}
		if c.full() {
			return errTooMany
		}
	}
}

// at adds where in the file an error is.
func at(dec *jsontext.Decoder, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the JSON ends early: the file was cut")
	}
	return fmt.Errorf("near byte %d: %w", dec.InputOffset(), err)
}

// document reads one JSON object. It returns its members if it is not OTLP.
func (c decoder) document(dec *jsontext.Decoder, n int) (rest map[string]jsontext.Value, err error) {
	rest = map[string]jsontext.Value{}
	known := false
	err = members(dec, func(name string) error {
		place := fmt.Sprintf("value %d, %s", n, name)
		switch name {
		case "resourceSpans", "resource_spans":
			known = true
			return c.resources(dec, place, "scopeSpans", "spans", c.jsonSpan)
		case "resourceLogs", "resource_logs":
			known = true
			return c.resources(dec, place, "scopeLogs", "logRecords", c.jsonLog)
		}
		v, err := dec.ReadValue()
		if len(v) > maxSpan {
			return fmt.Errorf("%s has %d bytes, more than %d", quote(name), len(v), maxSpan)
		}
		rest[name] = v.Clone()
		return err
	})
	if known {
		rest = nil
	}
	return rest, err
}

// members reads the members of an object with f, which reads the value.
func members(dec *jsontext.Decoder, f func(name string) error) error {
	return nested(dec, '{', func() error {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		return f(name.String())
	})
}

// nested reads an object or a list with f, which reads one member or item.
func nested(dec *jsontext.Decoder, open jsontext.Kind, f func() error) error {
	if got := dec.PeekKind(); got != open && got > 0 {
		return fmt.Errorf("%s is %s in place of %s", quote(string(dec.StackPointer())), kindWord(got), kindWord(open))
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' && dec.PeekKind() != ']' {
		if err := f(); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

func kindWord(k jsontext.Kind) string {
	switch k {
	case '{':
		return "an object"
	case '[':
		return "a list"
	}
	return "a " + k.String()
}

// resources reads a list of resources with their scopes and items.
func (c decoder) resources(dec *jsontext.Decoder, place, scopes, items string, item func(jsontext.Value, *resource, string) error) error {
	n := 0
	return nested(dec, '[', func() error {
		r := &resource{}
		place := fmt.Sprintf("%s[%d]", place, n)
		n++
		return members(dec, func(name string) error {
			switch {
			case name == "resource":
				v, err := dec.ReadValue()
				if err != nil {
					return err
				}
				var p resources.Resource
				if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(v, &p); err != nil {
					c.problem(place+".resource", err)
				}
				r.attrs = attributes(p.Attributes)
				return nil
			case strings.EqualFold(strings.ReplaceAll(name, "_", ""), scopes):
				return nested(dec, '[', func() error {
					return members(dec, func(name string) error {
						if !strings.EqualFold(strings.ReplaceAll(name, "_", ""), items) {
							return dec.SkipValue()
						}
						i := 0
						return nested(dec, '[', func() error {
							v, err := dec.ReadValue()
							if err != nil {
								return err
							}
							i++
							return c.item(v, r, fmt.Sprintf("%s, %s[%d]", place, items, i-1), item)
						})
					})
				})
			}
			return dec.SkipValue()
		})
	})
}

// item decodes a span or a log record; what is wrong with one leaves the next to be read.
func (c decoder) item(v jsontext.Value, r *resource, place string, decode func(jsontext.Value, *resource, string) error) error {
	if len(v) > maxSpan {
		return fmt.Errorf("%s has %d bytes, more than %d", place, len(v), maxSpan)
	}
	if err := decode(v, r, place); err != nil {
		c.problem(place, err)
	}
	if c.full() {
		return errTooMany
	}
	if len(c.spans)+len(c.events) > c.maxSpans {
		return fmt.Errorf("more than %d spans and log records; %w", c.maxSpans, errFull)
	}
	return nil
}

func (c decoder) jsonSpan(v jsontext.Value, r *resource, place string) error {
	var p trace.Span
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(v, &p); err != nil {
		return err
	}
	return c.span(&p, true, r, place)
}

func (c decoder) jsonLog(v jsontext.Value, r *resource, place string) error {
	var p logs.LogRecord
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(v, &p); err != nil {
		return err
	}
	c.log(&p, true, r, place)
	return nil
}

func (c *collector) span(p *trace.Span, encoded bool, r *resource, place string) error {
	s, err := newSpan(p, encoded, r)
	if err != nil {
		return err
	}
	s.place = c.name + ": " + place
	c.spans = append(c.spans, s)
	return nil
}

func (c *collector) log(p *logs.LogRecord, encoded bool, r *resource, place string) {
	e := newEvent(p, encoded, r)
	e.place = c.name + ": " + place
	c.events = append(c.events, e)
}

// unmarshal decodes one message of protobuf.
func unmarshal(data []byte, m proto.Message) error {
	if err := proto.Unmarshal(data, m); err != nil {
		return errors.New("not a valid message: the file was cut or changed")
	}
	return nil
}
