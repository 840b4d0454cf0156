package state

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const shop = `{"refunds":[{"amount":25,"order":"O7"},{"amount":5,"order":"O8"}],"orders":{"O7":{"lines":[{"sku":"a.b"}],"status":"open"},"O 8":{"status":null}},"a.b\\":{"":1}}`

func TestSelectors(t *testing.T) {
	const flows = `{"rows":[{"n":1,"name":"a"},{"n":2,"name":"b \"c\""}],"workflows":{"wf_1":{"name":"Daily.report","on":null},"wf_2":{"name":"Other","on":"v2"},"x[1]":3}}`
	for text, want := range map[string]string{
		`workflows[name="Other"].on`:          `"v2"`,
		`workflows[name="Daily.report"].on`:   `null`,
		`workflows[name="Other"][on="v2"]`:    ``,
		`rows[name="b \"c\""].n`:              `2`,
		`workflows.x\[1]`:                     `3`,
		`workflows[name="None"].on`:           ``,
		`workflows.wf_1[name="Daily.report"]`: ``,
	} {
		p, err := ParsePath(text)
		require.NoError(t, err, text)
		require.Equal(t, text, p.String())
		value, _, ok := Get(json.RawMessage(flows), p)
		require.Equal(t, want != "", ok, text)
		if ok {
			require.Equal(t, want, string(value), text)
		}
	}
	p, err := ParsePath(`[name="b"].n`)
	require.NoError(t, err)
	value, _, ok := Get(json.RawMessage(`[{"n":7,"name":"b"}]`), p)
	require.True(t, ok)
	require.Equal(t, "7", string(value))
	for text, want := range map[string]string{
		`a[b]`:      `path "a[b]": a selector is written as in workflows[name="Daily report"].draft; write \[ for a bracket of a key`,
		`a.[b="c"]`: `path "a.[b=\"c\"]": a selector is written as in workflows[name="Daily report"].draft; write \[ for a bracket of a key`,
		`a[b="c"]d`: `path "a[b=\"c\"]d": a selector is followed by a dot`,
		`a[b="c"].`: `path "a[b=\"c\"].": a key is empty; remove the extra dot, or write \. for a dot of a key`,
	} {
		_, err := ParsePath(text)
		require.EqualError(t, err, want)
	}
}

func TestPath(t *testing.T) {
	for text, want := range map[string]Path{
		".":               {},
		"orders":          {"orders"},
		"orders.O7.0.sku": {"orders", "O7", "0", "sku"},
		`a\.b\\.\-`:       {`a.b\`, ""},
		`\-`:              {""},
		"-.O 8.愤":         {"-", "O 8", "愤"},
	} {
		p, err := ParsePath(text)
		require.NoError(t, err)
		require.Equal(t, []string(want), append([]string{}, p...))
		require.Equal(t, text, p.String())
	}
	for text, want := range map[string]string{
		"a..b": `path "a..b": a key is empty; remove the extra dot, or write \. for a dot of a key`,
		".a":   `path ".a": a key is empty; remove the extra dot, or write \. for a dot of a key`,
		"a.":   `path "a.": a key is empty; remove the extra dot, or write \. for a dot of a key`,
		`a\n`:  `path "a\\n": \n is not an escape; write \. for a dot and \\ for a backslash of a key`,
		"\x00": `path "\x00": contains the character NUL; remove it`,
		`a\`:   `path "a\\": ends with a backslash; write \\ for a backslash of a key`,
	} {
		_, err := ParsePath(text)
		require.EqualError(t, err, want)
	}
	require.True(t, Path{"a", "b"}.Under(Path{"a"}))
	require.True(t, Path{"a"}.Under(nil))
	require.False(t, Path{"ab"}.Under(Path{"a"}))
	require.False(t, Path{"a"}.Under(Path{"a", "b"}))
}

func TestGet(t *testing.T) {
	for path, want := range map[string]string{
		".":                    shop,
		"orders.O7.status":     `"open"`,
		"orders.O7.lines.0":    `{"sku":"a.b"}`,
		"orders.O 8.status":    "null",
		"refunds.1.amount":     "5",
		`a\.b\\.\-`:            "1",
		"refunds.2":            "missing below refunds",
		"refunds.01":           "missing below refunds",
		"orders.O7.status.x":   "missing below orders.O7.status",
		"orders.O9.status":     "missing below orders",
		"orders.O7.lines.-1":   "missing below orders.O7.lines",
		"nowhere":              "missing below .",
		"orders.O7.lines.0.sk": "missing below orders.O7.lines.0",
	} {
		p, err := ParsePath(path)
		require.NoError(t, err)
		got, reached, ok := Get(json.RawMessage(shop), p)
		if !ok {
			got = json.RawMessage("missing below " + reached.String())
		}
		require.Equal(t, want, string(got), path)
	}
}

func TestDiff(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		want           []string
	}{
		{"equal", shop, shop, nil},
		{"both without a state", "", "", nil},
		{"a member changes, one comes, one goes", `{"a":1,"b":2,"c":{"x":true}}`, `{"a":1,"c":{"x":false},"d":[]}`, []string{"b: 2 → nothing", "c.x: true → false", "d: nothing → []"}},
		{"items", `[1,{"a":1},3]`, `[1,{"a":2},3,4,5,6,7,8,9,10,11]`, []string{"1.a: 1 → 2", "3: nothing → 4", "4: nothing → 5", "5: nothing → 6", "6: nothing → 7", "7: nothing → 8", "8: nothing → 9", "9: nothing → 10", "10: nothing → 11"}},
		{"another kind", `{"a":[]}`, `{"a":{}}`, []string{"a: [] → {}"}},
		{"emptied", `{"a":{"b":1}}`, `{"a":{}}`, []string{"a.b: 1 → nothing"}},
		{"the whole", `1`, `"1"`, []string{`.: 1 → "1"`}},
		{"keys in the order of UTF-16, as processes give them", `{"a":1,"😀":1,"～":1}`, `{"a":1,"b":{},"😀":2}`, []string{"b: nothing → {}", "～: 1 → nothing", "😀: 1 → 2"}},
		{"keys to escape", `{"a.b":{"\"":1}}`, `{"a.b":{"\"":2}}`, []string{`a\.b.": 1 → 2`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, d := range Diff([]byte(c.from), []byte(c.to)) {
				got = append(got, d.Path.String()+": "+Show(d.From)+" → "+Show(d.To))
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestHash(t *testing.T) {
	require.Equal(t, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", Hash([]byte("{}")))
	require.Empty(t, Hash(nil))
}

func TestCheck(t *testing.T) {
	require.NoError(t, Check([]byte(shop), len(shop)))
	require.EqualError(t, Check([]byte(shop), 9), fmt.Sprintf("it has %d bytes of JSON, more than 9; leave out what never changes", len(shop)))
	require.EqualError(t, Check([]byte(`{"a"}`), 100), "it is not JSON")
	require.EqualError(t, Check([]byte(`{"a b\" c": 1}`), 100), "it is not canonical JSON: there are spaces between its values; write it with json.Marshal")
}

func TestAssertion(t *testing.T) {
	n := func(s string) json.Number { return json.Number(s) }
	for _, c := range []struct {
		path  string
		wants map[string]any
		want  string
	}{
		{"orders.O7.status", map[string]any{"is": "open"}, ""},
		{"orders.O7.status", map[string]any{"is": "refunded"}, `orders.O7.status: want "refunded", got "open"`},
		{"orders.O9.status", map[string]any{"is": "open"}, `orders.O9.status: want "open", got nothing: there is no orders.O9`},
		{"ordrs.O9", map[string]any{"is": "open"}, `ordrs.O9: want "open", got nothing: there is no ordrs`},
		{"orders.O 8.status", map[string]any{"is": nil}, ""},
		{"refunds.0.amount", map[string]any{"is": n("25.0")}, ""},
		{"refunds.0.amount", map[string]any{"is": map[string]any{"$gte": n("26")}}, `refunds.0.amount: want {"$gte":26}, got 25`},
		{"orders.O7.status", map[string]any{"not": "refunded"}, ""},
		{"orders.O7.status", map[string]any{"not": "open"}, `orders.O7.status: want not "open", got "open"`},
		{"orders.O9", map[string]any{"not": "open"}, `orders.O9: want not "open", got nothing: there is no orders.O9`},
		{"refunds", map[string]any{"count": n("2")}, ""},
		{"orders", map[string]any{"count": map[string]any{"$lte": n("1")}}, `orders: want count {"$lte":1}, got 2`},
		{"refunds.0.order", map[string]any{"count": n("2")}, `refunds.0.order: want count 2, got "O7"`},
		{"orders.O7.status", map[string]any{"matches": "^op"}, ""},
		{"orders.O7.status", map[string]any{"matches": "^re"}, `orders.O7.status: want matches "^re", got "open"`},
		{"refunds.0.amount", map[string]any{"matches": "2"}, `refunds.0.amount: want matches "2", got 25`},
		{"refunds.1", map[string]any{"exists": true}, ""},
		{"refunds.2", map[string]any{"exists": true}, "refunds.2: want a value, got nothing: there is no refunds.2"},
		{"refunds.2", map[string]any{"exists": false}, ""},
		{"refunds.1.order", map[string]any{"exists": false}, `refunds.1.order: want no value, got "O8"`},
		{"refunds", map[string]any{"some": map[string]any{"order": "O8"}}, ""},
		{"refunds", map[string]any{"some": map[string]any{"order": "O8", "amount": n("25")}}, `refunds: want some {"amount":25,"order":"O8"}, got [{"amount":25,"order":"O7"},{"amount":5,"order":"O8"}]`},
		{"refunds", map[string]any{"every": map[string]any{"amount": map[string]any{"$gte": n("5")}}}, ""},
		{"refunds", map[string]any{"every": map[string]any{"order": "O7"}}, `refunds: want every {"order":"O7"}, got [{"amount":25,"order":"O7"},{"amount":5,"order":"O8"}]`},
		{"orders", map[string]any{"some": map[string]any{"status": nil}}, ""},
		{"refunds.0.order", map[string]any{"every": "O"}, `refunds.0.order: want every "O", got "O7"`},
		{"nowhere", map[string]any{"every": "O"}, `nowhere: want every "O", got nothing: there is no nowhere`},
		{"refunds", map[string]any{"count": n("3"), "exists": false}, `refunds: want count 3, got 2; want no value, got [{"amount":25,"order":"O7"},{"amount":5,"order":"O8"}]`},
		{".", map[string]any{"count": n("3")}, ""},
	} {
		got, err := Assertion{c.path, c.wants}.Check([]byte(shop))
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	long, err := Assertion{"a", map[string]any{"is": strings.Repeat("x", 10_000)}}.Check([]byte(`{"a":"` + strings.Repeat("愤", 10_000) + `"}`))
	require.NoError(t, err)
	require.Less(t, len(long), 300)
}

func TestAssertionThatCannotBeChecked(t *testing.T) {
	for want, a := range map[string]Assertion{
		`path "a..b": a key is empty; remove the extra dot, or write \. for a dot of a key`: {"a..b", map[string]any{"is": true}},
		"path: is empty; write . for the whole state":                                       {"", map[string]any{"is": true}},
		"a: has no operator; add one of is, not, count, matches, exists, every, some":       {Path: "a"},
		"was: unknown operator; allowed: is, not, count, matches, exists, every, some":      {"a", map[string]any{"was": true}},
		"exists: must be true or false":                                                     {"a", map[string]any{"exists": "yes"}},
		"matches: must be a string":                                                         {"a", map[string]any{"matches": true}},
		"matches: error parsing regexp: missing closing ): `(`":                             {"a", map[string]any{"matches": "("}},
		"is.$in: must be a list of at least one value":                                      {"a", map[string]any{"is": map[string]any{"$in": []any{}}}},
		"some.n.$gte: must be a number":                                                     {"a", map[string]any{"some": map[string]any{"n": map[string]any{"$gte": "1"}}}},
	} {
		require.EqualError(t, a.Validate(), want)
		if len(a.Wants) > 0 {
			_, err := a.Check([]byte("{}"))
			require.ErrorContains(t, err, want)
		}
	}
}

// flat is the oracle of Diff and Get: every value of a decoded state by its path.
func flat(out map[string]any, p Path, v any) {
	out[p.String()] = v
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			flat(out, append(slices.Clone(p), key), inner)
		}
	case []any:
		for i, inner := range v {
			flat(out, append(slices.Clone(p), strconv.Itoa(i)), inner)
		}
	}
}

// checkAgainstOracle demands that a difference is exactly what differs between decoded
// states, and that every value is found.
func checkAgainstOracle(t *testing.T, from, to json.RawMessage) {
	was, is := map[string]any{}, map[string]any{}
	flat(was, nil, decode(from))
	flat(is, nil, decode(to))
	for text, v := range is {
		p, err := ParsePath(text)
		require.NoError(t, err)
		got, _, ok := Get(to, p)
		require.True(t, ok, text)
		require.Equal(t, v, decode(got))
	}
	want := map[string]bool{}
	for text, v := range was {
		if other, ok := is[text]; !ok || !reflect.DeepEqual(v, other) && (!sameKind(v, other)) {
			want[text] = true
		}
	}
	for text := range is {
		if _, ok := was[text]; !ok {
			want[text] = true
		}
	}
	for text := range want { // what lies below a change is part of it
		p, _ := ParsePath(text)
		for i := range p {
			if want[p[:i].String()] && (text != "." || i > 0) {
				delete(want, text)
			}
		}
	}
	got := map[string]bool{}
	for _, c := range Diff(from, to) {
		require.False(t, got[c.Path.String()], "twice: %s", c.Path)
		got[c.Path.String()] = true
		require.Equal(t, c.From == nil, was[c.Path.String()] == nil && !has(was, c.Path))
		require.Equal(t, c.To == nil, !has(is, c.Path))
		if c.To != nil {
			require.Equal(t, is[c.Path.String()], decode(c.To))
		}
	}
	require.Equal(t, want, got)
}

func has(m map[string]any, p Path) bool { _, ok := m[p.String()]; return ok }

// sameKind reports whether both are objects or both are lists: they differ in what they
// hold, if at all.
func sameKind(a, b any) bool {
	switch a.(type) {
	case map[string]any:
		_, ok := b.(map[string]any)
		return ok
	case []any:
		_, ok := b.([]any)
		return ok
	}
	return false
}

// random makes a state; few keys and values, so that two have much in common.
func random(r *rand.Rand, depth int) any {
	switch n := r.IntN(8); {
	case depth > 0 && n < 3:
		out := map[string]any{}
		for range r.IntN(4) {
			out[[]string{"a", "b", "a.b", `\`, "", `"`, "0"}[r.IntN(7)]] = random(r, depth-1)
		}
		return out
	case depth > 0 && n < 5:
		out := []any{}
		for range r.IntN(4) {
			out = append(out, random(r, depth-1))
		}
		return out
	}
	return []any{nil, true, "x", `}"],{:\`, 1, 25, -0.5}[r.IntN(7)]
}

func TestDiffAgainstOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		from, _ := json.Marshal(random(r, 4))
		to, _ := json.Marshal(random(r, 4))
		checkAgainstOracle(t, from, to)
	}
}

// canonicalJSON returns a text as package tool writes it, as far as this package looks.
func canonicalJSON(text []byte) (json.RawMessage, bool) {
	if !json.Valid(text) {
		return nil, false
	}
	out, err := json.Marshal(decode(text))
	return out, err == nil
}

func FuzzDiff(f *testing.F) {
	f.Add([]byte(shop), []byte(`{"refunds":[]}`))
	f.Add([]byte(`{"a":[1,{"b":"]}"}]}`), []byte(`[`))
	f.Add([]byte(`{"a"`), []byte(`{,:}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		for _, c := range Diff(a, b) { // whatever they are: it ends
			Get(a, c.Path)
		}
		from, ok := canonicalJSON(a)
		to, okToo := canonicalJSON(b)
		if ok && okToo && len(a)+len(b) < 1000 {
			checkAgainstOracle(t, from, to)
		}
	})
}

func FuzzParsePath(f *testing.F) {
	for _, s := range []string{"", ".", "a.b", `a\.b`, `\-`, `\`, "a..", `\-a`, "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePath(text)
		if err != nil {
			return
		}
		again, err := ParsePath(p.String())
		require.NoError(t, err)
		require.Equal(t, p, again)
	})
}

// large is a state of about 100 KB.
func large(changed bool) json.RawMessage {
	orders := map[string]any{}
	for i := range 700 {
		orders[fmt.Sprintf("O%04d", i)] = map[string]any{"customer": fmt.Sprintf("C%03d", i%90), "lines": []any{map[string]any{"sku": "K-200", "units": i % 7}}, "note": strings.Repeat("x", 30), "status": map[bool]string{true: "paid", false: "open"}[changed && i == 350]}
	}
	out, _ := json.Marshal(map[string]any{"orders": orders})
	return out
}

func BenchmarkHash(b *testing.B) {
	s := large(false)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Hash(s)
	}
}

func BenchmarkDiff(b *testing.B) {
	from, to := large(false), large(true)
	b.SetBytes(int64(len(from)))
	b.ReportAllocs()
	for b.Loop() {
		if len(Diff(from, to)) != 1 {
			b.Fatal()
		}
	}
}
