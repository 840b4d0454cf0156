package tool

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name, text string
		ok         bool
	}{
		{"empty object", `{}`, true},
		{"white space around", " \n\t\r{ \"a\" : [ 1 , 2 ] }\n", true},
		{"scalar", `-0.5e+10`, true},
		{"lone surrogate escape", `"\ud83d"`, true},
		{"empty", ``, false},
		{"only space", ` `, false},
		{"two values", `{} {}`, false},
		{"byte-order mark", "\uFEFF{}", false},
		{"no-break space", "\u00A0{}", false},
		{"invalid UTF-8", "\"\xff\"", false},
		{"encoded surrogate", "\"\xed\xa0\xbd\"", false},
		{"raw newline in string", "\"\n\"", false},
		{"short escape", `"\u12"`, false},
		{"unknown escape", `"\'"`, false},
		{"escape at the end", `"\`, false},
		{"open string", `"a`, false},
		{"leading zero", `01`, false},
		{"bare point", `.5`, false},
		{"point without digits", `5.`, false},
		{"exponent without digits", `1e`, false},
		{"plus", `+1`, false},
		{"minus alone", `-`, false},
		{"infinity", `Infinity`, false},
		{"cut literal", `tru`, false},
		{"long literal", `nullx`, false},
		{"trailing comma in object", `{"a":1,}`, false},
		{"trailing comma in array", `[1,]`, false},
		{"leading comma", `[,1]`, false},
		{"missing colon", `{"a" 1}`, false},
		{"missing value", `{"a":}`, false},
		{"number as name", `{1:2}`, false},
		{"mixed brackets", `{"a":[1}]`, false},
		{"open object", `{"a":1`, false},
		{"open after name", `{"a"`, false},
		{"extra closing", `{}}`, false},
		{"deep and open", strings.Repeat("[", 1<<16), false},
		{"deep", " " + nested(1<<16, "null") + "\n", true},
		{"deep, brackets in strings", nested(10_001, `"[\"]}\\"`), true},
		{"deep, repeated names", nested(10_001, `{"a":"\ud800","a":[]}`), true},
		{"deep, siblings", nested(9_999, `[[]],[[[]]],[{"a":[]}]`), true},
		{"deep, invalid inside", nested(10_001, "01"), false},
		{"deep, mixed brackets", nested(10_001, "{]"), false},
		{"deep, object as name", nested(9_999, `{[]:1}`), false},
		{"deep, extra closing", nested(10_001, "") + "]", false},
		{"deep, two values", nested(10_001, "") + nested(1, ""), false},
		{"deep, value before", "1" + nested(10_001, ""), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, parsed := ParseJSON(c.text)
			require.Equal(t, c.ok, parsed)
		})
	}
}

// nested puts content into the given number of nested arrays.
func nested(depth int, content string) string {
	return strings.Repeat("[", depth) + content + strings.Repeat("]", depth)
}

func TestShape(t *testing.T) {
	_, shape, ok := ParseJSON(` [1, {"a": [[]], "b": "x"}, null] `)
	require.True(t, ok)
	require.Equal(t, Shape{Depth: 4, Values: 7, Bytes: 34}, shape)

	deep := strings.Repeat("[", 64) + strings.Repeat("]", 64)
	_, shape, ok = ParseJSON(deep)
	require.True(t, ok)
	require.False(t, shape.TooDeep())
	_, shape, ok = ParseJSON("[" + deep + "]")
	require.True(t, ok)
	require.True(t, shape.TooDeep())
}

func TestParseKeepsEverything(t *testing.T) {
	root, _, ok := ParseJSON(`{"n": 1.00, "n":2, "\ud83d": ["\u0061\ud83d\ude00", {}, []], "t":true,"f":false,"z":null}`)
	require.True(t, ok)
	require.Len(t, root.Members, 6)
	require.Equal(t, "1.00", root.Members[0].Value.Raw)
	last, ok := root.Get("n")
	require.True(t, ok)
	require.Equal(t, "2", last.Raw)
	require.Equal(t, "\xed\xa0\xbd", root.Members[2].Name)
	require.Equal(t, "a😀", root.Members[2].Value.Elems[0].Text())
	require.Equal(t, map[string]any{
		"n": json.Number("2"), "\uFFFD": []any{"a😀", map[string]any{}, []any{}}, "t": true, "f": false, "z": nil,
	}, root.Decoded())
	_, ok = root.Get("absent")
	require.False(t, ok)
}

func TestParseBeyondLimits(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 100) + `"}"` + strings.Repeat("}", 100)
	root, shape, ok := ParseJSON(deep)
	require.True(t, ok)
	require.True(t, shape.TooDeep())
	require.Equal(t, deep, root.Raw)
	level := root
	for range maxDepth {
		require.Len(t, level.Members, 1)
		level, _ = level.Get("a")
	}
	require.Empty(t, level.Members)
	require.True(t, strings.HasPrefix(level.Raw, `{"a":`) && strings.HasSuffix(level.Raw, "}"))

	for name, text := range map[string]string{
		"bytes":  ` "` + strings.Repeat("x", maxBytes) + "\" \n",
		"values": " [0" + strings.Repeat(",0", maxValues) + "]",
	} {
		t.Run(name, func(t *testing.T) {
			root, shape, ok := ParseJSON(text)
			require.True(t, ok)
			require.True(t, shape.TooLarge())
			require.Equal(t, strings.TrimSpace(text), root.Raw)
			require.Empty(t, root.Elems)
		})
	}
}

func TestDuplicates(t *testing.T) {
	many := `{"k0":0`
	for range 20 {
		many += `,"k0":0,"k1":0`
	}
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"none", `{"a":{"a":1},"b":[{"a":1},{"a":2}]}`, nil},
		{"each name once", `{"a":1,"a":2,"a":3}`, []string{".a"}},
		{"nested in order", `{"x":{"a":1,"a":2},"l":[0,{"b":1,"b":1}],"x":0}`, []string{".x.a", ".l[1].b", ".x"}},
		{"equal after unescaping", `{"label":1,"l\u0061bel":2}`, []string{".label"}},
		{"many members", many + "}", []string{".k0", ".k1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, _, ok := ParseJSON(c.text)
			require.True(t, ok)
			require.Equal(t, c.want, paths(root.Duplicates(10)))
		})
	}
	root, _, _ := ParseJSON(`{"a":1,"a":1,"b":1,"b":1}`)
	require.Equal(t, []string{".a"}, paths(root.Duplicates(1)))
	root, _, _ = ParseJSON(`{"x":[0,{"a/b~c":1,"a/b~c":1}]}`)
	require.Equal(t, []Duplicate{{".x[1].a/b~c", "/x/1/a~1b~0c"}}, root.Duplicates(1))
}

func paths(list []Duplicate) (out []string) {
	for _, d := range list {
		out = append(out, d.Path)
	}
	return out
}

func TestLabel(t *testing.T) {
	for name, want := range map[string]string{
		"start_date":            "start_date",
		"__proto__":             "__proto__",
		"Größe":                 "Größe",
		"a b\n:c.d<e>":          "a\uFFFDb\uFFFD\uFFFDc\uFFFDd\uFFFDe\uFFFD",
		"\xed\xa0\xbd":          "\uFFFD\uFFFD\uFFFD",
		strings.Repeat("x", 70): strings.Repeat("x", 64) + "…",
		"\u202Eevil\u200B":      "\uFFFDevil\uFFFD",
		strings.Repeat("é", 64): strings.Repeat("é", 64),
	} {
		require.Equal(t, want, Label(name), "%q", name)
	}
}

// FuzzParse checks ParseJSON and Decoded against encoding/json.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.5e-3,"x\u00e9\ud83d\ude00\ud83d",true,false,null,{}]}`, ` [ ] `, `{"a":1,"a":2}`, `"\ud83d\u0041"`, `01`, `{"a":}`, "\"\xff\"", "[[[[",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		root, shape, ok := ParseJSON(text)
		if !utf8.ValidString(text) || strings.Count(text, "[")+strings.Count(text, "{") > 9000 {
			return // encoding/json accepts invalid UTF-8, and refuses depth 10000
		}
		require.Equal(t, json.Valid([]byte(text)), ok)
		if !ok {
			return
		}
		require.Equal(t, strings.Trim(text, " \t\n\r"), root.Raw)
		if shape.TooDeep() || shape.TooLarge() {
			return
		}
		in := json.NewDecoder(bytes.NewReader([]byte(text)))
		in.UseNumber()
		var want any
		require.NoError(t, in.Decode(&want))
		require.Equal(t, want, root.Decoded())
		root.Duplicates(10)
	})
}

func BenchmarkParse(b *testing.B) {
	text := `{"control":{"done":false,"reason":"ok"},"next_action":{"type":"tool","name":"get","args":{"a":[1,2,3]}},"x":"` + strings.Repeat("y", 800) + `"}`
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	// Floor: utf8.ValidString over the same bytes, which Check does first.
	for b.Loop() {
		ParseJSON(text)
	}
}
