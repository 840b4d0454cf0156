package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// Parse reads a graph as JSON. Its faults are those of the form, with the code graph.json
// and, beyond the bounds, graph.limit; a graph that has none is then checked by Check. A
// node without a version gets the newest one.
func Parse(text string) (Graph, []Fault) {
	if len(text) > maxText {
		return Graph{}, []Fault{{Code: "graph.limit", Detail: fmt.Sprintf("the graph is longer than %d bytes", maxText)}}
	}
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	err := d.Decode(&v)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more text behind the object")
		}
	}
	if err != nil {
		line := 1 + strings.Count(text[:min(int(d.InputOffset()), len(text))], "\n")
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			line = 1 + strings.Count(text[:min(int(syntax.Offset), len(text))], "\n")
		}
		return Graph{}, []Fault{{Code: "graph.json", Detail: fmt.Sprintf("line %d: %v", line, err)}}
	}
	return FromJSON(v)
}

// FromJSON is Parse of a value of encoding/json. The graph shares its parts.
func FromJSON(v any) (Graph, []Fault) {
	var r reader
	g := r.graph(v)
	return g, r.faults
}

// reader makes a graph of a value and collects what is wrong with its form.
type reader struct{ faults []Fault }

func (r *reader) fail(path, format string, args ...any) {
	if len(r.faults) < maxFaults {
		r.faults = append(r.faults, Fault{Code: "graph.json", Path: path, Detail: fmt.Sprintf(format, args...)})
	}
}

// object returns an object that has no other than the given fields.
func (r *reader) object(v any, path string, fields ...string) map[string]any {
	object, ok := v.(map[string]any)
	if !ok {
		r.fail(path, "want an object with %s", strings.Join(fields, ", "))
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(fields, key) {
			r.fail(strings.TrimPrefix(path+"."+key, "."), "unknown field; want one of %s", strings.Join(fields, ", "))
		}
	}
	return object
}

// get returns a field of a type; its zero value if it is missing.
func get[T any](r *reader, object map[string]any, path, key, want string) (out T) {
	if v, given := object[key]; given && v != nil {
		var ok bool
		if out, ok = v.(T); !ok {
			r.fail(strings.TrimPrefix(path+"."+key, "."), "want %s", want)
		}
	}
	return out
}

func (r *reader) graph(v any) (g Graph) {
	o := r.object(v, "", "name", "nodes", "connections", "settings")
	g = Graph{
		Name: get[string](r, o, "", "name", "a text"), Nodes: []Node{}, Connections: map[string][][]Target{},
		Settings: get[map[string]any](r, o, "", "settings", "an object"),
	}
	nodes := get[[]any](r, o, "", "nodes", "a list of nodes")
	if len(nodes) > maxNodes {
		r.faults = append(r.faults, Fault{Code: "graph.limit", Path: "nodes", Detail: fmt.Sprintf("there are %d nodes; at most %d are allowed", len(nodes), maxNodes)})
		return g
	}
	for i, n := range nodes {
		g.Nodes = append(g.Nodes, r.node(n, fmt.Sprintf("nodes[%d]", i)))
	}
	connections := get[map[string]any](r, o, "", "connections", "an object by the name of a node")
	for _, from := range slices.Sorted(maps.Keys(connections)) {
		g.Connections[from] = r.ports(connections[from], "connections."+from)
	}
	return g
}

func (r *reader) node(v any, path string) Node {
	o := r.object(v, path, "name", "type", "typeVersion", "parameters", "credentials", "disabled", "onError")
	n := Node{
		Name: get[string](r, o, path, "name", "a text"), Type: get[string](r, o, path, "type", "a text"),
		Parameters: get[map[string]any](r, o, path, "parameters", "an object"),
		Disabled:   get[bool](r, o, path, "disabled", "true or false"), OnError: get[string](r, o, path, "onError", "stop or continue"),
	}
	if n.Parameters == nil {
		n.Parameters = map[string]any{}
	}
	if strings.TrimSpace(n.Name) == "" {
		r.fail(path+".name", "a node needs a name")
	}
	if !slices.Contains([]string{"", "stop", "continue"}, n.OnError) {
		r.fail(path+".onError", "want stop or continue")
	}
	version := get[float64](r, o, path, "typeVersion", "a number")
	if n.Version = int(version); float64(n.Version) != version || version < 0 || version > math.MaxInt32 {
		r.fail(path+".typeVersion", "want a whole number")
	}
	if t := Find(n.Type); t != nil && n.Version == 0 {
		n.Version = t.Newest()
	}
	credentials := get[map[string]any](r, o, path, "credentials", "an object: the id of a credential by its type")
	for _, kind := range slices.Sorted(maps.Keys(credentials)) {
		id := get[string](r, credentials, path+".credentials", kind, "the id of a credential")
		if n.Credentials == nil {
			n.Credentials = map[string]string{}
		}
		n.Credentials[kind] = id
	}
	return n
}

func (r *reader) ports(v any, path string) [][]Target {
	ports, ok := v.([]any)
	if !ok {
		r.fail(path, "want a list with one list of {node, input} for each output")
	}
	out := make([][]Target, len(ports))
	for i, port := range ports {
		targets, ok := port.([]any)
		if !ok && port != nil {
			r.fail(fmt.Sprintf("%s[%d]", path, i), "want a list of {node, input}")
		}
		out[i] = make([]Target, len(targets))
		for j, target := range targets {
			place := fmt.Sprintf("%s[%d][%d]", path, i, j)
			o := r.object(target, place, "node", "input")
			input := get[float64](r, o, place, "input", "the number of an input, from 0")
			out[i][j] = Target{Node: get[string](r, o, place, "node", "the name of a node"), Input: int(input)}
			if float64(out[i][j].Input) != input {
				r.fail(place+".input", "want a whole number, from 0")
			}
		}
	}
	return out
}

// Text returns the graph as indented JSON, which Parse reads.
func (g *Graph) Text() string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(g); err != nil {
		return "{}" // no value of JSON fails
	}
	return strings.TrimSuffix(out.String(), "\n")
}
