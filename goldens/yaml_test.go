package goldens

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
func at(t *testing.T, text string) place {
	t.Helper()
	var n yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(text), &n))
	return place{src: &source{file: "f", found: &findings{}}, node: n.Content[0], path: "x"}
}

// said are the problems recorded at a place.
func (p place) said() string {
	var out []string
	for _, problem := range p.src.found.list {
		out = append(out, problem.Detail)
	}
	return strings.Join(out, "; ")
}

func TestReadScalars(t *testing.T) {
	const duration = "must be a duration such as 300ms or 15s"
	tests := []struct {
		text string
		read func(place) any
		want any
		said string
	}{
		{"word", func(p place) any { return p.text() }, "word", ""},
		{"2026-05-13", func(p place) any { return p.text() }, "2026-05-13", ""},
		{"yes", func(p place) any { return p.text() }, "yes", ""},
		{"'5'", func(p place) any { return p.text() }, "5", ""},
		{"5", func(p place) any { return p.text() }, "", "must be a string, but is a number: put 5 in quotes"},
		{"true", func(p place) any { return p.text() }, "", "must be a string, but is a boolean: put true in quotes"},
		{"~", func(p place) any { return p.text() }, "", "must be a string, but is empty"},
		{"!!binary aGk=", func(p place) any { return p.text() }, "", "must be a string, but is tagged !!binary"},
		{"!custom x", func(p place) any { return p.text() }, "", "must be a string, but is tagged !custom"},
		{"TRUE", func(p place) any { return p.flag() }, true, ""},
		{"False", func(p place) any { return p.flag() }, false, ""},
		{"yes", func(p place) any { return p.flag() }, false, "must be true or false, but is a string"},
		{"7", func(p place) any { return p.integer(1, 9) }, int64(7), ""},
		{"1_000", func(p place) any { return p.integer(0, 9999) }, int64(0), "must be a decimal integer, but is 1_000"},
		{"0o17", func(p place) any { return p.integer(0, 99) }, int64(0), "must be a decimal integer, but is 0o17"},
		{"-9223372036854775809", func(p place) any { return p.integer(-5, 5) }, int64(-5), "must be from -5 to 5, but is -9223372036854775809"},
		{"0.5", func(p place) any { return p.number(1) }, 0.5, ""},
		{"one", func(p place) any { return p.number(1) }, 0.0, "must be a number, but is a string"},
		{"1500ms", func(p place) any { return p.duration() }, 1500 * time.Millisecond, ""},
		{"24h", func(p place) any { return p.duration() }, 24 * time.Hour, ""},
		{"0s", func(p place) any { return p.duration() }, time.Duration(0), "must be more than 0 and at most 24h0m0s, in whole microseconds, but is 0s"},
		{"24h1s", func(p place) any { return p.duration() }, time.Duration(0), "must be more than 0 and at most 24h0m0s, in whole microseconds, but is 24h1s"},
		{"5ns", func(p place) any { return p.duration() }, time.Duration(0), "must be more than 0 and at most 24h0m0s, in whole microseconds, but is 5ns"},
		{"[1s]", func(p place) any { return p.duration() }, time.Duration(0), duration},
		{"soon", func(p place) any { return p.duration() }, time.Duration(0), duration},
		{"b", func(p place) any { return p.choice("a", "b") }, "b", ""},
		{"7", func(p place) any { return p.choice("a", "b") }, "", "must be a string, but is a number: put 7 in quotes"},
		{"c", func(p place) any { return p.choice("alpha", "beta") }, "", `"c" is not known; allowed: alpha, beta`},
	}
	for _, tt := range tests {
		p := at(t, tt.text)
		require.Equal(t, tt.want, tt.read(p), tt.text)
		require.Equal(t, tt.said, p.said(), tt.text)
	}
}

func TestReadAliases(t *testing.T) {
	p := at(t, "{a: &x {k: [1, two]}, b: *x, c: &s word, d: *s, n: &n ~, e: *n}")
	require.Equal(t, `{"a":{"k":[1,"two"]},"b":{"k":[1,"two"]},"c":"word","d":"word","n":null,"e":null}`, string(p.json()))
	entries := p.entries()
	require.Equal(t, "x.b", entries[1].value.path)
	require.Equal(t, "a mapping", entries[1].value.kind())
	require.Equal(t, "word", entries[3].value.text())
	require.True(t, entries[5].value.null())
	require.Empty(t, p.said())
}

// TestProblemLines: people are sent to the key where the value is elsewhere.
func TestProblemLines(t *testing.T) {
	p := at(t, "a: &a\n  - x\nb: |\n  text\nc: word\nd:\ne:\n  wide\nf: *a\n")
	var lines []string
	for _, e := range p.entries() {
		lines = append(lines, fmt.Sprintf("%s:%d", e.key, e.value.at()))
	}
	require.Equal(t, []string{"a:1", "b:3", "c:5", "d:6", "e:8", "f:9"}, lines)
}

func TestJSONBounds(t *testing.T) {
	long := strings.Repeat("x", maxJSONBytes)
	p := at(t, "[{a: "+long+", b: [1, 2]}, {c: 1}]")
	require.Equal(t, "null", string(p.json()))
	require.Equal(t, "must be at most 64 KiB of JSON", p.said())

	require.JSONEq(t, `"<\u2028>\"é😀"`, string(at(t, `"<\u2028>\"é😀"`).json()))
	require.Nil(t, decodeJSON([]byte("{")))
}

func TestFindingsKeepOneOfEach(t *testing.T) {
	f := &findings{}
	require.NoError(t, f.join())
	for _, p := range []Problem{
		{File: "b", Line: 1, Field: "x", Detail: "d"}, {File: "a", Line: 9, Field: "x", Detail: "d"}, {File: "a", Line: 2, Detail: "whole"},
		{File: "a", Line: 9, Field: "x", Detail: "d"}, {File: "a", Line: 9, Field: "w", Detail: "d"},
	} {
		f.list = append(f.list, &p)
	}
	require.EqualError(t, f.join(), "a:2: whole\na:9: x: d\na:9: w: d\nb:1: x: d")
	require.True(t, errors.As(f.join(), new(*Problem)))
	require.False(t, bytes.Contains([]byte(f.join().Error()), []byte("\n\n")))
}

func TestSuggest(t *testing.T) {
	words := []string{"status", "stop_reason", "numbers", "id"}
	for word, want := range map[string]string{
		"staus": " (did you mean status?)", "STATUS": " (did you mean status?)", "numebrs": " (did you mean numbers?)",
		"stopreason": " (did you mean stop_reason?)", "i": " (did you mean id?)", "xy": "", "completely": "", "": "",
	} {
		require.Equal(t, want, suggest(word, words), word)
	}
}

// editsSlow is the textbook recursion.
func editsSlow(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	d := 1
	if a[0] == b[0] {
		d = 0
	}
	return min(editsSlow(a[1:], b[1:])+d, editsSlow(a[1:], b)+1, editsSlow(a, b[1:])+1)
}

func TestEditsAgainstRecursion(t *testing.T) {
	words := []string{"", "a", "ab", "ba", "abc", "kitten", "sitting", "numbers", "numebrs", "steps", "step"}
	for _, a := range words {
		for _, b := range words {
			if len(a) <= len(b)+3 && len(b) <= len(a)+3 {
				require.Equal(t, editsSlow(a, b), edits(a, b), "%s %s", a, b)
			}
		}
	}
}
