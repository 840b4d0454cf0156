package formats

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/internal/regular"
)

// Inspect reads logs of Inspect, as .json and as .eval, an archive with a file for each sample.
type Inspect struct{}

// Suffixes implements imports.Format.
func (Inspect) Suffixes() []string { return []string{".json", ".eval"} }

const (
	// inspectVersion is the newest version of logs that is known.
	inspectVersion = 3
	maxHeader      = 64 << 20
	maxSample      = 256 << 20
	// zstdMethod is the method of Zstandard in archives.
	zstdMethod = zstd.ZipMethodWinZip
)

// inspectEval is what all samples of a log share.
type inspectEval struct {
	Task    string  `json:"task"`
	Model   string  `json:"model"`
	Created string  `json:"created"`
	Others  members `json:",embed"`
}

// inspectHead are the members of a log besides its samples.
type inspectHead struct {
	Version int         `json:"version"`
	Eval    inspectEval `json:"eval"`
	Others  members     `json:",embed"`
}

func (h *inspectHead) check() error {
	switch {
	case h.Version > inspectVersion:
		return fmt.Errorf("version %d of logs is newer than %d, the newest that is known", h.Version, inspectVersion)
	case h.Eval.Task == "" || h.Eval.Model == "":
		return errors.New("a log of Inspect has eval with task and model before its samples")
	}
	return nil
}

// Read implements imports.Format. A candidate is a model, a task a sample of an Inspect task, a trial an
// epoch.
func (Inspect) Read(ctx context.Context, files []imports.File, o imports.Options, add func(*imports.Episode) error) (imports.Result, error) {
	r := imports.NewRows(o, add)
	for _, f := range files {
		if path.Ext(f.Source.Name) == ".eval" {
			r.File(ctx, f, func() error { return inspectArchive(ctx, r, f.Path) })
			continue
		}
		r.Files(ctx, []imports.File{f}, func(in *bufio.Reader) error {
			return inspectLog(ctx, r, imports.NewDocument(&finite{in: in}))
		})
	}
	return r.Result(fmt.Sprintf("Inspect, version %d of logs", inspectVersion))
}

// inspectLog reads a log as JSON.
func inspectLog(ctx context.Context, r *imports.Rows, d *imports.Document) error {
	var head inspectHead
	found := false
	err := d.Members(func(name string) error {
		if name == "samples" && d.IsArray() {
			found = true
			if err := head.check(); err != nil {
				return err
			}
			return d.Items(func() error {
				return r.Value(ctx, d, func(row []byte) error { return inspectSample(r, &head.Eval, row) })
			})
		}
		v, err := d.Value()
		if err != nil {
			return err
		}
		switch name {
		case "version":
			return imports.Decode(v, &head.Version)
		case "eval":
			err = imports.Decode(v, &head.Eval)
			r.Unknown("eval.", head.Eval.Others)
			return err
		}
		r.Unknown("", members{name: slices.Clone(v)})
		return nil
	})
	if err == nil && !found {
		err = errors.Join(head.check(), errors.New("the log has no samples"))
	}
	return err
}

// inspectArchive reads a log as an archive.
func inspectArchive(ctx context.Context, r *imports.Rows, name string) error {
	f, err := regular.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(f, info.Size())
	if err != nil {
		return fmt.Errorf("not an archive of Inspect: %w", err)
	}
	z.RegisterDecompressor(zstdMethod, zstd.ZipDecompressor())
	head, err := inspectHeader(z)
	if err != nil {
		return err
	}
	r.Unknown("eval.", head.Eval.Others)
	r.Unknown("", head.Others)
	found := false
	for _, entry := range z.File {
		if !strings.HasPrefix(entry.Name, "samples/") || path.Ext(entry.Name) != ".json" {
			continue
		}
		found = true
		err := r.Row(ctx, " "+entry.Name, func() error {
			text, err := extract(entry, maxSample)
			if err != nil {
				return err
			}
			return inspectSample(r, &head.Eval, text)
		})
		if err != nil {
			return err
		}
	}
	if !found {
		return errors.New("the log has no samples")
	}
	return nil
}

// inspectHeader reads what all samples share; a log that was cut off has it in its journal only.
func inspectHeader(z *zip.Reader) (head inspectHead, err error) {
	for _, name := range []string{"header.json", "_journal/start.json"} {
		i := slices.IndexFunc(z.File, func(f *zip.File) bool { return f.Name == name })
		if i < 0 {
			continue
		}
		text, err := extract(z.File[i], maxHeader)
		if err == nil {
			err = imports.Decode(text, &head)
		}
		if err == nil {
			err = head.check()
		}
		if err != nil {
			return head, fmt.Errorf("%s: %w", name, err)
		}
		return head, nil
	}
	return head, errors.New("not an archive of Inspect: it has neither header.json nor _journal/start.json")
}

// extract reads a file of an archive, of at most limit bytes.
func extract(f *zip.File, limit int64) ([]byte, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(&finite{in: in}, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return b.Bytes(), err
}

// finite replaces NaN and Infinity, which Python writes as JSON, by null.
type finite struct {
	in           io.Reader
	rest         []byte // read and converted, not returned yet
	skip         int    // bytes of the word in progress
	text, escape bool   // within a string, and after a backslash in it
	minus        bool
	buf          [32 << 10]byte
}

// Read implements io.Reader.
func (f *finite) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		n, err := f.in.Read(f.buf[:])
		f.rest = f.convert(f.rest[:0], f.buf[:n])
		if len(f.rest) == 0 && err != nil {
			if f.minus {
				f.minus, f.rest = false, append(f.rest, '-')
				break
			}
			return 0, err
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

func (f *finite) convert(out, in []byte) []byte {
	for _, c := range in {
		if f.skip > 0 {
			f.skip--
			continue
		}
		if f.minus && c != 'I' {
			out = append(out, '-')
		}
		f.minus = false
		switch {
		case f.escape:
			f.escape = false
		case f.text:
			f.escape, f.text = c == '\\', c != '"'
		case c == '"':
			f.text = true
		case c == 'N':
			f.skip, out = len("aN"), append(out, "null"...)
			continue
		case c == 'I':
			f.skip, out = len("nfinity"), append(out, "null"...)
			continue
		case c == '-':
			f.minus = true
			continue
		}
		out = append(out, c)
	}
	return out
}
