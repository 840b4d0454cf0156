package toolserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-eval/cupel/internal/clip"
)

// LockFile is the file beside suite.yaml with the pinned lists of tools.
const LockFile = "tools.lock.json"

// Lock is what LockFile holds: the servers by name.
type Lock map[string]Pinned

// Pinned is what a server listed when its tools were pinned.
type Pinned struct {
	// Server and Version are what the server calls itself.
	Server  string `json:"server"`
	Version string `json:"version"`
	// Digest is that of Tools.
	Digest string            `json:"digest"`
	Tools  []json.RawMessage `json:"tools"`
}

// listedTool is what cupel reads of a tool in a list.
type listedTool struct {
	Name, Title, Description string
	InputSchema              json.RawMessage
	Annotations              struct{ ReadOnlyHint bool }
}

// Pin makes a pinned list of what a server lists. The error says which tool cannot be one.
func Pin(server, version string, tools []json.RawMessage) (Pinned, error) {
	p := Pinned{Server: server, Version: version, Tools: tools}
	byName, err := p.byName()
	if err != nil {
		return Pinned{}, err
	}
	h := sha256.New()
	for _, name := range sorted(byName) {
		_, _ = fmt.Fprintf(h, "%s\n", byName[name])
	}
	p.Digest = "sha256:" + hex.EncodeToString(h.Sum(nil))
	return p, nil
}

// byName are the tools as canonical JSON.
func (p Pinned) byName() (map[string][]byte, error) {
	all := map[string][]byte{}
	for i, text := range p.Tools {
		canonical, err := jsontext.AppendFormat(nil, text, jsontext.ReorderRawObjects(true), jsontext.CanonicalizeRawFloats(true))
		var t listedTool
		if err == nil {
			err = json.Unmarshal(canonical, &t)
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("tool %d of its list: %w", i+1, err)
		case t.Name == "" || !bytes.HasPrefix(t.InputSchema, []byte("{")):
			return nil, fmt.Errorf("tool %d of its list needs a name and an inputSchema, an object", i+1)
		case all[t.Name] != nil:
			return nil, fmt.Errorf("tool %s is in its list twice", t.Name)
		}
		all[t.Name] = canonical
	}
	return all, nil
}

// Listing has a line for each tool, as a comment of YAML: its name, whether it asks for
// approval unless the suite says otherwise, and the beginning of its description.
func (p Pinned) Listing() string {
	var out strings.Builder
	for _, text := range p.Tools {
		var t listedTool
		_ = json.Unmarshal(text, &t) // as Pin has done
		about := clip.Bytes(strings.Join(strings.Fields(t.Description), " "), maxValue)
		_, _ = fmt.Fprintf(&out, "#   %s (%s): %s\n", t.Name, Mark{}.approval(t), about)
	}
	return out.String()
}

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// ReadLock reads a LockFile.
func ReadLock(text []byte) (Lock, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var l Lock
	if err := dec.Decode(&l); err != nil {
		return nil, fmt.Errorf("not a lock of tools: %w", err)
	}
	for _, name := range sorted(l) {
		again, err := Pin("", "", l[name].Tools)
		if err != nil {
			return nil, fmt.Errorf("server %s: %w", name, err)
		}
		if again.Digest != l[name].Digest {
			return nil, fmt.Errorf("server %s: its tools have the digest %s, not the one that was pinned: the file was edited", name, again.Digest)
		}
	}
	return l, nil
}

// Write is the content of a LockFile.
func (l Lock) Write() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(l)
	return out.Bytes(), err
}

// Bounds of a difference, for messages.
const (
	maxChanges = 10
	maxValue   = 120 // bytes
)

// Changes says how another list differs: each tool that was added, removed or changed, with
// the fields of the last that differ. It is empty if the digests are equal.
func (p Pinned) Changes(now Pinned) string {
	was, _ := p.byName() // a Pinned was made of a list that has them
	is, _ := now.byName()
	var all []string
	for _, name := range sorted(was) {
		switch {
		case is[name] == nil:
			all = append(all, "removed "+name)
		case !bytes.Equal(was[name], is[name]):
			all = append(all, "changed "+name+" ("+changedFields(was[name], is[name])+")")
		}
	}
	for _, name := range sorted(is) {
		if was[name] == nil {
			all = append(all, "added "+name)
		}
	}
	if more := len(all) - maxChanges; more > 0 {
		all = append(all[:maxChanges], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}

func changedFields(was, is []byte) string {
	var a, b map[string]json.RawMessage
	_, _ = json.Unmarshal(was, &a), json.Unmarshal(is, &b) // both are canonical objects
	names := sorted(a)
	for _, name := range sorted(b) {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	var all []string
	for _, name := range names {
		if !bytes.Equal(a[name], b[name]) {
			all = append(all, fmt.Sprintf("%s: %s → %s", name, value(a[name]), value(b[name])))
		}
	}
	return strings.Join(all, "; ")
}

func value(v json.RawMessage) string {
	if v == nil {
		return "none"
	}
	return clip.Bytes(string(v), maxValue)
}
