package match

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/plainjson"
)

func matches(t *testing.T, want map[string]any, args string) bool {
	t.Helper()
	p, err := NewCall("f", want)
	require.NoError(t, err)
	decoded, _ := DecodeArgs([]byte(args))
	return p.Match("f", decoded)
}

type dict = map[string]any

// expected is an expected call.
type expected struct {
	Tool string
	Args dict
}

func TestCallMatch(t *testing.T) {
	for _, c := range []struct {
		name string
		want map[string]any
		args string
		ok   bool
	}{
		{"any arguments", nil, `{"a":1}`, true},
		{"any arguments, even broken ones", nil, `{"a":`, true},
		{"no arguments", dict{}, `{}`, true},
		{"no arguments, nothing written", dict{}, ``, true},
		{"null is no object", dict{}, `null`, false},
		{"a list is no object", dict{}, `[]`, false},
		{"two values", dict{}, `{}{}`, false},
		{"broken", dict{}, `{`, false},
		{"equal", dict{"a": "x", "b": true, "c": nil}, `{"c":null,"b":true,"a":"x"}`, true},
		{"extra key", dict{"a": "x"}, `{"a":"x","b":1}`, false},
		{"missing key", dict{"a": "x", "b": 1}, `{"a":"x"}`, false},
		{"null is not absent", dict{"a": nil}, `{}`, false},
		{"key by case", dict{"a": 1}, `{"A":1}`, false},
		{"number by value", dict{"n": 25}, `{"n":25.0}`, true},
		{"number by value, exponent", dict{"n": json.Number("2.5e1")}, `{"n":25}`, true},
		{"number from a float", dict{"n": 0.1}, `{"n":0.10}`, true},
		{"large numbers differ", dict{"n": json.Number("9007199254740993")}, `{"n":9007199254740992}`, false},
		{"large numbers agree", dict{"n": int64(math.MaxInt64)}, `{"n":9223372036854775807}`, true},
		{"blow-up", dict{"n": 1}, `{"n":1e999999999}`, false},
		{"exponent out of bounds", dict{"n": 1}, `{"n":1e99999999999999999999}`, false},
		{"number is not text", dict{"n": 25}, `{"n":"25"}`, false},
		{"text is not number", dict{"n": "25"}, `{"n":25}`, false},
		{"true is not text", dict{"n": true}, `{"n":"true"}`, false},
		{"html is not escaped", dict{"q": "a<b & c"}, `{"q":"a<b & c"}`, true},
		{"nested", dict{"o": dict{"l": []any{1, "x", dict{"$any": true}}}}, `{"o":{"l":[1.0,"x",[]]}}`, true},
		{"nested, list longer", dict{"l": []string{"x"}}, `{"l":["x","y"]}`, false},
		{"nested, list order", dict{"l": []any{1, 2}}, `{"l":[2,1]}`, false},
		{"list for object", dict{"o": dict{}}, `{"o":[]}`, false},
		{"object for list", dict{"l": []any{}}, `{"l":{}}`, false},

		{"regex", dict{"d": dict{"$regex": `^2026-05-\d\d$`}}, `{"d":"2026-05-13"}`, true},
		{"regex anchored", dict{"d": dict{"$regex": `^05`}}, `{"d":"2026-05-13"}`, false},
		{"regex found anywhere", dict{"d": dict{"$regex": `05`}}, `{"d":"2026-05-13"}`, true},
		{"regex wants text", dict{"d": dict{"$regex": `.`}}, `{"d":5}`, false},
		{"in", dict{"d": dict{"$in": []any{"a", 2}}}, `{"d":2.0}`, true},
		{"not in", dict{"d": dict{"$in": []any{"a", 2}}}, `{"d":"b"}`, false},
		{"in with a matcher", dict{"d": dict{"$in": []any{dict{"$regex": "^x"}, 2}}}, `{"d":"xy"}`, true},
		{"any", dict{"d": dict{"$any": true}}, `{"d":null}`, true},
		{"any must be there", dict{"d": dict{"$any": true}}, `{}`, false},
		{"gte", dict{"n": dict{"$gte": json.Number("9007199254740993")}}, `{"n":9007199254740993}`, true},
		{"not gte", dict{"n": dict{"$gte": json.Number("9007199254740993")}}, `{"n":9007199254740992}`, false},
		{"lte", dict{"n": dict{"$lte": -1}}, `{"n":-1.5}`, true},
		{"not lte", dict{"n": dict{"$lte": -1.5}}, `{"n":-1}`, false},
		{"bounds want numbers", dict{"n": dict{"$lte": 3}}, `{"n":"2"}`, false},

		{"optional and absent", dict{"a": 1, "d": dict{"$optional": true}}, `{"a":1}`, true},
		{"optional and anything", dict{"a": 1, "d": dict{"$optional": true}}, `{"a":1,"d":[null]}`, true},
		{"optional lets nothing else in", dict{"a": 1, "d": dict{"$optional": true}}, `{"a":1,"e":2}`, false},
		{"optional lets nothing else be absent", dict{"a": 1, "d": dict{"$optional": true}}, `{"d":2}`, false},
		{"all optional", dict{"d": dict{"$optional": true}, "e": dict{"$optional": true}}, `{}`, true},
		{"optional value", dict{"n": dict{"$optional": 5}}, `{"n":5.0}`, true},
		{"optional value, absent", dict{"n": dict{"$optional": 5}}, `{}`, true},
		{"optional value, another", dict{"n": dict{"$optional": 5}}, `{"n":6}`, false},
		{"optional value is not null", dict{"n": dict{"$optional": 5}}, `{"n":null}`, false},
		{"optional matcher", dict{"n": dict{"$optional": dict{"$in": []any{"a", "b"}}}}, `{"n":"b"}`, true},
		{"optional matcher, another", dict{"n": dict{"$optional": dict{"$in": []any{"a", "b"}}}}, `{"n":"c"}`, false},
		{"optional object", dict{"o": dict{"$optional": dict{"x": dict{"$optional": true}}}}, `{"o":{}}`, true},

		{"normalize", dict{"s": dict{"$normalize": "Cold Ness"}}, `{"s":"COLD ness"}`, true},
		{"normalize keeps spaces", dict{"s": dict{"$normalize": "Cold Ness"}}, `{"s":"Cold  Ness"}`, false},
		{"normalize, another text", dict{"s": dict{"$normalize": "Cold Ness"}}, `{"s":"Cold Mess"}`, false},
		{"match_case", dict{"s": dict{"$normalize": dict{"text": "Cold", "match_case": true}}}, `{"s":"cold"}`, false},
		{"remove", dict{"s": dict{"$normalize": dict{"text": "cold-ness", "remove": " -"}}}, `{"s":"Cold Ness"}`, true},
		{"replace", dict{"s": dict{"$normalize": dict{"text": "cold ness", "replace": dict{"_": " "}}}}, `{"s":"Cold_Ness"}`, true},
		{"replace in both", dict{"s": dict{"$normalize": dict{"text": "straße", "replace": dict{"ß": "ss"}}}}, `{"s":"STRASSE"}`, true},
		{"replaced once", dict{"s": dict{"$normalize": dict{"text": "b", "replace": dict{"a": "b", "b": "c"}}}}, `{"s":"a"}`, false},
		{"normalize has no types", dict{"s": dict{"$normalize": "5"}}, `{"s":5}`, false},
		{"normalize a number", dict{"s": dict{"$normalize": 5}}, `{"s":5}`, true},
		{"normalize a number, not its text", dict{"s": dict{"$normalize": 5}}, `{"s":"5"}`, false},
		{"normalize a number as written", dict{"s": dict{"$normalize": 5}}, `{"s":5.0}`, false},
		{"normalize true", dict{"s": dict{"$normalize": true}}, `{"s":"true"}`, false},
		{"normalize null", dict{"s": dict{"$normalize": nil}}, `{"s":null}`, true},
		{"normalize in in", dict{"s": dict{"$in": []any{1, dict{"$normalize": "A"}}}}, `{"s":"a"}`, true},
		{"normalize and an object", dict{"s": dict{"$normalize": "a"}}, `{"s":{"a":1}}`, false},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.ok, matches(t, c.want, c.args)) })
	}
}

func TestCompileCallFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		m    expected
		want string
	}{
		{"no tool", expected{}, "tool: must not be empty"},
		{"regex", expected{Tool: "f", Args: dict{"a": dict{"$regex": "("}}}, "args.a.$regex: error parsing regexp"},
		{"regex type", expected{Tool: "f", Args: dict{"a": dict{"$regex": 1}}}, "args.a.$regex: must be a string"},
		{"empty in", expected{Tool: "f", Args: dict{"a": dict{"$in": []any{}}}}, "args.a.$in: must be a list"},
		{"in type", expected{Tool: "f", Args: dict{"a": dict{"$in": "x"}}}, "args.a.$in: must be a list"},
		{"inside in", expected{Tool: "f", Args: dict{"a": dict{"$in": []any{1, dict{"$x": 1}}}}}, "args.a.$in[1].$x: unknown matcher"},
		{"any false", expected{Tool: "f", Args: dict{"a": dict{"$any": false}}}, "args.a.$any: must be true"},
		{"bound", expected{Tool: "f", Args: dict{"a": dict{"$gte": "5"}}}, "args.a.$gte: must be a number"},
		{"unknown", expected{Tool: "f", Args: dict{"a": []any{dict{"$eq": 1}}}}, "args.a[0].$eq: unknown matcher"},
		{"not alone", expected{Tool: "f", Args: dict{"a": dict{"$gte": 1, "b": 2}}}, "args.a: an object with a matcher has other keys"},
		{"optional false", expected{Tool: "f", Args: dict{"a": dict{"$optional": false}}}, "args.a.$optional: must be true"},
		{"optional twice", expected{Tool: "f", Args: dict{"a": dict{"$optional": dict{"$optional": true}}}}, "args.a.$optional.$optional: only an argument"},
		{"optional item", expected{Tool: "f", Args: dict{"a": []any{dict{"$optional": true}}}}, "args.a[0].$optional: only an argument"},
		{"optional operand", expected{Tool: "f", Args: dict{"a": dict{"$optional": dict{"$gte": "x"}}}}, "args.a.$optional.$gte: must be a number"},
		{"optional not alone", expected{Tool: "f", Args: dict{"a": dict{"$optional": true, "$any": true}}}, "args.a: an object with a matcher has other keys"},
		{"normalize a list", expected{Tool: "f", Args: dict{"a": dict{"$normalize": []any{"x"}}}}, "args.a.$normalize.text: must be a string"},
		{"normalize nothing", expected{Tool: "f", Args: dict{"a": dict{"$normalize": dict{"remove": " "}}}}, "args.a.$normalize.text: must be a string"},
		{"normalize unknown", expected{Tool: "f", Args: dict{"a": dict{"$normalize": dict{"text": "x", "case": true}}}}, "args.a.$normalize.case: unknown field; allowed: text, match_case, remove, replace"},
		{"match_case", expected{Tool: "f", Args: dict{"a": dict{"$normalize": dict{"text": "x", "match_case": 1}}}}, "args.a.$normalize.match_case: must be true or false"},
		{"remove", expected{Tool: "f", Args: dict{"a": dict{"$normalize": dict{"text": "x", "remove": 1}}}}, "args.a.$normalize.remove: must be a string"},
		{"replace", expected{Tool: "f", Args: dict{"a": dict{"$normalize": dict{"text": "x", "replace": " "}}}}, "args.a.$normalize.replace: must be a mapping"},
		{"replace a word", expected{Tool: "f", Args: dict{"a": dict{"$normalize": dict{"text": "x", "replace": dict{"ab": ""}}}}}, `args.a.$normalize.replace: "ab" must be one character`},
		{"replace by a number", expected{Tool: "f", Args: dict{"a": dict{"$normalize": dict{"text": "x", "replace": dict{"a": 1}}}}}, `args.a.$normalize.replace: "a" must be replaced by a string`},
		{"replace and remove", expected{Tool: "f", Args: dict{"a": dict{"$normalize": dict{"text": "x", "remove": "ab", "replace": dict{"a": "b"}}}}}, `args.a.$normalize.replace: "a" is removed, too`},
		{"huge exponent", expected{Tool: "f", Args: dict{"a": json.Number("1e9999999999")}}, "args.a: 1e9999999999 is not a number in bounds"},
		{"not JSON", expected{Tool: "f", Args: dict{"a": math.NaN()}}, "args: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewCall(c.m.Tool, c.m.Args)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestMatchIsByToolName(t *testing.T) {
	p, err := NewCall("get_counts", nil)
	require.NoError(t, err)
	require.False(t, p.Match("get_Counts", nil))
}

func FuzzDecodeArgs(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1e999}`, `[]`, ``, `{"a":{"b":[null]}}`, `{} {}`, "\xff", `{"a":{"x":1},"a":{"y":"\ud83d"},"\udc00":[1.50,true]}`, "{\"\xff\":1}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		args, err := DecodeArgs(text)
		if len(bytes.TrimSpace(text)) > 0 {
			slow, slowErr := decodeAnyArgs(text)
			require.Equal(t, slow, args)
			require.Equal(t, slowErr, err)
		}
		if err != nil {
			require.Nil(t, args)
			return
		}
		require.IsType(t, map[string]any{}, args)
		again, err := plainjson.Marshal(args)
		require.NoError(t, err)
		back, err := DecodeArgs(again)
		require.NoError(t, err)
		require.Equal(t, args, back)
	})
}

// What is compiled without being written and read is what that would bring.
func TestIsDecoded(t *testing.T) {
	loop := map[string]any{}
	loop["a"] = []any{loop}
	for _, c := range []struct {
		name string
		v    any
		want bool
	}{
		{"nothing", nil, true},
		{"a flag", true, true},
		{"text", "é\u2028<", true},
		{"an empty object", map[string]any{}, true},
		{"nested", map[string]any{"a": []any{json.Number("0"), "x", nil}}, true},
		{"a Go number", 1, false},
		{"no whole number", json.Number("1.50"), false},
		{"no number", json.Number(""), false},
		{"a leading zero", json.Number("01"), false},
		{"broken text", "\xff", false},
		{"a broken name", map[string]any{"\xff": nil}, false},
		{"a broken member", map[string]any{"a": []any{"\xff"}}, false},
		{"a nil list", []any(nil), false},
		{"a nil object", map[string]any(nil), false},
		{"a cycle", loop, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, isDecoded(c.v, maxPlainDepth))
			if !c.want {
				return
			}
			text, err := plainjson.Marshal(map[string]any{"v": c.v})
			require.NoError(t, err)
			back, err := decodeAnyArgs(text)
			require.NoError(t, err)
			require.Equal(t, map[string]any{"v": c.v}, back)
		})
	}
	_, err := NewCall("f", loop)
	require.ErrorContains(t, err, "cycle")
}

func TestHasMatcher(t *testing.T) {
	require.True(t, HasMatcher(dict{"a": []any{"x", dict{"$any": true}}}))
	require.False(t, HasMatcher(dict{"a": []any{"$any", json.Number("1")}}))
}
