package goldens

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// TaskDigest is the SHA-256 hex of everything that can change a result of one
// task: the task, its expectations, and the tools it offers.
func (s *Suite) TaskDigest(t Task) string {
	one := &Suite{Name: s.Name, Tasks: []Task{t}, HTTP: map[string]HTTPTool{}, Approvals: map[string]Approval{}}
	for _, spec := range s.Tools {
		if !slices.Contains(t.Tools, spec.Name) {
			continue
		}
		one.Tools = append(one.Tools, spec)
		if h, ok := s.HTTP[spec.Name]; ok {
			one.HTTP[spec.Name] = h
		}
		if a, ok := s.Approvals[spec.Name]; ok {
			one.Approvals[spec.Name] = a
		}
	}
	return digest(one)
}

// digest returns the SHA-256 hex of a canonical encoding of what can change a
// result. Where a task stands in which file is no part of it, nor are the texts
// that only people read: titles, descriptions, probes and notes.
func digest(s *Suite) string {
	type world struct {
		WorldSpec
		Now, Zone string
	}
	type task struct {
		Task
		World  world
		Expect []Expect
	}
	doc := struct {
		Format, Name string
		Tools        any
		HTTP         map[string]HTTPTool `json:",omitempty"`
		Approvals    map[string]Approval `json:",omitempty"`
		Tasks        []task
	}{Format: "cupel-suite-1", Name: s.Name, Tools: s.Tools, HTTP: s.HTTP, Approvals: s.Approvals}
	for _, t := range s.Tasks {
		w := world{WorldSpec: t.World, Now: t.World.Now.UTC().Format(time.RFC3339Nano), Zone: t.World.Zone.String()}
		d := task{Task: t, World: w}
		d.Title, d.Probes, d.File, d.Line = "", nil, "", 0
		for _, e := range t.Expect {
			e.Note = ""
			d.Expect = append(d.Expect, e)
		}
		doc.Tasks = append(doc.Tasks, d)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		panic(fmt.Sprintf("goldens: a loaded suite does not encode: %v", err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
