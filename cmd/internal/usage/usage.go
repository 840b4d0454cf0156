// Package usage reads recorded exchanges from cassettes, packs and JSON lines, and says how much of the
// providers' usage in them cupel understands.
package usage

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/audit"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/packs"
)

// New makes an auditor of all wires.
func New(prices price.Table) *audit.Auditor {
	return audit.New(audit.Options{Factories: all.Factories(), WireOf: all.Wires(), Fields: all.UsageFields(), Prices: prices})
}

// Read reads a file, or every file of a folder that contains exchanges. Its error joins
// what cannot be read.
func Read(a *audit.Auditor, name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("read recorded exchanges: %w", err)
	}
	folder, root := filepath.Dir(name), filepath.Base(name)
	if info.IsDir() {
		folder, root = name, "."
	}
	files := regular.DirFS(folder)
	var bad []error
	err = fs.WalkDir(files, root, func(below string, d fs.DirEntry, err error) error {
		shown := filepath.Join(folder, filepath.FromSlash(below))
		switch {
		case err == nil && d.IsDir() && packs.Is(shown):
			bad = append(bad, auditPack(a, files, below, shown))
			return fs.SkipDir
		case err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") && below != root:
			return err
		}
		bad = append(bad, auditFile(a, files, below, shown, below == root))
		return nil
	})
	return errors.Join(append(bad, err)...)
}

// auditFile reads a file by the extension of its name, and ignores other extensions. shown
// is the name in messages; named says that the user named this file, not its folder.
func auditFile(a *audit.Auditor, files fs.FS, name, shown string, named bool) error {
	switch path.Ext(name) {
	case ".yaml", ".yml":
		err := auditCassette(a, files, name, shown)
		if text, _ := fs.ReadFile(files, name); err != nil && !named && !bytes.Contains(text, []byte("interactions:")) {
			return nil // YAML of another kind
		}
		return err
	case ".jsonl":
		f, err := files.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // only read: nothing can be lost
		var bad []error
		for x, err := range audit.Lines(shown, f) {
			if err != nil {
				bad = append(bad, err)
			} else {
				a.Add(x)
			}
		}
		return errors.Join(bad...)
	case ".pack":
		return auditPack(a, files, name, shown)
	}
	return nil
}

// auditPack reads the cassettes in a pack, which is a file or a folder.
func auditPack(a *audit.Auditor, files fs.FS, name, shown string) error {
	pack, err := packs.Open(files, name)
	if err != nil {
		return err
	}
	defer func() { _ = pack.Close() }() // only read: nothing can be lost
	var bad []error
	for _, inside := range pack.Names() {
		bad = append(bad, auditCassette(a, pack, inside, shown+"/"+inside))
	}
	return errors.Join(bad...)
}

// auditCassette reads the exchanges of a cassette that cupel or go-vcr wrote.
func auditCassette(a *audit.Auditor, files fs.FS, name, shown string) error {
	c, err := cassette.Inspect(cassette.File{FS: files, Path: name, AllowUnsealed: true})
	if err != nil {
		return fmt.Errorf("%s: %w", shown, err)
	}
	for i := range c.Interactions {
		r := c.Recorded(i)
		if r.Role != "" {
			continue // another provider may have answered it, which the cassette does not name
		}
		header := http.Header{}
		for key, values := range r.Header {
			header[http.CanonicalHeaderKey(key)] = values
		}
		day, _ := time.Parse(time.DateOnly, c.Header.Recorded) // else that of the reply
		a.Add(audit.Exchange{
			Name: fmt.Sprintf("%s#%d", shown, i), Provider: c.Header.Provider, Method: r.Method, URL: r.URL, Request: []byte(r.Request),
			Status: r.Status, Header: header, Body: []byte(r.Body), Failed: r.Status == 0 || r.Failure != "", Day: day,
		})
	}
	return nil
}

// Line says how much of the usage on a candidate's cassettes is understood.
func Line(suite *goldens.Suite, c goldens.Candidate, trials int, prices price.Table) string {
	files, closeAll, err := cassettes.Open(suite)
	if err != nil {
		return err.Error()
	}
	defer closeAll()
	a := New(prices)
	for _, t := range suite.Tasks {
		for trial := 1; trial <= max(trials, 1) && !t.Scripted && files != nil; trial++ {
			name := cassettes.Path(t.ID, c.Name, trial)
			_ = auditCassette(a, files, name, name) // what is missing or corrupt, cupel cassette status says
		}
	}
	replies := 0
	var doubts []string
	for _, w := range a.Report().Wires {
		replies += w.Reported
		for _, f := range w.NotUnderstood {
			doubts = append(doubts, fmt.Sprintf("%s (%d)", console.Line(f.What), f.Count))
		}
	}
	switch {
	case replies == 0:
		return "nothing recorded"
	case doubts == nil:
		return fmt.Sprintf("understood in all %d recorded replies", replies)
	}
	return fmt.Sprintf("not understood, so that the cost is unknown: %s; of %d recorded replies", strings.Join(doubts, "; "), replies)
}
