package cassette

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder/internal/canonical"
)

// shipped returns the last request of a cassette of the built-in suite, which has the longest
// scratchpad.
func shipped(t *testing.T, name string) Request {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "goldens", "counts", "cassettes", filepath.FromSlash(name)))
	require.NoError(t, err)
	tp, err := Decode(text, false)
	require.NoError(t, err)
	return tp.Interactions[len(tp.Interactions)-1].Raw()
}

// withTools is a request with fields that the built-in suite's requests do not have.
const withTools = `{"model":"m","temperature":0.1,"stream":false,"stop":null,"tools":[{"type":"function","function":{"name":"get_counts",
"description":"one\ntwo\nthree","parameters":{"type":"object","properties":{"label":{"enum":["angry","praise"]},"odd name":{}},"required":["date","label"]}}},
{"type":"function","function":{"name":"now"}}],"messages":[{"role":"system","content":"a\nb\nc"},{"role":"user","content":[{"type":"text","text":"hi"}]},
{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"now","arguments":"{\"a\":1}"}}]}],
"url":"u","status":{"body":1}}`

// mutation is one change of a document and the field that a diff must name.
type mutation struct{ field, body string }

// mutations changes, removes and adds every field of a document in turn.
func mutations(t *testing.T, root any) []mutation {
	t.Helper()
	var all []mutation
	note := func(field string) {
		text, err := json.Marshal(root)
		require.NoError(t, err)
		all = append(all, mutation{field, string(text)})
	}
	var walk func(at string, v any, set func(any))
	leaf := func(at string, v, other any, set func(any)) {
		set(other)
		note(at)
		set(v)
	}
	walk = func(at string, v any, set func(any)) {
		switch x := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(x)) {
				was, path := x[name], at+field(at, name)
				delete(x, name)
				note(path)
				x[name] = was
				walk(path, was, func(n any) { x[name] = n })
			}
			x["brand_new"] = map[string]any{"a": 1}
			note(at + field(at, "brand_new"))
			delete(x, "brand_new")
		case []any:
			set(append(slices.Clone(x), "brand new"))
			note(at)
			set(slices.Delete(slices.Clone(x), 0, 1))
			note(at)
			set(x)
			for i := range x {
				walk(fmt.Sprintf("%s[%d]", at, i), x[i], func(n any) { x[i] = n })
			}
		case string:
			leaf(at, v, x+"!", set)
			leaf(at, v, "!"+x, set)
			leaf(at, v, x[:len(x)/2]+"!"+x[len(x)/2:], set)
			leaf(at, v, x+"\n", set)
			leaf(at, v, nil, set)
		default:
			leaf(at, v, "other", set)
		}
	}
	walk("", root, func(any) {})
	return all
}

func TestDiffNamesEveryChangedField(t *testing.T) {
	requests := map[string]Request{
		"chat":      shipped(t, "strong/G01/1.yaml"),
		"anthropic": shipped(t, "strong-anthropic/G16/1.yaml"),
		"tools":     {Method: "POST", URL: "https://api.test/", Body: withTools},
	}
	for name, req := range requests {
		t.Run(name, func(t *testing.T) {
			root, ok := parseJSON(req.Body)
			require.True(t, ok)
			all := mutations(t, root)
			require.Greater(t, len(all), 20)
			for _, m := range all {
				changed := req
				changed.Body = m.body
				for _, pair := range [][2]Request{{req, changed}, {changed, req}} {
					lines := diffRequests(pair[0], pair[1])
					require.NotEmpty(t, lines, m.field)
					require.LessOrEqual(t, len(lines), 2, "one field changed: %s", m.field) // two if a member inside a string of JSON was renamed
					for _, l := range lines {
						rest, ok := strings.CutPrefix(l, m.field)
						require.True(t, ok && strings.ContainsAny(rest[:1], ":[("), "%s is not named: %s", m.field, l)
						require.Less(t, len(l), 500)
					}
					require.Equal(t, lines, diffRequests(pair[0], pair[1]), "the same every time")
				}
			}
		})
	}
}

func TestDiffTexts(t *testing.T) {
	cases := []struct {
		name, old, now string
		want           []string
	}{
		{"a scalar added to a list", `{"required":["date"]}`, `{"required":["date","label"]}`, []string{`required: added "label"`}},
		{"a scalar removed", `{"required":["date","label"]}`, `{"required":["label"]}`, []string{`required: removed "date"`}},
		{"a scalar replaced", `{"e":["a","b","c"]}`, `{"e":["a","x","c"]}`, []string{`e[1]: "b" → "x"`}},
		{"a message put in between", `{"m":[{"r":1},{"r":2}]}`, `{"m":[{"r":1},{"r":9},{"r":2}]}`, []string{`m[1]: added {"r":9}`}},
		{"a message taken out", `{"m":[{"r":1},{"r":9},{"r":2}]}`, `{"m":[{"r":1},{"r":2}]}`, []string{`m[1]: removed {"r":9}`}},
		{"two places of a text", `{"t":"a\nb\nc\nd\ne"}`, `{"t":"a\nB\nc\nd\ne\nf"}`, []string{`t: line 2 changed ("b" → "B")`, `t: line 6 added ("f")`}},
		{"some lines for others", `{"t":"a\nb\nc\nd"}`, `{"t":"a\nx\ny\nz\nd"}`, []string{`t: lines 2–4 changed, 2 → 3 lines ("b" → "x")`}},
		{"lines removed", `{"t":"a\nb\nc\nd"}`, `{"t":"a\nd"}`, []string{`t: lines 2–3 removed ("b")`}},
		{"many lines", `{"t":"1\na\n2\na\n3\na\n4\na\n5\na\n6"}`, `{"t":"i\na\nii\na\niii\na\niv\na\nv\na\nvi"}`, []string{
			`t: line 1 changed ("1" → "i")`, `t: line 3 changed ("2" → "ii")`, `t: line 5 changed ("3" → "iii")`,
			`t: line 7 changed ("4" → "iv")`, `t: 2 more changes of its lines`,
		}},
		{"JSON in a string", `{"c":"{\"next\":{\"type\":\"tool\"}}"}`, `{"c":"{ \"next\": {\"type\": \"respond\"}}"}`, []string{`c(JSON).next.type: "tool" → "respond"`}},
		{"white space of JSON in a string", `{"c":"{\"a\":1}"}`, `{"c":"{\"a\": 1}"}`, []string{`c: "{\"a\":1}" → "{\"a\": 1}"`}},
		{"a stream", "data: {\"d\":\"x\"}\n\ndata: {\"d\":\"y\"}\n\ndata: [DONE]\n\n", "data: {\"d\":\"x\"}\n\ndata: {\"d\":\"z\"}\n\ndata: [DONE]\n\n", []string{`events[1].d: "y" → "z"`}},
		{"a list at the top", `[1,2]`, `[1,3]`, []string{"body[1]: 2 → 3"}},
		{"a scalar at the top", `1`, `2`, []string{"body: 1 → 2"}},
		{"JSON no more", `{"a":1}`, `a=1`, []string{`body: "{\"a\":1}" → "a=1"`}},
		{"a field named like a part of the request", `{"url":1}`, `{"url":2}`, []string{`["url"]: 1 → 2`}},
		{"long values", `{"a":1}`, `{"a":{"b":"` + strings.Repeat("x", 200) + `"}}`, []string{`a: 1 → {"b":"` + strings.Repeat("x", 54) + "…"}},
		{"quotes in values", `{"a":1}`, `{"a":{"b":"\"\\"}}`, []string{`a: 1 → {"b":"\"\\"}`}},
		{"what a terminal must not see", `{"a":1}`, `{"a":["\u009b\u202e"]}`, []string{`a: 1 → ["\u009b\u202e"]`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, diffRequests(Request{Method: "POST", URL: "u", Body: c.old}, Request{Method: "POST", URL: "u", Body: c.now}))
		})
	}
	require.Equal(t, []string{`method: "GET" → "PUT"`, `url: "https://a/x" → "https://a/y"`},
		diffRequests(Request{Method: "GET", URL: "https://a/x", Body: ""}, Request{Method: "PUT", URL: "https://a/y", Body: ""}))
}

func TestDiffsOfLongPathsAreBounded(t *testing.T) {
	deep := func(leaf string) string {
		return strings.Repeat(`{"`+strings.Repeat("é", 40)+`":`, 500) + leaf + strings.Repeat("}", 500)
	}
	lines := diffRequests(Request{Method: "POST", URL: "u", Body: deep("1")}, Request{Method: "POST", URL: "u", Body: deep("2")})
	require.Len(t, lines, 1)
	require.Less(t, len(lines[0]), placeSize+20)
	require.NotContains(t, lines[0], `\x`)

	nested := `"x"`
	other := `"y"`
	for range 10 {
		a, err := json.Marshal(`{"a":` + nested + `}`)
		require.NoError(t, err)
		b, err := json.Marshal(`{"a":` + other + `}`)
		require.NoError(t, err)
		nested, other = string(a), string(b)
	}
	lines = diffRequests(Request{Method: "POST", URL: "u", Body: `{"a":` + nested + `}`}, Request{Method: "POST", URL: "u", Body: `{"a":` + other + `}`})
	require.Len(t, lines, 1)
	require.Equal(t, maxNesting, strings.Count(lines[0], "(JSON)"))
	require.Less(t, len(lines[0]), 400)

	long := make([]string, 2000)
	for i := range long {
		long[i] = fmt.Sprint(i)
	}
	other2 := slices.Clone(long)
	slices.Reverse(other2)
	require.Equal(t, []hunk{{0, 2000, 0, 2000}}, hunks(long, other2), "too much to align")

	const canary = "sk-proj-Zx81bGq0aWv7Rt5Yu3Io2Pk9Lm4Nb6Vc"
	for _, body := range []string{`{"` + canary + `":1}`, `{"a":{"b":["` + canary + `"]}}`, `{"l":["` + canary + `"]}`, `{"a":"{\"k\":\"` + canary + `\"}"}`} {
		for _, pair := range [][2]string{{`{}`, body}, {body, `{}`}, {`{"a":"{\"k\":1}","l":[]}`, body}} {
			text := strings.Join(diffRequests(Request{Method: "POST", URL: "u", Body: pair[0]}, Request{Method: "POST", URL: "u", Body: pair[1]}), "\n")
			require.Contains(t, text, "withheld")
			require.NotContains(t, text, canary[8:16])
		}
	}
}

// FuzzHunks checks that applying the hunks of two lists to the first gives the second.
func FuzzHunks(f *testing.F) {
	f.Add("abcabba", "cbabac")
	f.Add("", "x")
	f.Add("same", "same")
	f.Fuzz(func(t *testing.T, a, b string) {
		old, now := strings.Split(a, ""), strings.Split(b, "")
		var got []string
		at := 0
		for _, h := range hunks(old, now) {
			require.True(t, h.a < h.b || h.c < h.d, "an empty hunk")
			require.GreaterOrEqual(t, h.a, at)
			got = append(append(got, old[at:h.a]...), now[h.c:h.d]...)
			at = h.b
		}
		require.Equal(t, strings.Join(now, ""), strings.Join(append(got, old[at:]...), ""))
	})
}

// FuzzDiff checks that a diff is empty exactly if the digests are equal, and is bounded and
// printable for all bodies.
func FuzzDiff(f *testing.F) {
	f.Add(withTools, strings.Replace(withTools, "angry", "sad", 1))
	f.Add(`{"a":1,"a":2}`, `{"a":2}`)
	f.Add("data: {\"a\":\"\\u001b\"}\n\ndata: [DONE]\n", "data: {}\r\n")
	f.Add("@", strings.Repeat("\xb8", 200)+"@\xdd")
	f.Add(`"\ud800"`, "\"\xff\"")
	f.Add(`{"a":"[1,2]"}`, `{"a":"[1, 2]"}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		lines := diffRequests(Request{Method: "POST", URL: "u", Body: a}, Request{Method: "POST", URL: "u", Body: b})
		require.Equal(t, canonical.Digest("POST", "u", a) == canonical.Digest("POST", "u", b), len(lines) == 0)
		require.LessOrEqual(t, len(lines), maxDiffLines+1)
		for _, l := range lines {
			require.Less(t, len(l), 1500)
			require.Equal(t, -1, strings.IndexFunc(l, func(r rune) bool { return !strconv.IsPrint(r) }), "%q", l)
		}
	})
}

func TestDiffIsBoundedAndKeepsSecrets(t *testing.T) {
	var old, now strings.Builder
	for i := range 100 {
		fmt.Fprintf(&old, `"f%03d":"%s",`, i, strings.Repeat("é", 1000))
		fmt.Fprintf(&now, `"f%03d":"%s",`, i, strings.Repeat("é", 500)+"x"+strings.Repeat("é", 500))
	}
	lines := diffRequests(Request{Method: "POST", URL: "u", Body: "{" + old.String() + `"z":1}`}, Request{Method: "POST", URL: "u", Body: "{" + now.String() + `"z":1}`})
	require.Len(t, lines, maxDiffLines+1)
	require.Equal(t, "… and 88 more", lines[maxDiffLines])
	for _, l := range lines {
		require.Less(t, len(l), 400)
		require.NotContains(t, l, `\x`, "no rune is cut")
	}

	const canary = "sk-proj-Zx81bGq0aWv7Rt5Yu3Io2Pk9Lm4Nb6Vc"
	for _, pair := range [][2]string{
		{`{"a":"x"}`, `{"a":"` + canary + `"}`}, {`{}`, `{"a":"` + canary + `"}`}, {`{"a":"` + canary + `"}`, `{}`},
		{`{"a":1}`, `{"a":"` + canary + `"}`}, {`x`, "line\n" + canary}, {`{"a":"l\nm"}`, `{"a":"l\n` + canary + `"}`},
	} {
		for _, l := range diffRequests(Request{Method: "POST", URL: "u", Body: pair[0]}, Request{Method: "POST", URL: "u", Body: pair[1]}) {
			require.Contains(t, l, "withheld")
			require.NotContains(t, l, canary[8:16])
		}
	}
}

func TestEveryDigestChangeHasADiff(t *testing.T) {
	lines := diffRequests(Request{Method: "POST", URL: "u", Body: `{"a":1,"a":2}`}, Request{Method: "POST", URL: "u", Body: `{"a":2}`})
	require.Equal(t, []string{`body: "{\"a\":1,\"a\":2}" → "{\"a\":2}"`}, lines)
}
