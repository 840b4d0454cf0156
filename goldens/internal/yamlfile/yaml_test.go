package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// at returns the place of a YAML value.
func at(t *testing.T, text string) Place {
	t.Helper()
	var n yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(text), &n))
	return Place{Src: &Source{File: "f", Found: &Findings{}}, Node: n.Content[0], Path: "x"}
}

// said are the problems recorded at a place.
func (p Place) said() string {
	var out []string
	for _, problem := range p.Src.Found.List {
		out = append(out, problem.Detail)
	}
	return strings.Join(out, "; ")
}

func TestReadScalars(t *testing.T) {
	const duration = "must be a duration such as 300ms or 15s"
	tests := []struct {
		text string
		read func(Place) any
		want any
		said string
	}{
		{"word", func(p Place) any { return p.Text() }, "word", ""},
		{"2026-05-13", func(p Place) any { return p.Text() }, "2026-05-13", ""},
		{"yes", func(p Place) any { return p.Text() }, "yes", ""},
		{"'5'", func(p Place) any { return p.Text() }, "5", ""},
		{"5", func(p Place) any { return p.Text() }, "", "must be a string, but is a number: put 5 in quotes"},
		{"true", func(p Place) any { return p.Text() }, "", "must be a string, but is a boolean: put true in quotes"},
		{"~", func(p Place) any { return p.Text() }, "", "must be a string, but is empty"},
		{"!!binary aGk=", func(p Place) any { return p.Text() }, "", "must be a string, but is tagged !!binary"},
		{"!custom x", func(p Place) any { return p.Text() }, "", "must be a string, but is tagged !custom"},
		{"TRUE", func(p Place) any { return p.Flag() }, true, ""},
		{"False", func(p Place) any { return p.Flag() }, false, ""},
		{"yes", func(p Place) any { return p.Flag() }, false, "must be true or false, but is a string"},
		{"7", func(p Place) any { return p.Integer(1, 9) }, int64(7), ""},
		{"1_000", func(p Place) any { return p.Integer(0, 9999) }, int64(0), "must be a decimal integer, but is 1_000"},
		{"0o17", func(p Place) any { return p.Integer(0, 99) }, int64(0), "must be a decimal integer, but is 0o17"},
		{"-9223372036854775809", func(p Place) any { return p.Integer(-5, 5) }, int64(-5), "must be from -5 to 5, but is -9223372036854775809"},
		{"0.5", func(p Place) any { return p.Number(1) }, 0.5, ""},
		{"one", func(p Place) any { return p.Number(1) }, 0.0, "must be a number, but is a string"},
		{"1500ms", func(p Place) any { return p.Duration() }, 1500 * time.Millisecond, ""},
		{"24h", func(p Place) any { return p.Duration() }, 24 * time.Hour, ""},
		{"0s", func(p Place) any { return p.Duration() }, time.Duration(0), "must be more than 0 and at most 24h0m0s, in whole microseconds, but is 0s"},
		{"24h1s", func(p Place) any { return p.Duration() }, time.Duration(0), "must be more than 0 and at most 24h0m0s, in whole microseconds, but is 24h1s"},
		{"5ns", func(p Place) any { return p.Duration() }, time.Duration(0), "must be more than 0 and at most 24h0m0s, in whole microseconds, but is 5ns"},
		{"[1s]", func(p Place) any { return p.Duration() }, time.Duration(0), duration},
		{"soon", func(p Place) any { return p.Duration() }, time.Duration(0), duration},
		{"b", func(p Place) any { return p.Choice("a", "b") }, "b", ""},
		{"7", func(p Place) any { return p.Choice("a", "b") }, "", `"7" is not known (did you mean a?); allowed: a, b`},
		{"c", func(p Place) any { return p.Choice("alpha", "beta") }, "", `"c" is not known; allowed: alpha, beta`},
		{"true", func(p Place) any { return p.Choice("alpha", "beta") }, "", `"true" is not known; allowed: alpha, beta`},
		{"~", func(p Place) any { return p.Choice("alpha", "beta") }, "", `must be a string, but is empty`},
	}
	for _, tt := range tests {
		p := at(t, tt.text)
		require.Equal(t, tt.want, tt.read(p), tt.text)
		require.Equal(t, tt.said, p.said(), tt.text)
	}
}

func TestReadAliases(t *testing.T) {
	p := at(t, "{a: &x {k: [1, two]}, b: *x, c: &s word, d: *s, n: &n ~, e: *n}")
	require.Equal(t, `{"a":{"k":[1,"two"]},"b":{"k":[1,"two"]},"c":"word","d":"word","n":null,"e":null}`, string(p.JSON()))
	entries := p.Entries()
	require.Equal(t, "x.b", entries[1].Value.Path)
	require.Equal(t, "a mapping", entries[1].Value.Kind())
	require.Equal(t, "word", entries[3].Value.Text())
	require.True(t, entries[5].Value.Null())
	require.Empty(t, p.said())
}

// TestProblemLines: people are sent to the key where the value is elsewhere.
func TestProblemLines(t *testing.T) {
	p := at(t, "a: &a\n  - x\nb: |\n  text\nc: word\nd:\ne:\n  wide\nf: *a\n")
	var lines []string
	for _, e := range p.Entries() {
		lines = append(lines, fmt.Sprintf("%s:%d", e.Key, e.Value.At()))
	}
	require.Equal(t, []string{"a:1", "b:3", "c:5", "d:6", "e:8", "f:9"}, lines)
}

func TestJSONBounds(t *testing.T) {
	long := strings.Repeat("x", maxJSONBytes)
	p := at(t, "[{a: "+long+", b: [1, 2]}, {c: 1}]")
	require.Equal(t, "null", string(p.JSON()))
	require.Equal(t, "must be at most 64 KiB of JSON", p.said())

	require.JSONEq(t, `"<\u2028>\"é😀"`, string(at(t, `"<\u2028>\"é😀"`).JSON()))
	require.Nil(t, DecodeJSON([]byte("{")))
}

func TestFindingsKeepOneOfEach(t *testing.T) {
	f := &Findings{}
	require.NoError(t, f.Join())
	for _, p := range []Problem{
		{File: "b", Line: 1, Field: "x", Detail: "d"}, {File: "a", Line: 9, Field: "x", Detail: "d"}, {File: "a", Line: 2, Detail: "whole"},
		{File: "a", Line: 9, Field: "x", Detail: "d"}, {File: "a", Line: 9, Field: "w", Detail: "d"},
	} {
		f.List = append(f.List, &p)
	}
	require.EqualError(t, f.Join(), "a:2: whole\na:9: x: d\na:9: w: d\nb:1: x: d")
	require.True(t, errors.As(f.Join(), new(*Problem)))
	require.False(t, bytes.Contains([]byte(f.Join().Error()), []byte("\n\n")))
}

func TestSuggest(t *testing.T) {
	words := []string{"status", "stop_reason", "numbers", "id"}
	for word, want := range map[string]string{
		"staus": " (did you mean status?)", "STATUS": " (did you mean status?)", "numebrs": " (did you mean numbers?)",
		"stopreason": " (did you mean stop_reason?)", "i": " (did you mean id?)", "xy": "", "completely": "", "": "",
	} {
		require.Equal(t, want, Suggest(word, words), word)
	}
}
