// Package scorer runs the checks that users bring: programs that read an episode and judge it,
// and Go functions.
//
// A program is asked through an http.RoundTripper, as a POST to http://score.invalid/NAME with
// the digests of the program and of what it reads. Put a recorder between [Ask] and a
// local.Transport, and the recorder's replay answers without the program.
package scorer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/cupel-eval/cupel/internal/child"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/lines"
	"github.com/cupel-eval/cupel/internal/local"
)

// Host is the host in the addresses of the requests: RFC 6761 keeps it from resolving.
const Host = "score.invalid"

// DefaultTimeout bounds one run of a program unless its check says otherwise.
const DefaultTimeout = 30 * time.Second

const (
	maxOutput = 64 << 10 // bytes of standard output
	maxStderr = 2 << 10  // bytes of the end of standard error that a message has
)

// MaxReason bounds the reason of a result, in bytes before an ellipsis.
const MaxReason = 400

// Spec is one check of a task.
type Spec struct {
	// Name is unique in an accepted outcome.
	Name string
	// Exec is the program and its arguments, run in Dir and not by a shell. Digest is the
	// SHA-256 hex of Exec and the files of the suite that it names.
	Exec    []string      `json:",omitempty"`
	Dir     string        `json:"-"`
	Digest  string        `json:",omitempty"`
	Timeout time.Duration `json:",omitempty"` // of a program; 0 means DefaultTimeout
	// Check is the name of the Go function of a check without Exec.
	Check string `json:",omitempty"`
	// With is passed on, as JSON; nil means null.
	With json.RawMessage `json:",omitempty"`
	// AtLeast is the least score that passes; nil leaves it to the result's Pass.
	AtLeast *float64 `json:",omitempty"`
}

// Episode is what a scorer reads. Field names are those of the JSON.
type Episode struct {
	Task       string          `json:"task"`
	Request    string          `json:"request"`
	With       json.RawMessage `json:"with,omitempty"`
	Status     string          `json:"status"`
	StopReason string          `json:"stop_reason,omitempty"`
	// Answer is what the user was told: untrusted text.
	Answer string `json:"answer"`
	Steps  int    `json:"steps"`
	Calls  []Call `json:"calls"`
	// StateBefore and StateAfter are those of the world; absent if it has none that can change.
	StateBefore json.RawMessage `json:"state_before,omitempty"`
	StateAfter  json.RawMessage `json:"state_after,omitempty"`
}

// Call is a tool call of an episode. Args is a text, because a model wrote it.
type Call struct {
	Tool    string `json:"tool"`
	Args    string `json:"args"`
	Outcome string `json:"outcome"`
	// Result is the value that the tool returned, absent unless the outcome is ok.
	Result json.RawMessage `json:"result,omitempty"`
}

// Result is what a scorer finds.
type Result struct {
	// Pass may be absent (nil) only if the check has a least score.
	Pass *bool `json:"pass,omitempty"`
	// Score is a finite number; nil means none.
	Score *float64 `json:"score,omitempty"`
	// Reason is for people, at most 400 bytes of it are kept.
	Reason string `json:"reason,omitempty"`
}

// Func is a check written in Go. Several episodes call one at once, in replay, too, so it must
// depend on the episode only. An error, like a panic, is a failure of the harness and not of
// the model.
type Func func(context.Context, Episode) (Result, error)

// Passed reports whether a result meets the check.
func (s Spec) Passed(r Result) bool {
	if s.AtLeast != nil && (r.Score == nil || *r.Score < *s.AtLeast) {
		return false
	}
	return r.Pass == nil || *r.Pass
}

// valid says why a result is none.
func (s Spec) valid(r *Result) error {
	switch {
	case s.AtLeast != nil && r.Score == nil:
		return fmt.Errorf("score %s: the result has no score, which at_least needs", s.Name)
	case s.AtLeast == nil && r.Pass == nil:
		return fmt.Errorf("score %s: the result has no pass; return true or false, or write at_least in the check", s.Name)
	case r.Score != nil && (math.IsNaN(*r.Score) || math.IsInf(*r.Score, 0)):
		return fmt.Errorf("score %s: the score must be a finite number", s.Name)
	}
	r.Reason = clip.Bytes(r.Reason, MaxReason)
	return nil
}

// Call calls the Go function of a check.
func (s Spec) Call(ctx context.Context, f Func, e Episode) (r Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("score %s: the function %s panicked: %v", s.Name, s.Check, p)
		}
	}()
	e.With = s.With
	if r, err = f(ctx, e); err != nil {
		return r, fmt.Errorf("score %s: the function %s: %w", s.Name, s.Check, err)
	}
	return r, s.valid(&r)
}

// Ask has the program of a check judge an episode, through a transport. The error names the
// check and what its program did wrong, or is that of the transport or the context.
func Ask(ctx context.Context, transport http.RoundTripper, s Spec, e Episode) (r Result, err error) {
	e.With = s.With
	text, err := json.Marshal(e)
	if err != nil {
		return r, fmt.Errorf("score %s: write the episode: %w", s.Name, err)
	}
	sum := sha256.Sum256(text)
	body, _ := json.Marshal(map[string]string{"scorer": s.Digest, "episode": hex.EncodeToString(sum[:])}) // texts encode
	address := "http://" + Host + "/" + s.Name
	out, err := local.Post(ctx, transport, address, body, maxOutput, local.Answer{
		From: "score",
		Make: func(ctx context.Context) ([]byte, error) { return s.run(ctx, text) },
		Instead: func() ([]byte, error) {
			return nil, fmt.Errorf("the result of the program at %s holds a credential and is withheld; leave it out of the reason", address)
		},
	})
	if err != nil {
		return r, err
	}
	return s.read(out)
}

// read reads what a program wrote.
func (s Spec) read(out []byte) (r Result, err error) {
	dec := json.NewDecoder(bytes.NewReader(out))
	dec.DisallowUnknownFields()
	if err = dec.Decode(&r); err == nil && dec.More() {
		err = errors.New("more than one value")
	}
	if err != nil {
		return r, fmt.Errorf("score %s: the program must write {\"pass\": …, \"score\": …, \"reason\": …} and nothing else, but wrote %q: %w", s.Name, clip.Bytes(string(out), 200), err)
	}
	return r, s.valid(&r)
}

// run has the program read a text, and kills it with its descendants when its time is over.
func (s Spec) run(ctx context.Context, text []byte) ([]byte, error) {
	program := lines.Program{Command: s.Exec, Dir: s.Dir, Name: "the program of score " + s.Name, Setting: "score"}
	env, err := program.Environ()
	if err != nil {
		return nil, err
	}
	limit := s.Timeout
	if limit == 0 {
		limit = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stdout, stderr := &child.Bounded{Max: maxOutput}, &child.Tail{Max: maxStderr}
	p, err := child.Start(child.Command{Args: s.Exec, Dir: s.Dir, Env: env, Stdin: bytes.NewReader(text), Stdout: stdout, Stderr: stderr})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	stop := context.AfterFunc(ctx, p.Kill)
	p.Wait()
	stop()
	out, refused := stdout.Bytes()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("%s gave no result within %v and was killed%s", program, limit, said(stderr))
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case refused:
		return nil, fmt.Errorf("%s wrote more than %d KiB", program, maxOutput>>10)
	case !p.State().Success():
		return nil, fmt.Errorf("%s failed: %s%s", program, p.State(), said(stderr))
	case len(bytes.TrimSpace(out)) == 0:
		return nil, fmt.Errorf("%s wrote nothing%s", program, said(stderr))
	}
	_, err = s.read(out)
	return out, err
}

// said is what a program wrote to standard error, for a message.
func said(stderr *child.Tail) string {
	text := bytes.TrimSpace([]byte(stderr.String()))
	if len(text) == 0 {
		return ""
	}
	return ": " + clip.Bytes(string(text), 300)
}
