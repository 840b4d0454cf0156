package packs

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/cupel-eval/cupel/internal/parallel"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// maxPack is the number of cassettes from which Compact begins another pack. Tests make it
// small.
var maxPack = 50_000

// Compacted describes a folder after Compact.
type Compacted struct {
	// Cassettes is the number of cassettes, Files that of the packs that have them.
	Cassettes, Files int
	// Bytes is the size of the packs.
	Bytes int64
}

// Compact turns segments into packs, together with small packs and those of which an eighth is
// superseded, or with all set, anything. It writes new packs before it removes the files that
// they replace, so a kill at any moment loses nothing. A cassette that cannot be read is a
// *cassette.CorruptError, and the folder stays as it is. Of a damaged segment it keeps what is
// intact. Compact locks the folder.
func (f *Folder) Compact(all bool) (Compacted, error) {
	unlock, err := f.Lock()
	if err != nil {
		return Compacted{}, err
	}
	defer unlock()
	inputs, names := f.inputs(all)
	if len(inputs) > 0 {
		if err := f.replace(inputs, names); err != nil {
			return Compacted{}, fmt.Errorf("compact pack %s: %w", f.dir, err)
		}
	}
	return f.compacted()
}

func (f *Folder) compacted() (c Compacted, err error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	c.Cassettes = len(f.cassettes)
	for _, p := range f.parts {
		if p.pack == nil {
			continue
		}
		info, err := os.Stat(f.path(p.name))
		if err != nil {
			return c, err
		}
		c.Files, c.Bytes = c.Files+1, c.Bytes+info.Size()
	}
	return c, nil
}

// inputs are the files to replace, by number, and the cassettes that are read from them, sorted.
func (f *Folder) inputs(all bool) (inputs []*part, names []string) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	live := map[*part]int{}
	for _, at := range f.cassettes {
		live[at.in]++
	}
	chosen := map[*part]bool{}
	var packs []*part
	n := 0
	for _, p := range f.parts {
		switch {
		case p.ext == segmentExt, p.pack != nil && f.outdated(p, live[p], all):
			chosen[p] = true
			n += live[p]
		case p.pack != nil:
			packs = append(packs, p)
		}
	}
	slices.SortFunc(packs, func(a, b *part) int { return cmp.Compare(live[a], live[b]) })
	for _, p := range packs { // so that there are never many small ones
		if n == 0 || live[p] > 2*n || live[p] >= maxPack {
			break
		}
		chosen[p] = true
		n += live[p]
	}
	for name, at := range f.cassettes {
		if chosen[at.in] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, p := range f.parts {
		if chosen[p] {
			inputs = append(inputs, p)
		}
	}
	return inputs, names
}

// outdated reports whether so much of a pack is superseded that it is written again. A removed
// cassette must leave its pack together with the segment that removes it. The caller must have
// locked.
func (f *Folder) outdated(p *part, live int, all bool) bool {
	dead := p.pack.Len() - live
	if dead > 0 && (all || 8*dead > p.pack.Len()) {
		return true
	}
	return dead > 0 && slices.ContainsFunc(p.pack.Names(), func(name string) bool { _, ok := f.cassettes[name]; return !ok })
}

// subset is an archive with some of the cassettes of a folder.
type subset struct {
	*Folder
	names []string
}

// Names implements cassette.Archive.
func (s subset) Names() []string { return s.names }

// replace writes cassettes to new packs, and removes the files that had them.
func (f *Folder) replace(inputs []*part, names []string) error {
	var sets [][]string
	if n := len(names); n > 0 {
		count := (n + maxPack - 1) / maxPack
		sets = slices.Collect(slices.Chunk(names, (n+count-1)/count))
	}
	f.mu.Lock()
	outputs := make([]*part, len(sets))
	for i := range sets {
		f.last++
		outputs[i] = &part{number: f.last, ext: packExt, name: partName(f.last, packExt)}
	}
	f.mu.Unlock()
	if err := f.writePacks(outputs, sets); err != nil {
		for _, p := range outputs {
			err = errors.Join(err, remove(f.path(p.name)))
		}
		return err
	}
	f.mu.Lock()
	for i, p := range outputs {
		for _, name := range sets[i] {
			f.cassettes[name] = place{in: p}
		}
	}
	f.parts = append(f.parts, outputs...)
	f.mu.Unlock()
	return f.drop(inputs)
}

// remove removes a file if it exists.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// writePacks writes and opens the packs, on all processors.
func (f *Folder) writePacks(outputs []*part, sets [][]string) error {
	errs := make([]error, len(sets))
	parallel.Each(len(sets), func(i int) {
		p := outputs[i]
		if _, err := cassette.WritePack(f.path(p.name), subset{f, sets[i]}); err != nil {
			errs[i] = err
			return
		}
		p.pack, errs[i] = cassette.OpenPack(f.files, p.name)
		if errs[i] == nil {
			p.close = p.pack.Close
		}
	})
	if err := errors.Join(errs...); err != nil {
		return errors.Join(err, closeParts(outputs))
	}
	return nil
}
