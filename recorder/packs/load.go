package packs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/recorder/cassette"
)

// numbered matches the names of a folder's files.
var numbered = regexp.MustCompile(`^([0-9]{6,12})\.(pack|segment|journal)$`)

// load reads what the folder has. A file that is removed meanwhile was superseded, so it begins
// again.
func (f *Folder) load() error {
	for range 100 {
		err := f.tryLoad()
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return errors.New("its files change all the time")
}

func (f *Folder) tryLoad() error {
	entries, err := fs.ReadDir(f.files, ".")
	if err != nil && (f.dir == "" || !errors.Is(err, fs.ErrNotExist)) {
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("it does not exist")
		}
		return err
	}
	fresh := &Folder{cassettes: map[string]place{}, journals: map[string]*journal{}}
	other := ""
	for _, e := range entries {
		m := numbered.FindStringSubmatch(e.Name())
		switch {
		case m == nil && !strings.HasPrefix(e.Name(), "."):
			other = e.Name()
		case m != nil && (m[2] != journalExt[1:] || f.dir != ""): // only a writer may read journals
			number, _ := strconv.Atoi(m[1])
			fresh.last = max(fresh.last, number)
			fresh.parts = append(fresh.parts, &part{number: number, ext: "." + m[2], name: e.Name()})
		}
	}
	if other != "" && len(fresh.parts) == 0 {
		return &cassette.CorruptError{Path: other, Reason: "this folder is not a pack; name another folder, or a file of `cupel cassette pack`"}
	}
	slices.SortFunc(fresh.parts, func(a, b *part) int { return a.number - b.number })
	for _, p := range fresh.parts {
		if err := fresh.open(f.files, p); err != nil {
			_ = fresh.Close() // only read
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	old := f.parts
	f.parts, f.last, f.cassettes, f.journals = fresh.parts, fresh.last, fresh.cassettes, fresh.journals
	return closeParts(old)
}

// open reads one file, which supersedes those before it.
func (f *Folder) open(files fs.FS, p *part) error {
	if p.ext == packExt {
		pack, err := cassette.OpenPack(files, p.name)
		if err != nil {
			return err
		}
		p.pack, p.close = pack, pack.Close
		for _, name := range pack.Names() {
			f.cassettes[name] = place{in: p}
		}
		return nil
	}
	file, err := files.Open(p.name)
	if err != nil {
		return err
	}
	p.close = file.Close
	info, err := file.Stat()
	if err != nil {
		return err
	}
	at, ok := file.(io.ReaderAt)
	if !ok {
		return fmt.Errorf("%s: its file system cannot read at an offset", p.name)
	}
	p.at, p.size = at, info.Size()
	damage, err := scan(at, p.size, func(rec record) { f.apply(p, rec) })
	for _, at := range damage {
		p.damage = append(p.damage, damaged(p.name, at))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}

// apply does what a record says. It returns the places that the record supersedes.
func (f *Folder) apply(p *part, rec record) (superseded []place) {
	at := place{p, rec}
	if isCassette(rec.name) {
		if rec.kind == removal {
			delete(f.cassettes, rec.name)
		} else {
			f.cassettes[rec.name] = at
		}
		return nil
	}
	j := f.journals[rec.name]
	if j != nil && rec.kind != addition {
		superseded, j = j.places, nil
	}
	if rec.kind == removal {
		delete(f.journals, rec.name)
		return superseded
	}
	if j == nil {
		j = &journal{}
		f.journals[rec.name] = j
	}
	j.places, j.size = append(j.places, at), j.size+int64(rec.plain)
	return superseded
}

// Is reports whether a path is a folder that has the files of a pack.
func Is(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return numbered.MatchString(e.Name()) })
}
