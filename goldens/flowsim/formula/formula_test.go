package formula

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func parsed(t testing.TB, text string) (out map[string]any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &out))
	return out
}

// environment is one item after two nodes.
func environment(t testing.TB) *Env {
	nodes := map[string]map[string]any{"Form": parsed(t, `{"email": "ada@example.org", "name": " Ada "}`), "List": parsed(t, `{"n": 7}`)}
	return &Env{
		JSON:  parsed(t, `{"n": 3, "half": 2.5, "text": "Grüße", "yes": true, "none": null, "list": [1, "two", {"three": 3}], "of": {"deep": {"er": 1}, "a b": 2}, "zero": 0, "empty": ""}`),
		First: parsed(t, `{"n": 1}`),
		Now:   "2026-03-02T09:00:00Z",
		Node: func(name string, first bool) (map[string]any, error) {
			if item, ok := nodes[name]; ok && (first || name == "Form") {
				return item, nil
			}
			return nil, fmt.Errorf("no item of %q is paired with this one", name)
		},
	}
}

func TestEval(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"plain", `"plain"`},
		{"{ not }", `"{ not }"`},
		{"{{ $json.n }}", `3`}, {"  {{ $json.n }}\n", `3`}, {"{{$json.n}}!", `"3!"`}, {"={{ $json.n }}", `3`}, {"=n: {{ $json.n }}", `"n: 3"`},
		{"{{ $json.n }}{{ $json.n }}", `"33"`}, {"a {{ 'x }} y' }} b", `"a x }} y b"`},
		{"{{ $json }}", `{"n": 3, "half": 2.5, "text": "Grüße", "yes": true, "none": null, "list": [1, "two", {"three": 3}], "of": {"deep": {"er": 1}, "a b": 2}, "zero": 0, "empty": ""}`},
		{"{{ $json.of.deep.er }}", `1`}, {"{{ $json['of']['a b'] }}", `2`}, {"{{ $json.list[2].three }}", `3`}, {"{{ $json?.of?.deep }}", `{"er": 1}`},
		// What is missing is null, at any depth.
		{"{{ $json.x }}", `null`}, {"{{ $json.x.y.z }}", `null`}, {"{{ $json.n.y }}", `null`}, {"{{ $json.list[9] }}", `null`}, {"{{ $json.list[-1] }}", `null`},
		{"{{ $json.list[0.5] }}", `null`}, {"{{ $json['__proto__'].x }}", `null`}, {"{{ $json.x.toUpperCase() }}", `null`}, {"{{ $json.x + 1 }}", `null`}, {"{{ -$json.x }}", `null`},
		{"{{ $json.x > 1 }}", `false`}, {"<{{ $json.x }}>", `"<>"`}, {"{{ undefined == null }}", `true`}, {"{{ $json.text[0] }}", `null`},
		{"{{ $now }}", `"2026-03-02T09:00:00Z"`}, {"{{ $input.first().json.n }}", `1`}, {"{{ $input.item.json.n }}", `3`},
		{"{{ $('Form').item.json.email }}", `"ada@example.org"`}, {`{{ $("Form").item.json['name'].trim() }}`, `"Ada"`}, {"{{ $('List').first().json.n }}", `7`},
		{"{{ 1 + 2 * 3 - 4 / 2 }}", `5`}, {"{{ (1 + 2) * 3 }}", `9`}, {"{{ 7 % 4 }}", `3`}, {"{{ -7 % 4 }}", `-3`}, {"{{ 10 - 2 - 3 }}", `5`}, {"{{ 2 - -1 }}", `3`}, {"{{ 1.5e2 }}", `150`},
		{"{{ 'a' + 1 + 2 }}", `"a12"`}, {"{{ 1 + 2 + 'a' }}", `"3a"`}, {"{{ 'a' + null }}", `"a"`}, {"{{ '' + true }}", `"true"`}, {"{{ $json.list + '' }}", `"[1,\"two\",{\"three\":3}]"`},
		{"{{ 1 < 2 && 'b' >= 'a' }}", `true`}, {"{{ 1 <= 1 && !(2 > 3) }}", `true`}, {"{{ 1 == '1' }}", `false`}, {"{{ 1 === 1 && 1 !== 2 && 1 != 2 }}", `true`},
		{"{{ $json.list == [1, 'two', $json.list[2]] }}", `true`}, {"{{ $json.of == $json }}", `false`}, {"{{ [] == [1] || null }}", `null`},
		{"{{ $json.zero || $json.empty || 'x' }}", `"x"`}, {"{{ $json.zero && $json.n.boom() }}", ``}, {"{{ $json.zero && 1 / 0 }}", `0`}, {"{{ $json.yes ? 1 : 1 / 0 }}", `1`},
		{"{{ $json.none ? 'a' : $json.yes ? 'b' : 'c' }}", `"b"`}, {"{{ !$json.text }}", `false`},
		{"{{ $json.text.length }}", `5`}, {"{{ $json.list.length }}", `3`}, {"{{ $json.of.length }}", `null`}, {"{{ $json.text.toUpperCase() }}", `"GRÜßE"`}, {"{{ 'AB'.toLowerCase() }}", `"ab"`},
		{"{{ $json.text.includes('üß') }}", `true`}, {"{{ $json.list.includes('two') }}", `true`}, {"{{ ['a', 'b'].includes('c') }}", `false`},
		{"{{ 'a,b'.split(',') }}", `["a", "b"]`}, {"{{ 'ab'.split('').length }}", `2`}, {"{{ $json.list.join(' ') }}", `"1 two {\"three\":3}"`}, {"{{ [1, 2].join() }}", `"1,2"`},
		{"{{ $json.half.round() }}", `3`}, {"{{ 2.345.round(1) }}", `2.3`}, {"{{ Math.round(2.5) }}", `3`}, {"{{ round(-2.5) }}", `-2`}, {"{{ round(1.25, 1) }}", `1.3`}, {"{{ (1e300).round(2) }}", `1e300`},
		{"{{ 1000000 }}!", `"1000000!"`}, {"{{ 1e21 }}!", `"1e+21!"`}, {"{{ ![] }}", `false`}, {"{{ 0.1 }}!", `"0.1!"`}, {"{{ -0 }}!", `"0!"`}, {`{{ 'it\'s\n"' }}`, `"it's\n\""`},
	} {
		t.Run(c.text, func(t *testing.T) {
			template, err := Parse(c.text)
			if c.want == "" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			v, err := template.Eval(environment(t))
			require.NoError(t, err)
			got, err := json.Marshal(v)
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(got))
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		text   string
		column int
		detail string
	}{
		{"ü {{ $json.a", 3, "{{ has no }}"}, {"{{ }}", 4, "unexpected '}'"}, {"{{", 3, "ends too early"}, {"{{ a }}", 4, "unknown name a; fields of the item are $json.a"},
		{"{{ $json. }}", 11, "unexpected '}'"}, {"{{ 'a }}", 4, "no closing '"}, {"{{ (1 }}", 7, `want ")" here`}, {"{{ 1 ? 2 }}", 10, `want ":" here`}, {"{{ $jsn }}", 4, "unknown name $jsn"},
		{"{{ $(Form).item.json }}", 6, "in quotes"}, {"{{ $('A').json }}", 11, "want $('A').item.json or $('A').first().json"}, {"{{ $('A').item }}", 16, `want "." here`}, {"{{ $input.all() }}", 11, "$input.first().json"},
		{"{{ $json.a.map(1) }}", 12, "unknown function map; want one of includes, join"}, {"{{ $json.a.trim }}", 12, "write trim()"}, {"{{ 'a'.split() }}", 8, "takes 1 to 1 arguments, not 0"},
		{"{{ 1 2 }}", 6, "unexpected '2'"}, {"{{ a => 1 }}", 4, "unknown name a"}, {"{{ 1.2.3 }}", 8, "unexpected '3'"}, {"{{ 1e }}", 4, "1e is not a number"}, {"{{ 1e999 }}", 4, "not a number"}, {"{{ while (true) {} }}", 4, "unknown name while"}, {"{{ $json.a = 1 }}", 12, "unexpected '='"},
		{"{{ " + strings.Repeat("(", 1000), 104, "nested too deep"}, {"{{ " + strings.Repeat("1?1:", 1000) + "1 }}", 798, "nested too deep"}, {"{{ 1" + strings.Repeat("+1", 2000) + "}}", 2006, "too many operators"},
		{"{{ Math.max(1) }}", 9, `want "round" here`}, {"{{ round 1 }}", 10, `want "(" here`}, {"{{ round(1 }}", 12, `want "," here`}, {"{{ round( }}", 11, "unexpected '}'"}, {"{{ [1 2] }}", 7, `want "," here`},
		{"{{ 'a'.split('x' }}", 18, `want "," here`}, {"{{ 'a'.split( }}", 15, "unexpected '}'"}, {"{{ $('A' }}", 10, `want ")" here`}, {"{{ $('A) }}", 6, "no closing '"}, {"{{ $input }}", 11, `want "." here`},
		{"{{ 1 ? : 2 }}", 8, "unexpected ':'"}, {"{{ $json[ }}", 11, "unexpected '}'"}, {"{{ $json[1 }}", 12, `want "]" here`},
		{"{{" + strings.Repeat(" ", maxText), 1, "at most 65536 bytes"},
	} {
		t.Run(fmt.Sprintf("%.30s", c.text), func(t *testing.T) {
			_, err := Parse(c.text)
			var mistake *Error
			require.ErrorAs(t, err, &mistake)
			require.Contains(t, mistake.Detail, c.detail)
			require.Equal(t, c.column, mistake.Column)
		})
	}
}

func TestEvalErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{{ 1 / 0 }}", "division by zero"}, {"{{ 1 % $json.zero }}", "division by zero"}, {"{{ 1e308 * 10 }}", "too large"}, {"{{ 1 < 'a' }}", "cannot compare a number with a text"},
		{"{{ true + 1 }}", "+ cannot take a boolean and a number"}, {"{{ 'a' - 1 }}", "- cannot take a text and a number"}, {"{{ -'a' }}", "- needs a number, not a text"},
		{"{{ [1 / 0] }}", "division"}, {"{{ $json[1 / 0] }}", "division"}, {"{{ (1 / 0).a[0] }}", "division"}, {"{{ 1 / 0 ? 1 : 2 }}", "division"}, {"{{ 1 + 1 / 0 }}", "division"}, {"{{ 'a'.includes(1 / 0) }}", "division"},
		{"{{ null > 1 || [] > 1 }}", "cannot compare a list with a number"}, {"{{ $json - true }}", "cannot take an object and a boolean"},
		{"{{ $json.n.trim() }}", "trim() needs a text, not a number"}, {"{{ $json.n.includes(1) }}", "includes() needs"}, {"{{ 'a'.join() }}", "join() needs"}, {"{{ 1.split(',') }}", "split() needs"}, {"{{ 1.round(99) }}", "round() needs"},
		{"{{ $('List').item.json.n }}", `no item of "List" is paired`},
	} {
		t.Run(c.text, func(t *testing.T) {
			template, err := Parse(c.text)
			if err == nil {
				_, err = template.Eval(environment(t))
			}
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := (reference{node: "A"}).eval(&Env{})
	require.Error(t, err, "nothing gives items of nodes")
}

// An expression has no loop, but functions on long texts and lists would take long without
// the bound.
func TestEvalIsBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	list := make([]any, 20_000)
	for i := range list {
		list[i] = []any{1.0}
	}
	env := &Env{JSON: map[string]any{"long": long, "list": list, "object": map[string]any{"a": list}}}
	for _, text := range []string{
		"{{ $json.long.split('') }}", "{{ $json.long + 'a' }}", "{{ $json.long.toUpperCase() }}", "{{ $json.list.join() }}", "{{ $json.list == $json.list }}", "{{ $json.object == $json.object }}",
		"{{ $json.list.includes(1) }}", "{{ $json.list + '' }}", "{{ $json.object + '' }}", "{{ $json.long.includes('y') }}", "{{ $json.long.length }}", "{{ $json.long == $json.long }}",
		"{{ $json.long < $json.long }}", "a{{ $json.long }}", "{{ [" + strings.Repeat("$json.a.b,", 4000) + "1] }}",
	} {
		template, err := Parse(text)
		require.NoError(t, err, text)
		_, err = template.Eval(env)
		require.ErrorIs(t, err, ErrLimit, "%.40s", text)
	}
	_, err := env.Equal(list, list)
	require.ErrorIs(t, err, ErrLimit)
	_, err = env.Includes(list, 2.0)
	require.ErrorIs(t, err, ErrLimit)
	require.Greater(t, env.Spent(), maxOperations)
	has, err := env.Includes("abc", "b")
	require.NoError(t, err)
	require.True(t, has)
	require.Less(t, env.Spent(), 10, "each is counted from nothing")
	has, err = env.Includes(nil, "b")
	require.NoError(t, err)
	require.False(t, has)
	_, err = Equal(list, list)
	require.ErrorIs(t, err, ErrLimit)
	_, err = Text(list)
	require.ErrorIs(t, err, ErrLimit)
	require.Equal(t, 100, Size(list, 100))
}

func TestCompile(t *testing.T) {
	v := parsed(t, `{"b": ["{{ $json.n }}", 1, {"c": "n is {{ $json.n }}"}], "a": "{{ $('Form').item.json.email }}{{ $('Form').item.json.name }}", "d": {"e": 1}}`)
	template := Compile(v, func(path string, err error) { t.Fatalf("%s: %v", path, err) })
	require.Equal(t, []string{"Form", "Form"}, template.Nodes())
	require.False(t, template.isConstant())
	got, err := template.Eval(environment(t))
	require.NoError(t, err)
	require.Equal(t, parsed(t, `{"a": "ada@example.org Ada ", "b": [3, 1, {"c": "n is 3"}], "d": {"e": 1}}`), got)

	constant := Compile(v["d"], nil)
	require.True(t, constant.isConstant())
	require.Equal(t, v["d"], constant.constant)

	var bad []string
	Compile(parsed(t, `{"a": [{"b": "{{"}, "{{ x }}"]}`), func(path string, err error) { bad = append(bad, path+" "+err.Error()) })
	require.Len(t, bad, 2)
	require.Contains(t, bad[0], "a[0].b column 3")
	require.Contains(t, bad[1], "a[1] column 4: unknown name x")
	bad = nil
	Compile("{{", func(path string, err error) { bad = append(bad, path) })
	require.Equal(t, []string{""}, bad)

	var deep any = "x"
	for range maxDepth + 5 {
		deep = []any{deep}
	}
	bad = nil
	Compile(deep, func(path string, err error) { bad = append(bad, err.Error()) })
	require.Len(t, bad, 1)
	require.Contains(t, bad[0], "nested")
}

// Errors inside objects and lists are those of the whole value.
func TestCompiledErrors(t *testing.T) {
	for _, text := range []string{`{"a": ["{{ 1 / 0 }}"]}`, `{"a": "n: {{ 1 / 0 }}"}`} {
		template := Compile(parsed(t, text), nil)
		_, err := template.Eval(environment(t))
		require.EqualError(t, err, "division by zero")
	}
	_, err := Compile(map[string]any{"a": "{{ $('B').item.json }}"}, nil).Eval(&Env{Node: func(string, bool) (map[string]any, error) { return nil, errors.New("not yet run") }})
	require.EqualError(t, err, "not yet run")
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "a", "{{ $json.a[0] + 'b' }}", "{{ $('A').item.json.b ? [1] : -2.5e1 }}", "{{ !$now.length && $input.first().json }} x {{", "{{ 'a,b'.split(',').join() }}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		template, err := Parse(text)
		if err != nil {
			var mistake *Error
			require.ErrorAs(t, err, &mistake)
			require.Positive(t, mistake.Column)
			return
		}
		v, err := template.Eval(environment(t))
		again, err2 := template.Eval(environment(t))
		require.Equal(t, err, err2)
		require.Equal(t, v, again)
		if err == nil {
			_, err = json.Marshal(v)
			require.NoError(t, err)
		}
	})
}

func BenchmarkEval(b *testing.B) {
	for _, text := range []string{"{{ $json.of.deep.er }}", "Hello {{ $json.text }}, {{ $json.n * 2 + 1 }} of {{ $('Form').item.json.email }}"} {
		b.Run(fmt.Sprintf("%.20s", text), func(b *testing.B) {
			template, err := Parse(text)
			require.NoError(b, err)
			env := environment(b)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := template.Eval(env); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
