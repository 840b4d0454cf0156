// Package suitetest has small suites for the tests of several packages.
package suitetest

import (
	"bytes"
	"image"
	"image/png"
	"io/fs"
	"maps"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/research"
	"github.com/cupel-eval/cupel/goldens/world"
)

// Head is a valid suite without tasks; 18 lines.
const Head = `name: demo
tools:
  - name: today_range
    description: Today.
    schema: {type: object, additionalProperties: false}
  - name: get_counts
    description: Counts.
    schema: {type: object,
      properties: {start_date: {type: string}, end_date: {type: string}, label: {enum: [angry, praise]}},
      required: [start_date, end_date, label],
      additionalProperties: false}
worlds:
  may:
    kind: counts
    now: 2026-05-13T12:00:00-04:00
    zone: America/New_York
    state: {counts: {2026-05-12: {angry: 1}, 2026-05-13: {angry: 2, praise: 3}}}
defaults: {world: may, budgets: {max_steps: 10}}
`

// Worlds are the kinds of worlds that the built-in suites register.
func Worlds() map[string]world.Kind {
	kinds := counts.Worlds()
	maps.Copy(kinds, research.Worlds())
	return kinds
}

// Task is a task without problems.
const Task = "{id: A, request: Hi, expect: {status: answered}}"

// Folder makes a suite folder of suite.yaml and further name, text pairs.
func Folder(suite string, more ...string) fs.FS {
	out := fstest.MapFS{"suite.yaml": &fstest.MapFile{Data: []byte(suite)}}
	for i := 0; i < len(more); i += 2 {
		out[more[i]] = &fstest.MapFile{Data: []byte(more[i+1])}
	}
	return out
}

// Picture is a small PNG.
func Picture(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, image.NewGray(image.Rect(0, 0, 2, 2))))
	return out.Bytes()
}

// Given is a task with everything that a request can bring along.
const Given = `
  - id: A
    request: How tall is {item}?
    inputs:
      lights: [Alder Point, Brant Rock]
      limits: {b: 1, a: [1.50, null, 2026-05-01]}
    each: lights
    images: [pictures/a.png, b]
    answer_schema: {type: object, properties: {height: {type: number}}, required: [height]}
    session: Coast.1
    expect: {status: answered}
`
