package expression

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/internal/testkit"
)

const sample = `{"orders":{"O1":{"id":"O1","total":2500,"status":"shipped","items":["pen","ink"]},"O2":{"id":"O2","total":900,"status":"open","items":[]}},
"refunds":[{"id":"R2","order":"O1"},{"id":"R10","order":"O2"}],"vat":0.19,"big":12345678901234567890,"name":"Ünal","empty":null}`

func environment(t testing.TB) map[string]any {
	state, err := Decode([]byte(sample))
	require.NoError(t, err)
	return map[string]any{"state": state, "args": map[string]any{"id": "O1", "n": 3}, "today": "2026-05-13"}
}

var sampleNames = []string{"state", "args", "today"}

func TestValues(t *testing.T) {
	for text, want := range map[string]string{
		`state.orders[args.id].total`:                           `2500`,
		`state.orders["O9"]`:                                    `null`,
		`state.orders["O9"]?.total ?? 0`:                        `0`,
		`args.missing == nil`:                                   `true`,
		`state.orders.O1.total - 100 * args.n`:                  `2200`,
		`state.big`:                                             `12345678901234567890`,
		`state.vat`:                                             `0.19`,
		`6 / 3`:                                                 `2`,
		`round(state.orders.O1.total * state.vat)`:              `475`,
		`filter(state.orders, .status == "open")`:               `[{"id":"O2","items":[],"status":"open","total":900}]`,
		`map(state.refunds, .order)`:                            `["O1","O2"]`,
		`sum(map(values(state.orders), .total))`:                `3400`,
		`keys(state.orders)`:                                    `["O1","O2"]`,
		`keys(groupBy(state.refunds, .order))`:                  `["O1","O2"]`,
		`groupBy(state.refunds, .order).O2[0].id`:               `"R10"`,
		`"O1" in state.orders`:                                  `true`,
		`"pen" in state.orders.O1.items`:                        `true`,
		`state.orders.O1 == state.orders.O2`:                    `false`,
		`state.orders.O1.items != ["pen", "ink"]`:               `false`,
		`nextID(state.refunds, "R") + nextID(state.orders,"O")`: `"R11O3"`,
		`nextID({"R+9": 1, "R-9": 1, "R2147483648": 1, "R": 1, "R7": 1}, "R")`: `"R8"`,
		`nextID(nil, "R")`:                                       `"R1"`,
		`join(sort(state.orders.O1.items), ", ")`:                `"ink, pen"`,
		`join([1, true, nil], " ")`:                              `"1 true null"`,
		`replace("a-b-c", "-", "+")`:                             `"a+b+c"`,
		`string({"a": 1.5})`:                                     `"{\"a\":1.5}"`,
		`split("a b", " ")`:                                      `["a","b"]`,
		`1..3`:                                                   `[1,2,3]`,
		`addDays(today, 20)`:                                     `"2026-06-02"`,
		`addDays("2026-03-01T08:00:00Z", -1)`:                    `"2026-02-28"`,
		`addMonths("2026-01-31", 1)`:                             `"2026-02-28"`,
		`daysBetween("2025-12-31", today)`:                       `133`,
		`weekday(today)`:                                         `3`,
		`weekday("2026-05-17")`:                                  `7`,
		`let x = 2; x ** 3`:                                      `8`,
		`reduce(1..5, #acc + #, 0)`:                              `15`,
		`sortBy(values(state.orders), .total)[0].id`:             `"O2"`,
		`state.name matches "^Ü.*l$" and state.name[0:2] == "Ü"`: `true`,
		`uniq([1, 2, 1])`:                                        `[1,2]`,
		`max([1, 5, 3]) + min(2, 4)`:                             `7`,
		`args.n > 2 ? "many" : "few"`:                            `"many"`,
		`any(state.refunds, .order == args.id)`:                  `true`,
		`sum([1, 2.5, args.n])`:                                  `6.5`,
		`sum([[1, 2], [3]], sum(#, # * 2))`:                      `12`,
		`sum(1..99999, # > 5 ? 1 : 0)`:                           `99994`,
		`state.orders | values() | map(.id) | join("/")`:         `"O1/O2"`,
		`-3 - 4`:                   `-7`,
		`-9223372036854775807 - 1`: `-9223372036854775808`,
		`{"a": [1], b: nil}`:       `{"a":[1],"b":null}`,
		"`{{`":                     `"{{"`,
	} {
		p, err := Compile(text, sampleNames)
		require.NoError(t, err, text)
		v, err := p.Eval(environment(t))
		require.NoError(t, err, text)
		got, err := JSON(v, 1<<20)
		require.NoError(t, err, text)
		require.Equal(t, want, string(got), text)
	}
}

func TestMistakesWhenCompiling(t *testing.T) {
	for text, want := range map[string]Error{
		`stat.orders`:                    {Line: 1, Column: 1, Detail: "unknown name stat (did you mean state?); known: args, state, today, and the functions of the language"},
		"1 +\n  toda":                    {Line: 2, Column: 3, Detail: "unknown name toda (did you mean today?)"},
		`now()`:                          {Line: 1, Column: 1, Detail: "unknown name now"},
		`date("2026-01-01")`:             {Line: 1, Column: 1, Detail: "unknown name date"},
		`timezone("Local")`:              {Line: 1, Column: 1, Detail: "unknown name timezone"},
		`$env`:                           {Line: 1, Column: 1, Detail: "unknown name $env"},
		`$meter`:                         {Line: 1, Column: 1, Detail: "unknown name $meter"},
		`$step(1)`:                       {Line: 1, Column: 1, Detail: "unknown name $step"},
		`args()`:                         {Line: 1, Column: 1, Detail: "args is not a function; there are:"},
		`state.big.String()`:             {Line: 1, Column: 11, Detail: "only functions of the language can be called"},
		`join(["a"])`:                    {Line: 1, Column: 1, Detail: "join needs 2 arguments, but has 1"},
		`1 + `:                           {Line: 1, Column: 4, Detail: "unexpected token EOF"},
		`"a" matches "("`:                {Line: 1, Column: 5, Detail: "error parsing regexp"},
		`1 + "a"`:                        {Line: 1, Column: 3, Detail: "invalid operation: + (mismatched types int and string)"},
		``:                               {Line: 1, Column: 1, Detail: "unexpected token EOF"},
		strings.Repeat("1+", 5000):       {Line: 1, Column: 1, Detail: "an expression may have 8192 bytes, but has 10000"},
		strings.Repeat("1+", 1000) + "1": {Line: 1, Column: 1002, Detail: "compilation failed: expression exceeds maximum allowed nodes"},
	} {
		_, err := Compile(text, sampleNames)
		var wrong *Error
		require.ErrorAs(t, err, &wrong, text)
		require.Contains(t, wrong.Detail, want.Detail, text)
		require.Equal(t, [2]int{want.Line, want.Column}, [2]int{wrong.Line, wrong.Column}, text)
	}
}

func TestMistakesWhenEvaluating(t *testing.T) {
	for text, want := range map[string]string{
		`state.empty.x`:                         "cannot fetch x from null",
		`state.orders.O1.items[7]`:              "index out of range: 7",
		`not args.id`:                           "the value is string, where bool is needed",
		`args.id && true`:                       "the value is string, where bool is needed",
		`args.id - 1`:                           "invalid operation: string - int",
		`map(args.id, #)`:                       "a list is needed, but the value is a string",
		`keys(args.id)`:                         "an object is needed, but the value is a string",
		`keys(groupBy([1], #))`:                 "groupBy made a key of a number",
		`9223372036854775807 + args.n`:          "the integers 9223372036854775807 and 3 give a result beyond 64 bits",
		`9223372036854775807 * args.n`:          "beyond 64 bits",
		`-9223372036854775807 - args.n`:         "beyond 64 bits",
		`sum([9223372036854775807, args.n])`:    "the integers 9223372036854775807 and 3 give a result beyond 64 bits",
		`sum([1, args.n], 9223372036854775807)`: "give a result beyond 64 bits",
		`let x = 1; sum(state.orders, 9223372036854775807) > x`: "give a result beyond 64 bits",
		`sum(state.orders, .status)`:                            "invalid operation: int + string",
		`addDays("tomorrow", 1)`:                                `"tomorrow" is not a date such as 2026-05-13`,
		`addDays(today, 0.5)`:                                   "whole number",
		`addDays(today, 999999)+addDays(today,-999999)`:         "is not in the years 0 to 9999",
		`upper(args.n)`:                                         "the value is int, where string is needed",
		`join(3, "")`:                                           "join needs a list, but has a number",
		`nextID(3, "R")`:                                        "nextID needs an object",
		`1 % (args.n - 3)`:                                      "divide by zero",
	} {
		p, err := Compile(text, sampleNames)
		require.NoError(t, err, text)
		_, err = p.Eval(environment(t))
		var wrong *Error
		require.ErrorAs(t, err, &wrong, text)
		require.Contains(t, wrong.Detail, want, text)
		require.NotContains(t, err.Error(), "\n")
	}
	p, err := Compile(`args.n / 0`, sampleNames)
	require.NoError(t, err)
	v, err := p.Eval(environment(t))
	require.NoError(t, err)
	_, err = JSON(v, 100)
	require.ErrorContains(t, err, "not finite")
	_, err = p.Holds(environment(t))
	require.ErrorContains(t, err, "a condition must be true or false, but is a number")
}

// TestEvaluationsEnd has expressions that would run for hours or take the whole memory.
func TestEvaluationsEnd(t *testing.T) {
	lets := "let a0 = [1, 1]; "
	for i := range 40 {
		lets += strings.NewReplacer("X", string(rune('a'+(i+1)%26))+"x"+strings.Repeat("i", i), "Y", map[bool]string{true: "a0", false: string(rune('a'+i%26)) + "x" + strings.Repeat("i", max(i-1, 0))}[i == 0]).Replace("let X = [Y, Y]; ")
	}
	last := string(rune('a'+40%26)) + "x" + strings.Repeat("i", 39)
	for _, text := range []string{
		`map(1..1000, map(1..1000, map(1..1000, 1)))`,
		`count(1..999999, count(1..999999, true) > 0)`,
		`reduce(1..60, #acc + #acc, "aaaa")`,
		`reduce(1..60, #acc + "` + strings.Repeat("b", 100) + `" + #acc, "")`,
		`reduce(1..60, concat(#acc, #acc), [1])`,
		`flatten(reduce(1..60, [#acc, #acc], 1))`,
		`string(reduce(1..60, [#acc, #acc], 1))`,
		`max(reduce(1..60, [#acc, #acc], 1))`,
		`reduce(1..60, [#acc, #acc], 1) == reduce(1..60, [#acc, #acc], 2)`,
		`reduce(1..60, replace(#acc, "a", "aaaaaaaa"), "a")`,
		`reduce(1..60, join([#acc, #acc, #acc], "x"), "a")`,
		`1..1000000000`,
		`-9223372036854775807..9223372036854775807`,
		`len(filter(1..999999, # in 1..999999))`,
		`uniq(1..900000)`,
		`map(1..999, uniq(1..999))`,
		`map(1..99999, join(map(1..999, "abc"), ""))`,
		`flatten(reduce(1..100000, [#acc], 1))`,
		`reduce(1..100000, [#acc], 1) == reduce(1..100000, [#acc], 1)`,
		lets + "max(" + last + ")",
	} {
		p, err := Compile(text, sampleNames)
		require.NoError(t, err, text)
		start := time.Now()
		v, err := p.Eval(environment(t))
		if err == nil {
			_, err = JSON(v, 1<<20)
		}
		require.Less(t, time.Since(start), 5*time.Second, text)
		if !strings.HasPrefix(text, "-922") {
			require.Error(t, err, text)
			require.Regexp(t, "too much work or memory|nested deeper|too large", err.Error(), text)
		}
	}
}

// TestDirectAgreesWithTheMachine: what is evaluated without a machine has the value, or the
// error, that the machine finds, which evaluates whatever begins with let.
func TestDirectAgreesWithTheMachine(t *testing.T) {
	for _, text := range []string{
		`filter(state.orders, .total > 1000 and .id != args.id)`, `map(filter(state.refunds, .order == args.id), ({'id': .id, 'n': 1}))`,
		`find(state.orders, .id == lower("O2"))`, `find(state.orders, .status == "open").total - 1`, `count(state.orders, any(state.refunds, .order == "O2") or .id == "O1")`,
		`sum(state.orders, .total)`, `sum([], .total)`, `filter([1], # > 1)`, `count(state.orders, .total)`, `any(state.orders, .items.x == 1)`, `sum(state.orders, .status)`, `sum(state.refunds, .missing)`,
		`any(state.orders, any(.items, .x)) ? 1 : 2`, `any(state.orders, any(.items, .x)) and true`, `any(state.vat, true)`, `args.n >= 3 and state.vat < 1 || state.empty.x`, `true and args.id`, `args.id or true`,
		`args.n + 9223372036854775807`, `-9223372036854775807 - args.n`, `args.n - state.vat`, `args.id + "x"`, `args.id + args.n`, `args.id + "x" + args.id`, `args.id + state.big`, `args.n <= 3 and args.n > 3`, `args.id < 3`, `daysBetween(nil, today) == 1`, `daysBetween("2026-05-01", today)`,
		`state.orders.O1 == state.orders.O1`, `state.big != nil`, `state.vat == 0.19`, `args.n == 3.0`, `lower(args.n)`, `lower("ÄB")`, `state.orders.O1[args.n]`, `nil == state.empty`, `state.empty?.x`,
	} {
		direct, err := Compile(text, sampleNames)
		require.NoError(t, err, text)
		machine, err := Compile("let z = 1; "+text, sampleNames)
		require.NoError(t, err, text)
		got, gotErr := direct.Eval(environment(t))
		want, wantErr := machine.Eval(environment(t))
		require.Equal(t, want, got, text)
		require.Equal(t, wantErr == nil, gotErr == nil, text)
		var mistake, wrong *Error
		if errors.As(wantErr, &wrong) && errors.As(gotErr, &mistake) {
			require.Equal(t, wrong.Detail, mistake.Detail, text)
		}
	}
}

// TestEnvironments: a value that is set is what the next evaluation reads, by a machine or
// without one, and programs of fewer names read the same environment.
func TestEnvironments(t *testing.T) {
	var env Env
	env.Reset([]string{"args", "n"})
	for n := range 3 {
		env.Set(1, n)
		for _, text := range []string{"n + 1", "let z = 1; n + z"} {
			p, err := Compile(text, []string{"args", "n"})
			require.NoError(t, err)
			v, err := p.EvalIn(&env)
			require.NoError(t, err)
			require.Equal(t, n+1, v, text)
		}
	}
	fewer, err := Template("{{args}}, {{args}}", []string{"args"})
	require.NoError(t, err)
	env.Set(0, "x")
	v, err := fewer.EvalIn(&env)
	require.NoError(t, err)
	require.Equal(t, "x, x", v)
	v, err = fewer.Eval(map[string]any{"args": "y"})
	require.NoError(t, err)
	require.Equal(t, "y, y", v)
}

func TestNames(t *testing.T) {
	p, err := Compile(`let x = args.id; filter(state.orders, .id == x and today != "") | len()`, sampleNames)
	require.NoError(t, err)
	require.Equal(t, []string{"args", "state", "today"}, p.Names())
	_, constant := p.Constant()
	require.False(t, constant)
}

func TestTemplates(t *testing.T) {
	for text, want := range map[string]string{
		`{{args.n}}`:                `3`,
		`n={{args.n}}`:              `"n=3"`,
		`{{state.orders.O1.items}}`: `["pen","ink"]`,
		`{{args.id}} has {{state.orders.O1.items}}{{nil}}`: `"O1 has [\"pen\",\"ink\"]null"`,
		`plain } text { }}`:        `"plain } text { }}"`,
		``:                         `""`,
		`{{ {"a": {"b": "}}"}} }}`: `{"a":{"b":"}}"}}`,
		`{{'it\'s }}'}}!`:          `"it's }}!"`,
		`{{"{{"}}`:                 `"{{"`,
	} {
		p, err := Template(text, sampleNames)
		require.NoError(t, err, text)
		v, err := p.Eval(environment(t))
		require.NoError(t, err, text)
		got, err := JSON(v, 1000)
		require.NoError(t, err)
		require.Equal(t, want, string(got), text)
	}
	for text, want := range map[string][2]int{`ab {{args.n`: {1, 4}, "a\nü {{ wrong }}": {2, 6}, "{{args.n\n+ wrong}}": {2, 3}} {
		_, err := Template(text, sampleNames)
		var wrong *Error
		require.ErrorAs(t, err, &wrong, text)
		require.Equal(t, want, [2]int{wrong.Line, wrong.Column}, text)
	}
	p, err := Template("{{join(map(1..10000, \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"), \"\")}}{{join(map(1..10000, \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"), \"\")}}", nil)
	require.NoError(t, err)
	_, err = p.Eval(nil)
	require.ErrorContains(t, err, "too much work or memory")
}

func TestReadValue(t *testing.T) {
	src := &yamlfile.Source{File: "suite.yaml", Found: &yamlfile.Findings{}}
	root, ok := src.Parse([]byte("good: {id: '{{args.id}}', list: [1, 2.50, '{{args.n + 1}}', true, null, 2026-05-13], big: 12345678901234567890, box: {a: [1], b: '{{args.n}}', c: null}}\nfixed: {a: [1]}\nwhen: args.n > 2\n" +
		"bad:\n  a: 'x {{ wron }}'\n  b: |\n    line\n      {{ args.n +* }}\n  c: [!!binary aGk=, .inf]\nwhen2: stat == 1\nwhen3: 5\n"))
	require.True(t, ok)
	good := ReadValue(root.FieldAt("good"), sampleNames)
	v, err := good.Eval(environment(t))
	require.NoError(t, err)
	got, err := JSON(v, 1000)
	require.NoError(t, err)
	require.Equal(t, `{"big":12345678901234567890,"box":{"a":[1],"b":3,"c":null},"id":"O1","list":[1,2.5,4,true,null,"2026-05-13"]}`, string(got))
	var env Env
	env.Reset(sampleNames)
	env.Set(slices.Index(sampleNames, "args"), environment(t)["args"])
	text, err := good.JSON(&env, 1000)
	require.NoError(t, err)
	require.Equal(t, got, text)
	for range 2 { // what is kept can be changed
		kept, text, err := good.Keep(&env, 1000)
		require.NoError(t, err)
		require.Equal(t, got, text)
		require.Equal(t, v, kept)
		box := kept.(map[string]any)["box"].(map[string]any)
		box["a"].([]any)[0], box["c"] = 2, 2
	}
	_, _, err = good.Keep(&env, 50)
	require.ErrorContains(t, err, "too large")
	long := env.Text(strings.Repeat("a", 300))
	first, second := env.Text("first"), env.Text("second")
	_ = append(first, "of texts that share memory"...)
	require.Equal(t, `"first""second"`, string(first)+string(second))
	require.Len(t, long, 302)
	fixed, constant := ReadValue(root.FieldAt("fixed"), nil).Constant()
	require.True(t, constant)
	require.Equal(t, map[string]any{"a": []any{1}}, fixed)
	holds, err := Read(root.FieldAt("when"), sampleNames).Holds(environment(t))
	require.NoError(t, err)
	require.True(t, holds)
	require.Empty(t, src.Found.List)

	require.Nil(t, ReadValue(root.FieldAt("bad"), sampleNames))
	require.Nil(t, Read(root.FieldAt("when2"), sampleNames))
	require.Nil(t, Read(root.FieldAt("when3"), sampleNames))
	var lines []string
	for _, p := range src.Found.Sorted() {
		lines = append(lines, p.Error()[:min(len(p.Error()), 60)])
	}
	require.Equal(t, []string{
		"suite.yaml:5:12: bad.a: unknown name wron; known: args, stat",
		"suite.yaml:8:18: bad.b: unexpected token Operator(\"*\")",
	}, lines[:2], strings.Join(lines, "\n"))
	require.Contains(t, strings.Join(lines, "\n"), "suite.yaml:10:8: when2: unknown name stat (did you mean")
	require.Contains(t, strings.Join(lines, "\n"), "suite.yaml:11: when3: must be a string")
}

func TestDecodeAndJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"b":1,"a":[1.0,1e3,1.50,-0.0000001,1e300,123456789012345678901234567890]}`: `{"a":[1,1000,1.5,-1e-7,1e+300,123456789012345678901234567890],"b":1}`,
		"\"\\u0000\\n\\\"<&>\u2028\"": "\"\\u0000\\n\\\"<&>\u2028\"",
	} {
		v, err := Decode([]byte(in))
		require.NoError(t, err)
		require.Equal(t, want, string(AppendJSON(nil, v)))
	}
	for _, in := range []string{``, `{`, `1 2`, `{"a":1,}`} {
		_, err := Decode([]byte(in))
		require.ErrorContains(t, err, "not valid JSON", in)
	}
	_, err := JSON(strings.Repeat("a", 100), 50)
	require.ErrorContains(t, err, "too large")
	_, err = Plain(make(chan int), 50)
	require.ErrorContains(t, err, "JSON has no value of type chan int")
}

// FuzzExpression compiles and evaluates any text: no panic, no endless work, equal values
// each time, and a result that is JSON.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{`state.orders[args.id].total * 2`, `map(1..9, # + 1)`, `{{args.id}} {{state}}`, `reduce(1..60, [#acc, #acc], 1)`, `let x = 1; x`, `keys(groupBy(state.refunds, .id))`, `addDays(today, args.n)`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, compile := range []func(string, []string) (*Program, error){Compile, Template} {
			p, err := compile(text, sampleNames)
			if err != nil {
				var wrong *Error
				require.ErrorAs(t, err, &wrong)
				require.Positive(t, wrong.Line)
				require.Positive(t, wrong.Column)
				continue
			}
			env, start := environment(t), time.Now()
			v, err := p.Eval(env)
			require.Less(t, time.Since(start), 5*time.Second, "the evaluation takes too long")
			if err != nil {
				continue
			}
			out, err := JSON(v, 1<<20)
			if err != nil {
				continue
			}
			require.True(t, json.Valid(out), "%s", out)
			again, err := p.Eval(environment(t))
			require.NoError(t, err)
			same, err := JSON(again, 1<<20)
			require.NoError(t, err)
			less, err := p.Eval(p.Needs(nil).Trim(environment(t)).(map[string]any)) // what is not read does not matter
			require.NoError(t, err)
			trimmed, err := JSON(less, 1<<20)
			require.NoError(t, err)
			require.Equal(t, string(out), string(trimmed))
			require.Equal(t, string(out), string(same))
			state, err := JSON(env["state"], 1<<20)
			require.NoError(t, err)
			before, err := JSON(environment(t)["state"], 1<<20)
			require.NoError(t, err)
			require.Equal(t, string(before), string(state), "evaluation changed its environment")
		}
	})
}

// FuzzDecode compares the decoder with that of encoding/json.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{sample, `[1,-0,1e2,1.5E+3,"a\\\"\u00e9",true,false,null,{},[]]`, ` { "a" : [ 1 , {"b":"ü"} ] } `, `12345678901234567890`, `-0.0`, `"\ud800"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Decode(text)
		var want any
		if wrong := json.Unmarshal(text, &want); wrong != nil && !json.Valid(text) {
			require.Error(t, err)
			return
		} else if wrong != nil {
			return // a number beyond float64, which Decode keeps as text
		}
		require.NoError(t, err)
		require.Equal(t, want, floats(got))
	})
}

// floats turns numbers into those of encoding/json.
func floats(v any) any {
	switch v := v.(type) {
	case int:
		return float64(v)
	case json.Number:
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = floats(v[key])
		}
	}
	return v
}

func BenchmarkEval(b *testing.B) {
	env := environment(b)
	for _, text := range []string{`state.orders[args.id]`, `state.orders[args.id].status == "shipped" and args.n < 10`, `any(state.refunds, .order == args.id)`} {
		p, err := Compile(text, sampleNames)
		require.NoError(b, err)
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = p.Eval(env)
			}
		})
	}
}

// TestThePageNamesEveryFunction: who writes expressions finds the functions in
// docs/worlds.md.
func TestThePageNamesEveryFunction(t *testing.T) {
	page := testkit.Doc(t, "worlds.md")
	for _, name := range language {
		require.True(t, strings.Contains(page, "`"+name+"`") || strings.Contains(page, "`"+name+"("), name)
	}
}
