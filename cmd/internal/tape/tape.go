// Package tape is `cupel tape`: it runs a command whose requests to models are recorded in
// the first run and replayed afterwards.
package tape

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/proxy"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/providers/gateway"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// The modes. Auto replays if the cassette exists, and else records unless CI is set.
const (
	Auto   = "auto"
	Record = "record"
	Replay = "replay"
)

// Options are what `cupel tape` was given. All are required but Ignore, Replace and
// Prices.
type Options struct {
	File, Mode string
	Command    []string
	// Ignore are JSON pointers and Replace patterns of what does not count in requests.
	Ignore, Replace []string
	// Prices is a price file, laid over the built-in table.
	Prices string
	// Env is the user's environment. The command gets the three files as its own.
	Env                   []string
	Stdin, Stdout, Stderr *os.File
	// Log is what cupel itself prints to.
	Log     io.Writer
	Secrets *secrets.Finder
	Now     func() time.Time
}

// session is a run of a command.
type session struct {
	o        Options
	rules    gateway.Rules
	prices   price.Table
	again    string // the command that records
	to       map[string]*upstream
	recorder *recorder.Recorder
	handle   *proxy.Handle
	ready    chan struct{} // closed once the above is complete

	mu     sync.Mutex
	asked  []exchange
	places int
	misses int
	failed []int // places of requests that the provider did not answer
}

// exchange is a finished request.
type exchange struct {
	recorder.Exchange
	kind  gateway.Kind
	model string
}

// Run runs the command and returns its exit code, or 3 if a request had no recording. An
// error is cupel's own and has an exit code: see package exit.
func Run(ctx context.Context, o Options) (int, error) {
	s := &session{o: o, to: upstreams(), ready: make(chan struct{})}
	if err := s.prepare(); err != nil {
		return 0, err
	}
	unlock := func() {}
	if s.o.Mode == Record {
		var err error
		if unlock, err = lock(o.File); err != nil {
			return 0, err
		}
	}
	defer unlock()
	server, err := proxy.Start(ctx, proxy.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { _ = server.Close() }() // its session is closed before
	if s.handle, err = server.Open(proxy.Session{Model: s.model}); err != nil {
		return 0, err
	}
	env, keys := environment(o.Env, s.to, s.handle.Base(), s.handle.Token(), s.o.Mode == Replay)
	o.Secrets.Add(append(keys, s.handle.Token())...)
	s.rules.Fixed = gateway.Fixed{s.handle.Base(), "<proxy>", strings.TrimPrefix(server.URL(), "http://"), "<proxy>", s.handle.Token(), "<token>"}
	if err := s.open(); err != nil {
		return 0, err
	}
	close(s.ready)
	code, interrupted, err := run(s.o, env)
	s.end(interrupted)
	if err != nil {
		return 0, err
	}
	return s.conclude(code, interrupted)
}

// prepare checks the options and decides on the mode.
func (s *session) prepare() error {
	o := &s.o
	var problems []error
	if o.File == "" || strings.HasSuffix(o.File, "/") {
		problems = append(problems, errors.New("--cassette is missing; name the file of the recording, such as --cassette llm.yaml"))
	}
	for _, pointer := range o.Ignore {
		if !strings.HasPrefix(pointer, "/") {
			problems = append(problems, fmt.Errorf("--ignore %q is not a JSON pointer; write one such as /messages/0/content", pointer))
		}
	}
	for _, text := range o.Replace {
		pattern, err := regexp.Compile(text)
		if err != nil {
			err = fmt.Errorf("--replace %q: %w", text, err)
		}
		problems = append(problems, err)
		s.rules.Replace = append(s.rules.Replace, pattern)
	}
	s.rules.Ignore = o.Ignore
	var err error
	if s.prices, err = price.Default(); err == nil && o.Prices != "" {
		var text []byte
		if text, err = regular.ReadFile(o.Prices); err == nil {
			s.prices, err = price.Parse(text)
		}
		err = prefix("--prices "+o.Prices, err)
	}
	if err := exit.Usage(errors.Join(append(problems, err)...)); err != nil {
		return err
	}
	s.again = s.recordCommand()
	_, err = os.Stat(o.File)
	switch {
	case o.Mode != Auto && o.Mode != Record && o.Mode != Replay:
		return exit.Usage(fmt.Errorf("--mode %q: it must be auto, record or replay", o.Mode))
	case o.Mode == Record || o.Mode == Replay:
	case err == nil:
		o.Mode = Replay
	case ci(o.Env):
		return exit.With(exit.Replay, fmt.Errorf("there is no cassette %s, and nothing is recorded where CI is set; record it elsewhere and commit it: %s", o.File, s.again))
	default:
		o.Mode = Record
	}
	return nil
}

func prefix(with string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", with, err)
}

// ci reports whether the environment is that of a CI job.
func ci(env []string) bool {
	value := ""
	for _, line := range env {
		if name, text, _ := strings.Cut(line, "="); name == "CI" {
			value = strings.ToLower(text)
		}
	}
	return value != "" && value != "false" && value != "0"
}

// recordCommand is what a shell records the cassette again with.
func (s *session) recordCommand() string {
	words := []string{"cupel", "tape", "--mode", Record, "--cassette", s.o.File}
	for _, pointer := range s.o.Ignore {
		words = append(words, "--ignore", pointer)
	}
	for _, pattern := range s.o.Replace {
		words = append(words, "--replace", pattern)
	}
	return shell(append(append(words, "--"), s.o.Command...))
}

// shell joins words as a shell takes them.
func shell(words []string) string {
	words = slices.Clone(words)
	for i, word := range words {
		if plain.MatchString(word) {
			continue
		}
		words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}

// plain is a word that a shell takes as it is.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// open opens the cassette.
func (s *session) open() error {
	dir, name := filepath.Split(s.o.File)
	options := recorder.Options{
		Mode: recorder.Replay, Dir: cmp.Or(dir, "."), Path: name, Command: s.again, Secrets: s.o.Secrets, Now: s.o.Now,
		Run: "tape", Resume: true, Base: proxy.Originals(s.o.Secrets.Watch(network())),
	}
	if s.o.Mode == Record {
		provider := gateway.RouteOf("", http.MethodPost, s.to["openai"].base+"/chat/completions", nil).Provider
		options.Mode = recorder.Record
		options.Header = cassette.Header{Provider: provider, Recorded: s.o.Now().UTC().Format(time.DateOnly), Digests: s.digests()}
	}
	var err error
	s.recorder, err = recorder.New(options)
	return err
}

// network is the way to the providers. A redirect is not followed: it would take the key
// elsewhere.
func network() http.RoundTripper {
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t = t.Clone()
		t.MaxIdleConnsPerHost = 64
		return t
	}
	return http.DefaultTransport
}

// digests identify the rules by which requests are compared.
func (s *session) digests() map[string]string {
	if len(s.o.Ignore)+len(s.o.Replace) == 0 {
		return nil
	}
	return map[string]string{"rules": strings.Join(append([]string{strings.Join(s.o.Ignore, " ")}, s.o.Replace...), " ")}
}
