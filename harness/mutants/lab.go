package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Lines that the golden suites' test writes about a mutant.
const (
	killedBy  = "killed by: "
	noVerdict = "no verdict: "
)

const (
	goldensPackage = "./harness/mutants"
	goldensTest    = "TestOutcomes"
)

// fastBuild leaves out the optimiser and debug information: building takes longer
// than running the golden suites.
const fastBuild = "-gcflags=./...=-N -l -dwarf=false"

// Limits after which a mutant that does not end counts as killed.
const (
	goldensTimeout = time.Minute
	testTimeout    = 5 * time.Minute
)

// result is the outcome of a mutant.
type result struct {
	mutant
	// Goldens and Tests say what killed it; both are empty if it survived.
	Goldens, Tests string
	// NoVerdict counts the golden episodes that their cassettes could not answer.
	NoVerdict int
}

// lab runs mutants. Its folder holds their files and is removed by close.
type lab struct {
	dir   string
	root  string
	quick bool
	log   io.Writer
	// users are, by package, the packages whose tests it can break, in the order in
	// which they are run.
	users map[string][]string
}

// newLab makes a lab and checks that the golden suites pass without a mutant.
func newLab(ctx context.Context, quick bool, log io.Writer) (*lab, error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	l := &lab{root: root, quick: quick, log: log}
	if !quick {
		if l.users, err = users(ctx); err != nil {
			return nil, err
		}
	}
	if l.dir, err = os.MkdirTemp("", "cupel-mutants-"); err != nil {
		return nil, err
	}
	if out, err := goCommand(ctx, "test", "-ldflags=-s -w", "-run", "^"+goldensTest+"$", goldensPackage); err != nil {
		return nil, errors.Join(fmt.Errorf("the golden suites fail without a mutant: %w\n%s", err, out), l.close())
	}
	return l, nil
}

func (l *lab) close() error { return os.RemoveAll(l.dir) }

// examineAll examines mutants in parallel. The results are in the order of the table;
// the error joins those of all mutants that could not be examined.
func (l *lab) examineAll(ctx context.Context, mutants []mutant, lanes int) ([]result, error) {
	results, errs := make([]result, len(mutants)), make([]error, len(mutants))
	queue := make(chan int)
	var wg sync.WaitGroup
	var done atomic.Int64
	for range max(lanes, 1) {
		wg.Go(func() {
			for i := range queue {
				r, err := l.examine(ctx, mutants[i])
				line := r.String()
				if err != nil && ctx.Err() == nil {
					errs[i] = fmt.Errorf("mutant %s: %w", r.ID, err)
					line = err.Error()
				}
				results[i] = r
				_, _ = fmt.Fprintf(l.log, "[%d/%d] %s/%s: %s\n", done.Add(1), len(mutants), r.Class, r.ID, line)
			}
		})
	}
	for i := range mutants {
		if ctx.Err() != nil {
			break
		}
		queue <- i
	}
	close(queue)
	wg.Wait()
	return results, errors.Join(append(errs, context.Cause(ctx))...)
}

// String says what killed the mutant.
func (r result) String() string {
	switch {
	case r.Goldens != "":
		return "goldens: " + r.Goldens
	case r.Tests != "":
		return "tests: " + r.Tests
	}
	return "SURVIVES"
}

// examine runs the golden suites with the mutant, then the tests of its package, then
// those of all packages that depend on it, up to the first failure.
func (l *lab) examine(ctx context.Context, m mutant) (r result, err error) {
	r = result{mutant: m}
	dir := filepath.Join(l.dir, m.ID)
	if err := os.Mkdir(dir, 0o777); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	overlay, err := l.write(m, dir)
	if err != nil {
		return r, err
	}
	if err := l.goldens(ctx, &r, dir, overlay); err != nil || r.Goldens != "" || l.quick {
		return r, err
	}
	own := path.Dir(m.File)
	for _, pkg := range append([]string{own}, l.users[own]...) {
		out, err := goCommand(ctx, "test", "-short", "-failfast", "-vet=off", "-timeout", testTimeout.String(), "-overlay", overlay, "./"+pkg)
		if ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
		if err != nil {
			r.Tests = strings.TrimSpace(pkg + " " + firstLine(out, "--- FAIL: ", "panic: "))
			return r, nil
		}
	}
	return r, nil
}

// write writes the mutated file and returns the overlay that puts it in place.
func (l *lab) write(m mutant, dir string) (overlay string, err error) {
	text, err := m.source(l.root)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, path.Base(m.File))
	doc, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(l.root, filepath.FromSlash(m.File)): file}})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, errors.Join(os.WriteFile(file, text, 0o666), os.WriteFile(overlay, doc, 0o666))
}

// goldens builds the golden suites' test with the mutant and runs it. The error is
// that of a mutant that does not compile.
func (l *lab) goldens(ctx context.Context, r *result, dir, overlay string) error {
	binary := filepath.Join(dir, "goldens.test")
	out, err := goCommand(ctx, "test", "-c", "-vet=off", fastBuild, "-ldflags=-s -w", "-overlay", overlay, "-o", binary, goldensPackage)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("the mutant does not compile: %s", out)
	}
	limited, cancel := context.WithTimeout(ctx, goldensTimeout)
	defer cancel()
	c := exec.CommandContext(limited, binary, "-test.run", "^"+goldensTest+"$", "-mutant")
	c.Dir = filepath.Join(l.root, filepath.FromSlash(goldensPackage))
	out, err = c.CombinedOutput()
	r.NoVerdict, _ = strconv.Atoi(firstLine(out, noVerdict)) // absent after a crash
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		r.Goldens = "no end within " + goldensTimeout.String()
	case err != nil:
		if r.Goldens = firstLine(out, killedBy, "panic: "); r.Goldens == "" {
			return fmt.Errorf("the golden suites fail without a verdict: %s", out)
		}
	}
	return nil
}

// firstLine is the rest of the first line that begins with one of the marks.
func firstLine(text []byte, marks ...string) string {
	for line := range strings.Lines(string(text)) {
		for _, mark := range marks {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), mark); ok {
				return rest
			}
		}
	}
	return ""
}

// goCommand runs the go command. When ctx ends, it is interrupted and waited for, so that it
// removes what it has written.
func goCommand(ctx context.Context, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, "go", args...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 10 * time.Second
	return c.CombinedOutput()
}

// users finds, for every package, the other packages whose tests depend on it: those
// of the agents first, and the command, whose tests take longest, last.
func users(ctx context.Context) (map[string][]string, error) {
	out, err := goCommand(ctx, "list", "-test", "-json=ImportPath,Deps,Module", "./...")
	if err != nil {
		return nil, fmt.Errorf("list packages: %w\n%s", err, out)
	}
	users := map[string][]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Deps       []string
			Module     struct{ Path string }
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		prefix := p.Module.Path + "/"
		name, isTest := strings.CutSuffix(strings.TrimPrefix(p.ImportPath, prefix), ".test")
		if !isTest || name == path.Clean(goldensPackage) {
			continue
		}
		for _, dep := range p.Deps {
			dep, _, _ = strings.Cut(strings.TrimPrefix(dep, prefix), " ") // "a [b.test]" is a
			if dep != name && !slices.Contains(users[dep], name) {
				users[dep] = append(users[dep], name)
			}
		}
	}
	for _, list := range users {
		slices.SortStableFunc(list, func(a, b string) int { return rank(a) - rank(b) })
	}
	return users, nil
}

func rank(pkg string) int {
	first, _, _ := strings.Cut(pkg, "/")
	return 1 + slices.Index([]string{"agent", "goldens", "harness", "providers", "reports", "cmd"}, first)
}
