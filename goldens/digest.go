package goldens

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/goldens/toolserver"
	"github.com/cupel-eval/cupel/goldens/world"
)

// TaskDigest is the SHA-256 hex of everything that can change a result of one
// task: the task, its expectations, and the tools it offers.
func (s *Suite) TaskDigest(t Task) string { return s.alone(t).ContentDigest() }

// TaskParts are 16 hex digits of the SHA-256 of each thing a task is made of. A
// comparison of runs uses them to name what changed, not to detect a change.
type TaskParts struct {
	// Request is what is asked, with its constraints, inputs, images, the schema of
	// its answer, and the session it belongs to.
	Request string
	// World is what the episode is lived in: data, clock, faults, budgets, and what
	// the scripted human and model say.
	World string
	// Tools are the available ones, in order, with how they are run and approved.
	Tools string
	// Checks are what is expected.
	Checks string
}

// TaskParts returns the digests of t. They leave out the suite's name, tags and
// texts for people, so together they may be equal where TaskDigest is not.
func (s *Suite) TaskParts(t Task) TaskParts {
	one := s.alone(t)
	return TaskParts{
		Request: sum(digestedRequest(t))[:16],
		World:   sum(worldParts(t))[:16],
		Tools:   sum(toolParts(t, one))[:16],
		Checks:  sum(checkParts(t))[:16],
	}
}

// toolParts leaves out what a suite did not always have where there is none.
func toolParts(t Task, one *Suite) []any {
	parts := []any{t.Tools, one.Tools, one.HTTP, one.Approvals}
	if len(one.Fixed) > 0 {
		parts = append(parts, one.Fixed)
	}
	if len(one.MCP) > 0 {
		parts = append(parts, one.MCP)
	}
	if t.Functions != nil {
		parts = append(parts, t.Functions)
	}
	return parts
}

// worldParts leaves out the agent of a script where it names none.
func worldParts(t Task) []any {
	parts := []any{digestedWorld(t.World), t.Budgets, t.Replies, t.Approvals, t.Scripted, t.Script}
	if t.Agent != "" {
		parts = append(parts, t.Agent)
	}
	if len(t.Human)+len(t.Messages) > 0 {
		parts = append(parts, t.Human, t.Messages)
	}
	if t.User != nil {
		parts = append(parts, t.User.Helper().Prompt)
	}
	return parts
}

// checkParts is the checks alone for a task without Fails and attack.
func checkParts(t Task) any {
	if t.Attack != nil {
		return []any{digestedChecks(t.Expect), t.Attack}
	}
	if len(t.Fails) > 0 {
		return []any{digestedChecks(t.Expect), t.Fails}
	}
	return digestedChecks(t.Expect)
}

// digestedRequest is what it always was for a task that gives no more than words.
func digestedRequest(t Task) any {
	words := []any{t.Request, t.Constraints}
	given := Task{Inputs: t.Inputs, Each: t.Each, Images: t.Images, AnswerSchema: t.AnswerSchema, Session: t.Session}
	if !reflect.ValueOf(given).IsZero() {
		words = append(words, given.Inputs, given.Each, given.Images, given.AnswerSchema, given.Session)
	}
	return words
}

// alone is a suite of t and the tools it offers.
func (s *Suite) alone(t Task) *Suite {
	one := &Suite{Name: s.Name, Tasks: []Task{t}, HTTP: map[string]world.HTTPTool{}, MCP: map[string]toolserver.Server{}, Fixed: map[string]json.RawMessage{}, Approvals: map[string]Approval{}}
	for _, spec := range s.Tools {
		if !slices.Contains(t.Tools, spec.Name) {
			continue
		}
		one.Tools = append(one.Tools, spec)
		if h, ok := s.HTTP[spec.Name]; ok {
			one.HTTP[spec.Name] = h
		}
		if m, ok := s.MCP[spec.Name]; ok {
			one.MCP[spec.Name] = m
		}
		if r, ok := s.Fixed[spec.Name]; ok {
			one.Fixed[spec.Name] = r
		}
		if a, ok := s.Approvals[spec.Name]; ok {
			one.Approvals[spec.Name] = a
		}
	}
	return one
}

// ContentDigest returns the SHA-256 hex of a canonical encoding of what can change a
// result. Where a task is in which file is not part of it, nor are the texts
// that only people read: titles, descriptions, probes and notes.
func (s *Suite) ContentDigest() string {
	type task struct {
		Task
		World  worldDigest
		Expect []Expect
		User   string `json:",omitempty"`
	}
	doc := struct {
		Format, Name string
		Tools        any
		HTTP         map[string]world.HTTPTool    `json:",omitempty"`
		MCP          map[string]toolserver.Server `json:",omitempty"`
		Fixed        map[string]json.RawMessage   `json:",omitempty"`
		Approvals    map[string]Approval          `json:",omitempty"`
		Tasks        []task
	}{Format: "cupel-suite-1", Name: s.Name, Tools: s.Tools, HTTP: s.HTTP, MCP: s.MCP, Fixed: s.Fixed, Approvals: s.Approvals}
	for _, t := range s.Tasks {
		d := task{Task: t, World: digestedWorld(t.World), Expect: digestedChecks(t.Expect)}
		if t.User != nil {
			d.User = t.User.Helper().Prompt
		}
		d.Title, d.Probes, d.File, d.Line = "", nil, "", 0
		doc.Tasks = append(doc.Tasks, d)
	}
	return sum(doc)
}

// worldDigest is a world as it is digested: the same instant in any notation.
type worldDigest struct {
	world.Spec
	Now, Zone string
}

func digestedWorld(w world.Spec) worldDigest {
	return worldDigest{Spec: w, Now: w.Now.UTC().Format(time.RFC3339Nano), Zone: w.Zone.String()}
}

func digestedChecks(expect []Expect) (out []Expect) {
	for _, e := range expect {
		e.Note = ""
		out = append(out, e)
	}
	return out
}

func sum(doc any) string {
	text, err := json.Marshal(doc)
	if err != nil {
		panic(fmt.Sprintf("goldens: a loaded suite does not encode: %v", err))
	}
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:])
}
