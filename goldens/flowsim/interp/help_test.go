package interp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
)

var monday = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// value reads JSON.
func value(t testing.TB, text string) (v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &v), text)
	return v
}

func text(t testing.TB, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return string(out)
}

func workflow(t testing.TB, text string) graph.Graph {
	t.Helper()
	g, faults := graph.Parse(text)
	require.Empty(t, faults)
	return g
}

// line is a workflow of nodes in a row behind a manual trigger named Go.
func line(t testing.TB, nodes ...string) graph.Graph {
	t.Helper()
	all, connections := `{"name": "Go", "type": "manual"}`, ""
	last := "Go"
	for i, n := range nodes {
		name := fmt.Sprintf("N%d", i+1)
		all += fmt.Sprintf(`, {"name": %q, %s}`, name, n)
		connections += fmt.Sprintf(`, %q: [[{"node": %q}]]`, last, name)
		last = name
	}
	return workflow(t, `{"nodes": [`+all+`], "connections": {`+connections[min(2, len(connections)):]+`}}`)
}

// tables are data tables in memory, with rows of any columns.
type tables struct {
	rows map[string][]Item
	next int
}

func (s *tables) table(name string) error {
	if _, ok := s.rows[name]; !ok {
		return fmt.Errorf("there is no data table %s", name)
	}
	return nil
}

func (s *tables) Insert(table string, values Item, at time.Time) (Item, error) {
	if err := s.table(table); err != nil {
		return nil, err
	}
	if _, ok := values["wrong"]; ok {
		return nil, errors.New("there is no column wrong")
	}
	s.next++
	row := maps.Clone(values)
	row["id"] = fmt.Sprintf("row_%d", s.next)
	s.rows[table] = append(s.rows[table], row)
	return maps.Clone(row), nil
}

// match returns copies of the rows that match, after a change.
func (s *tables) match(table string, f Filter, change func(Item)) (out []Item, err error) {
	err = s.table(table)
	for _, row := range s.rows[table] {
		ok, bad := f.Match(row)
		if err = errors.Join(err, bad); ok {
			change(row)
			out = append(out, maps.Clone(row))
		}
	}
	return out, err
}

func (s *tables) Select(table string, f Filter, limit int) ([]Item, error) {
	out, err := s.match(table, f, func(Item) {})
	return out[:min(limit, len(out))], err
}

func (s *tables) Update(table string, f Filter, values Item, at time.Time) ([]Item, error) {
	return s.match(table, f, func(row Item) { maps.Copy(row, values) })
}

func (s *tables) Delete(table string, f Filter) ([]Item, error) {
	out, err := s.match(table, f, func(Item) {})
	s.rows[table] = slices.DeleteFunc(s.rows[table], func(row Item) bool { ok, _ := f.Match(row); return ok })
	return out, err
}

// web answers requests by URL.
func web(t testing.TB) func(Request) (Response, error) {
	return func(r Request) (Response, error) {
		switch r.URL {
		case "https://shop.example/orders":
			return Response{Body: value(t, `[{"id": 1}, {"id": 2}, 7]`), Delay: time.Second}, nil
		case "https://shop.example/echo":
			return Response{Status: 201, Headers: Item{"x": "y"}, Body: Item{"method": r.Method, "query": r.Query, "body": r.Body, "headers": r.Headers}}, nil
		case "https://shop.example/nothing":
			return Response{Status: 204}, nil
		case "https://shop.example/busy":
			return Response{Status: 429, Body: "slow down"}, nil
		case "https://shop.example/slow":
			return Response{Delay: 30 * time.Second}, &Failure{Class: "timeout", Message: "no answer within 30 s"}
		}
		return Response{}, fmt.Errorf("cannot reach %s", r.URL)
	}
}

func environment(t testing.TB) Env {
	return Env{
		Start: monday,
		HTTP:  web(t),
		Credential: func(n *graph.Node, kind, id string) error {
			if id == "cr_rejected" {
				return &Failure{Class: "http_401", Message: "Slack rejected the token"}
			} else if id != "cr_1" {
				return fmt.Errorf("there is no credential %s", id)
			}
			return nil
		},
		Tables: &tables{rows: map[string][]Item{
			"orders": {{"id": "row_1", "customer": "Ada", "total": 10.0}, {"id": "row_2", "customer": "Bob", "total": 5.0}, {"id": "row_3", "customer": "Ada", "total": nil}},
		}, next: 3},
	}
}
