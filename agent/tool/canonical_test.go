package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

func TestCanonicalNumbers(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"-0", "0"}, {"0.0", "0"}, {"0e5", "0"}, {"-0.0e-9", "0"},
		{"1e2", "100"}, {"100", "100"}, {"1.50", "1.5"}, {"15e-1", "1.5"}, {"-12.5E1", "-125"},
		{"0.00001", "0.00001"}, {"0.000001", "0.000001"}, {"0.0000001", "1e-7"}, {"123e-9", "1.23e-7"},
		{"100000000000000000000", "100000000000000000000"}, {"1000000000000000000000", "1e+21"}, {"1e23", "1e+23"},
		{"9007199254740992", "9007199254740992"}, {"9007199254740993", "9007199254740993"}, {"9007199254740993.0", "9007199254740993"},
		{"900719925474099300e-2", "9007199254740993"}, {"9007199254740993e2", "900719925474099300"},
		{"-123456789012345678901234567890", "-123456789012345678901234567890"},
		{"0.30000000000000004", "0.30000000000000004"}, {"3.14159265358979323846", "3.141592653589793"},
		{"1E999", "1e999"}, {"10e998", "1e999"}, {"15e998", "1.5e999"}, {"-2.50e-400", "-2.5e-400"}, {"5e-324", "5e-324"},
		{"1e99999999999999999999", "1e99999999999999999999"},
	} {
		t.Run(c.in, func(t *testing.T) {
			got, err := Canonical([]byte(`{"n":` + c.in + `}`))
			require.NoError(t, err)
			require.Equal(t, `{"n":`+c.want+`}`, string(got))
		})
	}
}

func TestCanonicalText(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"escapes", `{"s":"\u0000\u001F\b\t\n\f\r\"\\\/\u007f\u2028<&>"}`, `{"s":"\u0000\u001f\b\t\n\f\r\"\\/` + "\u007f\u2028" + `<&>"}`},
		{"upper-case surrogate escape", `{"s":"x\uD83Dy\uDE00"}`, `{"s":"x\ud83dy\ude00"}`},
		{"swapped surrogates stay apart", `{"s":"\ude00\ud83d"}`, `{"s":"\ude00\ud83d"}`},
		{"lone surrogate differs from U+FFFD", `{"\ufffd":1,"\ud83d":2}`, `{"\ud83d":2,"` + "\uFFFD" + `":1}`},
		{"UTF-16 order with a lone surrogate", `{"\ud83d\ude00":1,"\ud83d":2,"\ue000":3,"\ud7ff":4}`, `{"` + "\ud7ff" + `":4,"\ud83d":2,"😀":1,"` + "\ue000" + `":3}`},
		{"prefix first", `{"ab":1,"a":2,"":3}`, `{"":3,"a":2,"ab":1}`},
		{"spaces", " { \"a\" : [ 1 , true , null ] } ", `{"a":[1,true,null]}`},
		{"null", `null`, `{}`},
		{"nothing", ``, `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Canonical([]byte(c.in))
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
		})
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for _, c := range []struct{ name, in, code string }{
		{"array", `[1]`, "args_not_object"},
		{"truncated", `{"a":1`, "args_not_json"},
		{"two objects", `{}{}`, "args_not_json"},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", "args_not_json"},
		{"nested duplicate", `{"a":{"b":[{"c":1,"c":1}]}}`, "duplicate_key:a.b[0].c"},
		{"too deep", strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), "args_too_deep"},
		{"too large", `{"a":"` + strings.Repeat("x", 64<<10) + `"}`, "args_too_large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Canonical([]byte(c.in))
			var refused *KeyError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, c.code, refused.Code)
			_, _, err = Key(Call{Name: "t", Args: json.RawMessage(c.in)})
			require.ErrorAs(t, err, &refused)
			require.Equal(t, c.code, refused.Code)
			require.ErrorContains(t, err, "key of a t call")
		})
	}
}

// FuzzKey checks that a canonical form is a fixed point, does not depend on the order
// or spelling of members, keeps every integer's value, and equals that of RFC 8785 if
// RFC 8785 loses nothing.
func FuzzKey(f *testing.F) {
	for _, seed := range []string{
		`{"b":1,"a":{"y":[1,{"q":2,"p":1.0}],"x":"\ud83d"}}`, `{"😀":1,"｡":2,"\ud83d":3}`, `{"n":9007199254740993,"m":1e999,"k":-0.0}`,
		`{"a":1e23,"b":123456789012345678901234567890e-3}`, `{"a":"\u0000\u2028\/"}`,
	} {
		f.Add([]byte(seed), uint64(1))
	}
	f.Fuzz(func(t *testing.T, args []byte, seed uint64) {
		key, hash, err := Key(Call{Name: "t", Args: args})
		if err != nil {
			var refused *KeyError
			require.True(t, errors.As(err, &refused), err)
			return
		}
		canonical, _ := strings.CutPrefix(key, "t|")
		again, err := Canonical([]byte(canonical))
		if err != nil { // numbers in full length can exceed the size limit
			require.ErrorContains(t, err, "args_too_large")
			return
		}
		require.Equal(t, canonical, string(again))

		tree, _, ok := ParseJSON(canonical)
		require.True(t, ok)
		shuffled, sameHash, err := Key(Call{Name: "t", Args: []byte(shuffle(tree, rand.New(rand.NewPCG(seed, 0))))})
		require.NoError(t, err)
		require.Equal(t, key, shuffled)
		require.Equal(t, hash, sameHash)

		original, _, ok := ParseJSON(string(args))
		if !ok || original.Kind != '{' { // empty, or null
			return
		}
		sameValue(t, original, tree)
		oracle := jsontext.Value(args).Clone()
		if plainNumbers(original) && oracle.Canonicalize() == nil {
			require.Equal(t, string(oracle), canonical)
		}
	})
}

// shuffle writes v with its members in random order and white space between.
func shuffle(v JSON, r *rand.Rand) string {
	var parts []string
	open, end := "[ ", " ]"
	switch v.Kind {
	case '{':
		open, end = "{ ", " }"
		for _, m := range v.Members {
			parts = append(parts, quote(m.Name)+" : "+shuffle(m.Value, r))
		}
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	case '[':
		for _, e := range v.Elems {
			parts = append(parts, shuffle(e, r))
		}
	default:
		return v.Raw
	}
	return open + strings.Join(parts, " ,\n") + end
}

// quote writes s with every UTF-16 code unit escaped.
func quote(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for i := 0; i < len(s); {
		if unit, ok := surrogateAt(s, i); ok {
			fmt.Fprintf(&out, `\u%04X`, unit)
			i += 3
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&out, `\u%04X`, unit)
		}
		i += n
	}
	return out.String() + `"`
}

// sameValue compares the numbers of two trees whose members can be in different order.
func sameValue(t *testing.T, a, b JSON) {
	require.Equal(t, a.Kind, b.Kind)
	require.Len(t, b.Members, len(a.Members))
	for _, m := range a.Members {
		other, ok := b.Get(m.Name)
		require.True(t, ok)
		sameValue(t, m.Value, other)
	}
	require.Len(t, b.Elems, len(a.Elems))
	for i := range a.Elems {
		sameValue(t, a.Elems[i], b.Elems[i])
	}
	switch a.Kind {
	case '"':
		require.Equal(t, unquote(a.Raw), unquote(b.Raw))
	case '0':
		if e := strings.IndexAny(a.Raw, "eE"); e >= 0 && len(a.Raw)-e > 5 {
			return // too long to compute
		}
		x, ok := new(big.Rat).SetString(a.Raw)
		require.True(t, ok)
		y, ok := new(big.Rat).SetString(b.Raw)
		require.True(t, ok)
		if x.IsInt() {
			require.Zero(t, x.Cmp(y), "%s became %s", a.Raw, b.Raw)
		}
	}
}

// plainNumbers reports whether float64 represents all numbers of v exactly.
func plainNumbers(v JSON) bool {
	if v.Kind == '0' && (len(v.Raw) > 15 || strings.ContainsAny(v.Raw, "eE")) {
		return false
	}
	for _, m := range v.Members {
		if !plainNumbers(m.Value) {
			return false
		}
	}
	for _, e := range v.Elems {
		if !plainNumbers(e) {
			return false
		}
	}
	return true
}

// BenchmarkKey's floor is RFC 8785 canonicalisation of the same bytes alone,
// without a hash.
func BenchmarkKey(b *testing.B) {
	call := Call{Name: "get_counts", Args: json.RawMessage(`{"start_date":"2026-05-01","end_date":"2026-05-07","label":"angry"}`)}
	b.Run("call", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := Key(call); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("floor=jsontext", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			v := jsontext.Value(call.Args).Clone()
			if err := v.Canonicalize(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
