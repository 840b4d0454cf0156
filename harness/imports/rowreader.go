package imports

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/regular"
)

// Bounds of a row, in bytes, and of the problems that are listed.
const (
	maxRow      = 64 << 20
	maxProblems = 20
)

// Rows reads the rows of files that hold JSON lines, a JSON array or one object, each also with gzip,
// one at a time. A format embeds it; its methods note what was wrong and what was left out.
type Rows struct {
	keepGoing bool
	result    Result
	name      string // of the file in progress
	place     string // of the row in progress
	add       func(*Episode) error
	// fatal is an error of add, or of a file that cannot be read further.
	fatal error
}

// NewRows returns a reader that passes episodes to add.
func NewRows(o Options, add func(*Episode) error) *Rows {
	return &Rows{keepGoing: o.KeepGoing, add: add, result: Result{LeftOut: map[string]int{}}}
}

// errFull ends the reading when enough problems are known.
var errFull = errors.New("more problems are not listed")

// Problem notes what is wrong with the row in progress.
func (r *Rows) Problem(err error) {
	if r.result.LeftOut["bad rows"]++; len(r.result.Problems) < maxProblems {
		r.result.Problems = append(r.result.Problems, r.name+r.place+": "+err.Error())
	}
}

// LeftOut counts something that becomes no part of an episode.
func (r *Rows) LeftOut(name string) { r.result.LeftOut[name]++ }

// Unknown counts the members of objects that the format does not read, by their names below path,
// such as "messages[].". Members without a value are not counted.
func (r *Rows) Unknown(path string, members map[string]jsontext.Value) {
	for name, v := range members {
		switch string(v) {
		case "null", "{}", "[]", `""`:
		default:
			r.result.LeftOut["field "+path+clip.Bytes(name, maxTitle)]++
		}
	}
}

// Add passes an episode on, with Mode as its strategy unless it names one. Its first error ends the
// reading.
func (r *Rows) Add(e *Episode) {
	e.Agent = cmp.Or(e.Agent, Mode)
	if r.fatal == nil {
		r.fatal = r.add(e)
	}
}

// Result returns what was left out, or the problems as an error.
func (r *Rows) Result(version string) (Result, error) {
	if r.fatal != nil && !errors.Is(r.fatal, errFull) {
		return Result{}, r.fatal
	}
	r.result.Version = version
	if len(r.result.Problems) > 0 && !r.keepGoing {
		list := r.result.Problems
		if more := r.result.LeftOut["bad rows"] - len(list); more > 0 || r.fatal != nil {
			list = append(list, errFull.Error())
		}
		return Result{}, errors.New(strings.Join(append(list, "import what is sound with --keep-going"), "\n"))
	}
	return r.result, nil
}

// Files opens each file and calls f with its content, decompressed.
func (r *Rows) Files(ctx context.Context, files []File, f func(in *bufio.Reader) error) {
	for _, file := range files {
		r.File(ctx, file, func() error { return r.open(file.Path, f) })
	}
}

// File calls f for a file, unless nothing is to be read any more.
func (r *Rows) File(ctx context.Context, file File, f func() error) {
	r.name, r.place = file.Source.Name, ""
	if r.fatal == nil {
		r.fatal = ctx.Err()
	}
	if r.done() {
		return
	}
	if err := f(); err != nil && r.fatal == nil {
		r.Problem(err)
	}
}

// done says that nothing is to be read any more.
func (r *Rows) done() bool {
	if r.fatal == nil && !r.keepGoing && len(r.result.Problems) >= maxProblems {
		r.fatal = errFull
	}
	return r.fatal != nil
}

func (r *Rows) open(path string, f func(in *bufio.Reader) error) error {
	file, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	in := bufio.NewReaderSize(file, 256<<10)
	if head, _ := in.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return err
		}
		in = bufio.NewReaderSize(z, 256<<10)
	}
	return f(in)
}

// Each calls f with the rows of files: the lines, or the items of an array. What is wrong with one
// leaves the next to be read. Row is only valid until f returns.
func (r *Rows) Each(ctx context.Context, files []File, f func(row []byte) error) {
	r.Files(ctx, files, func(in *bufio.Reader) error { return r.rows(ctx, in, f) })
}

func (r *Rows) rows(ctx context.Context, in *bufio.Reader, f func([]byte) error) error {
	head, err := first(in)
	if err != nil {
		return err
	}
	if head == '[' || spread(in) {
		d := NewDocument(in)
		item := func() error { return r.Value(ctx, d, f) }
		if head == '[' {
			return d.Items(item)
		}
		return item()
	}
	for n := 1; ; n++ {
		line, err := readLine(in)
		if len(bytes.TrimSpace(line)) > 0 {
			if err := r.Row(ctx, fmt.Sprintf(":%d", n), func() error { return f(line) }); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			r.place = fmt.Sprintf(":%d", n)
			return err
		}
	}
}

// Value reads the next value of a document as a row.
func (r *Rows) Value(ctx context.Context, d *Document, f func(row []byte) error) error {
	v, err := d.Value()
	if err != nil {
		return err
	}
	return r.Row(ctx, fmt.Sprintf(":%d", d.line()), func() error { return f(v) })
}

// Values reads a file that holds rows, or one object that whole matches the beginning of: top reads its
// members, and calls row for each row that it finds.
func (r *Rows) Values(ctx context.Context, in *bufio.Reader, whole *regexp.Regexp, top func(d *Document, row func() error) error, f func(row []byte) error) error {
	if head, _ := in.Peek(1 << 10); !whole.Match(head) {
		return r.rows(ctx, in, f)
	}
	d := NewDocument(in)
	return top(d, func() error { return r.Value(ctx, d, f) })
}

// Row calls f for a row at a place, such as ":7", below the file in progress. What is wrong with it is
// noted; what Row returns ends the file.
func (r *Rows) Row(ctx context.Context, place string, f func() error) error {
	r.place = place
	if err := f(); err != nil {
		r.Problem(err)
	}
	r.place = ""
	if r.fatal == nil {
		r.fatal = ctx.Err()
	}
	if r.done() {
		return r.fatal
	}
	return nil
}

// spread says that a file is one object over several lines, by the end of its first line.
func spread(in *bufio.Reader) bool {
	head, _ := in.Peek(4 << 10)
	line, _, more := bytes.Cut(head, []byte("\n"))
	line = bytes.TrimSpace(line)
	return more && len(line) > 0 && bytes.IndexByte([]byte("{[,"), line[len(line)-1]) >= 0
}

// first returns the first byte that is not white space, and leaves it to be read.
func first(in *bufio.Reader) (byte, error) {
	for {
		c, err := in.ReadByte()
		if errors.Is(err, io.EOF) {
			return 0, errors.New("empty")
		}
		if err != nil {
			return 0, err
		}
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c, in.UnreadByte()
		}
	}
}

// readLine reads a line of at most maxRow bytes, which is valid until the next read.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	whole := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = in.ReadSlice('\n')
		if whole = append(whole, line...); len(whole) > maxRow {
			return nil, fmt.Errorf("a line has more than %d bytes", maxRow)
		}
	}
	return whole, err
}

// Decode reads a row into v, whose member of type map[string]jsontext.Value with the option embed
// gets the fields that v lacks.
func Decode(row []byte, v any) error {
	err := json.Unmarshal(row, v, lenient)
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON: %w", syntax.Err)
	case errors.As(err, &semantic):
		return fmt.Errorf("%s: a JSON %s is not what the format has there", semantic.JSONPointer, semantic.JSONKind)
	}
	return err
}

// lenient accepts what foreign programs write.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
