package load

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
)

func TestLoadGiven(t *testing.T) {
	img := suitetest.Picture(t)
	s, err := Suite(suitetest.Folder(suitetest.Head+"tasks:"+suitetest.Given, "pictures/a.png", string(img), "b", "GIF89a\x01\x00"), "s", suitetest.Worlds())
	require.NoError(t, err)
	require.NoError(t, s.Lint())
	task := s.Tasks[0]
	require.Equal(t, []strategy.Input{
		{Name: "lights", Value: json.RawMessage(`["Alder Point","Brant Rock"]`)},
		{Name: "limits", Value: json.RawMessage(`{"b":1,"a":[1.50,null,"2026-05-01"]}`)},
	}, task.Inputs, "in the order written, values as written")
	require.Equal(t, "lights", task.Each)
	require.Equal(t, []goldens.Picture{{File: "pictures/a.png", MediaType: "image/png", Data: img}, {File: "b", MediaType: "image/gif", Data: []byte("GIF89a\x01\x00")}}, task.Images, "what it is, the content says")
	require.JSONEq(t, `{"type":"object","properties":{"height":{"type":"number"}},"required":["height"]}`, string(task.AnswerSchema))
	require.Equal(t, "Coast.1", task.Session)
}

func TestLoadGivenProblems(t *testing.T) {
	many := strings.Repeat("1, ", maxItems) + "1"
	var inputs []string
	for i := range maxInputs + 1 {
		inputs = append(inputs, fmt.Sprintf("i%d: 1", i))
	}
	files := []string{"a.png", string(suitetest.Picture(t)), "b.txt", "no image", "big.png", string(suitetest.Picture(t)) + strings.Repeat("x", maxImageBytes), "dir/c.png", string(suitetest.Picture(t))}
	for _, tc := range []struct{ name, fields, want string }{
		{"inputs are a list", "inputs: [1]", "inputs: must be a mapping, but is a list"},
		{"no input", "inputs: {}", "inputs: must have 1 to 20 values, but has 0"},
		{"many inputs", "inputs: {" + strings.Join(inputs, ", ") + "}", "inputs: must have 1 to 20 values, but has 21"},
		{"an input's name", "inputs: {a b: 1}", `inputs.a b: "a b" may hold only letters, digits, dash and underscore`},
		{"an input twice", "inputs: {a: 1, a: 2}", "inputs.a: the key is here already, on line 20"},
		{"no JSON", "inputs: {a: .inf}", "inputs.a: .inf is not a JSON number; write it in decimal, or in quotes if it is a string"},
		{"a large input", "inputs: {a: " + strings.Repeat("x", (64<<10)) + "}", "inputs.a: must be at most 64 KiB of JSON"},
		{"each of nothing", "inputs: {lights: [1]}, each: light", `each: the task has no input "light" (did you mean lights?); it has: lights`},
		{"each of no list", "inputs: {a: {b: 1}}, each: a", "each: input a must be a list of 1 to 100 items"},
		{"each of an empty list", "inputs: {a: []}, each: a", "each: input a must be a list of 1 to 100 items"},
		{"each of many", "inputs: {a: [" + many + "]}, each: a", "each: input a must be a list of 1 to 100 items"},
		{"a field that an item lacks", "inputs: {a: [{name: x}, {nam: y}, z]}, each: a", "each: the request has {name}, but item 2 of input a has no such field"},
		{"no image", "images: []", "images: must name 1 to 8 files, but names 0"},
		{"many images", "images: [a, b, c, d, e, f, g, h, i]", "images: must name 1 to 8 files, but names 9"},
		{"an image that is not there", "images: [none.png]", `images[0]: image "none.png": there is no such file`},
		{"an image outside", "images: [../a.png]", `images[0]: image "../a.png": must be a path below the suite folder, with slashes and no parent folders`},
		{"the folder", "images: [.]", `images[0]: image ".": must be a path below the suite folder, with slashes and no parent folders`},
		{"a folder", "images: [dir]", `images[0]: image "dir": cannot read the file: read dir: invalid argument`},
		{"no picture", "images: [a.png, b.txt]", `images[1]: image "b.txt": must be PNG, JPEG, GIF or WebP, but its content is text/plain; charset=utf-8`},
		{"a large image", "images: [big.png]", `images[0]: image "big.png": the file is larger than 4 MiB`},
		{"a schema that nothing fits", "answer_schema: {type: object, properties: {a: {type: string, minLength: 3, maxLength: 2}}, required: [a]}", "answer_schema: no answer could fit this: "},
		{"no schema", "answer_schema: {type: thing}", "answer_schema: not a valid JSON Schema: /type: got string, want array; /type: value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'"},
		{"a schema that is a word", "answer_schema: number", "answer_schema: not a valid JSON Schema: not a JSON object"},
		{"a session's name", "session: a b", `session: "a b" may hold only letters, digits, dot, dash and underscore`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := suitetest.Head + "tasks:\n- {id: A, request: 'Do {name}', " + tc.fields + ", expect: {status: answered}}\n"
			got := problemsOf(t, suitetest.Folder(text, files...))
			require.Len(t, got, 1)
			require.Contains(t, got[0], "tasks[0]."+tc.want)
		})
	}
}

// All problems of a task are reported together.
func TestLoadGivenProblemsTogether(t *testing.T) {
	got := problemsOf(t, suitetest.Folder(suitetest.Head+"tasks:\n- {id: A, request: Hi, inputs: {a: .nan}, each: b, images: [x], answer_schema: [], session: '', expect: {status: answered}}\n"))
	require.Len(t, got, 5)
}

// A link inside the folder may lead out of it.
func TestImagesAreNoLinks(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "a.png"), suitetest.Picture(t), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, SuiteFile), []byte(suitetest.Head+"tasks:\n- {id: A, request: Hi, images: [a.png, sub/a.png], expect: {status: answered}}\n"), 0o600))
	if err := os.Symlink(filepath.Join(outside, "a.png"), filepath.Join(dir, "a.png")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "sub")))
	_, err := Suite(os.DirFS(dir), "s", suitetest.Worlds())
	require.ErrorContains(t, err, `images[0]: image "a.png": a.png is a symbolic link: put the file itself there`)
	require.ErrorContains(t, err, `images[1]: image "sub/a.png": sub is a symbolic link: put the file itself there`)
}

func TestSessionProblems(t *testing.T) {
	task := func(id, more string) string {
		return fmt.Sprintf("- {id: %s, request: Hi, session: s, %sexpect: {status: answered}}\n", id, more)
	}
	long := ""
	for i := range maxSession + 1 {
		long += task(fmt.Sprintf("T%d", i), "")
	}
	require.Equal(t, []string{"s/suite.yaml:21: tasks[1].session: session s starts with task A: all of its tasks must be scripted, or none"},
		problemsOf(t, suitetest.Folder(suitetest.Head+"tasks:\n"+task("A", "")+task("B", "scripted: true, script: [{respond: x}], "))))
	require.Equal(t, []string{"s/suite.yaml:70: tasks[50].session: session s has more than 50 tasks"}, problemsOf(t, suitetest.Folder(suitetest.Head+"tasks:\n"+long)))
}

// A suite that does not use these fields has the same digests as before they existed.
func TestGivenDigests(t *testing.T) {
	files := []string{"pictures/a.png", string(suitetest.Picture(t)), "b", "GIF89a\x01\x00", "c", "GIF89a\x01\x00"}
	plain, err := Suite(suitetest.Folder(suitetest.Head+"tasks: ["+suitetest.Task+"]\n"), "s", suitetest.Worlds())
	require.NoError(t, err)
	require.Equal(t, "a268da45cd2f", plain.Digest[:12])
	require.Equal(t, "ec62ee08ebbd3d5a", plain.TaskParts(plain.Tasks[0]).Request)

	of := func(text string) (string, goldens.TaskParts) {
		s, err := Suite(suitetest.Folder(suitetest.Head+"tasks:"+text, files...), "s", suitetest.Worlds())
		require.NoError(t, err)
		return s.Digest, s.TaskParts(s.Tasks[0])
	}
	base, parts := of(suitetest.Given)
	for name, c := range map[string]struct{ from, to string }{
		"an input":        {"Brant Rock", "Brant"},
		"inputs' names":   {"limits", "bounds"},
		"each":            {"each: lights", "each: lights2\n    # lights"},
		"an image's file": {"images: [pictures/a.png, b]", "images: [b, pictures/a.png]"},
		"answer schema":   {"required: [height]", "required: []"},
		"session":         {"Coast.1", "Coast.2"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(suitetest.Given, c.from, c.to, 1)
			if name == "each" {
				text = strings.Replace(text, "limits: {", "lights2: [x]\n      limits: {", 1)
			}
			digest, is := of(text)
			require.NotEqual(t, base, digest)
			require.NotEqual(t, parts.Request, is.Request)
			is.Request = parts.Request
			require.Equal(t, parts, is, "nothing else changed")
		})
	}
	digest, _ := of(strings.Replace(suitetest.Given, "images: [pictures/a.png, b]", "images: [pictures/a.png, c]", 1))
	require.Equal(t, base, digest, "what an image is called does not matter")
}
