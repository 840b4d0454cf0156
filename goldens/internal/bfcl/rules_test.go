package bfcl

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
)

// one is the accepted answer of a question with one function f of one argument a.
func one(t testing.TB, declared, accepted string) *Answer {
	t.Helper()
	functions, err := Functions(json.RawMessage(`{"name": "f", "parameters": {"type": "dict", "properties": {"a": ` + declared + `}}}`))
	require.NoError(t, err)
	a, err := New(functions, json.RawMessage(`{"f": {"a": `+accepted+`}}`))
	require.NoError(t, err)
	return a
}

// TestValues has the examples of the rules of types and values. An empty class means right.
func TestValues(t *testing.T) {
	for _, c := range []struct{ declared, accepted, value, class string }{
		{"string", `["2x**2"]`, `"2*x**2"`, ""},
		{"string", `["U.S."]`, `"US"`, ""},
		{"string", `["R vs Adams"]`, `"R_vs_Adams"`, ""},
		{"string", `["it's"]`, `"It\"s"`, ""},
		{"string", `["ΟΔΟΣ"]`, `"οδος"`, ""},
		{"string", `["US"]`, `"USA"`, wrongValue},
		{"string", `["US"]`, `"US\t"`, wrongValue},
		{"string", `["US", ""]`, `""`, wrongValue},
		{"string", `["5"]`, `5`, wrongType},
		{"any", `["x"]`, `"X"`, ""},
		{"any", `["x"]`, `["x"]`, wrongType},
		{"integer", `[5]`, `5`, ""},
		{"integer", `[5]`, `5.0`, wrongType},
		{"integer", `[5]`, `5e0`, wrongType},
		{"integer", `[5]`, `"5"`, wrongType},
		{"integer", `[1]`, `true`, wrongType},
		{"integer", `[0.85]`, `0.85`, ""},
		{"float", `[5.0]`, `5`, ""},
		{"float", `[5]`, `5.00`, ""},
		{"float", `[0.1]`, `0.10000000000000001`, ""}, // the same number of 64 bits
		{"float", `[0.1]`, `0.1000001`, wrongValue},
		{"float", `[9007199254740993]`, `9007199254740992.0`, wrongValue},
		{"float", `[1.0]`, `true`, wrongType},
		{"boolean", `[true]`, `true`, ""},
		{"boolean", `[true]`, `"true"`, wrongType},
		{"float", `["None"]`, `"None"`, ""},
		{"float", `["None"]`, `"none"`, wrongValue}, // a variable is compared unchanged
		{"float", `["", "None"]`, `"None"`, ""},
		{"array", `["data['x']"]`, `"data['x']"`, ""},
		{"array", `["data['x']"]`, `"data[\"x\"]"`, wrongValue},
		{"string", `["x"]`, `null`, wrongType},
		{`array", "items": {"type": "float"}, "x": "`, `[[1.0, 3.0]]`, `[1, 3]`, wrongType},
		{`array", "items": {"type": "float"}, "x": "`, `[[1, 3]]`, `[1, 3]`, ""},
		{`array", "items": {"type": "float"}, "x": "`, `[[1, 3]]`, `[1.0, 3]`, ""},
		{`array", "items": {"type": "string"}, "x": "`, `[["New York", "LA"]]`, `["new york", "L.A."]`, ""},
		{`array", "items": {"type": "string"}, "x": "`, `[["a", "b"]]`, `["b", "a"]`, wrongValue},
		{`array", "items": {"type": "string"}, "x": "`, `[["a"]]`, `["a", "a"]`, wrongValue},
		{`array", "items": {"type": "string"}, "x": "`, `[["a"], [["a"]]]`, `[["A"]]`, wrongValue}, // below the first level, unchanged
		{`array", "items": {"type": "integer"}, "x": "`, `[[], ""]`, `[]`, ""},
		{`tuple", "items": {"type": "integer"}, "x": "`, `[[1, 2]]`, `[1, 2]`, ""},
		{"dict", `[{"k": ["A b", 1], "n": {"m": [2]}}]`, `{"n": {"m": 2.0}, "k": "a-B"}`, ""},
		{"dict", `[{"k": ["A b", ""]}]`, `{}`, wrongValue},
		{"dict", `[{"k": ["A b", ""]}]`, `{"k": ""}`, ""},
		{"dict", `[{"k": [1]}]`, `{"k": 1, "l": 2}`, wrongValue},
		{"dict", `[{"k": [1]}, {"k": [2]}]`, `{"k": 2}`, ""},
		{`array", "items": {"type": "dict"}, "x": "`, `[[{"k": [1]}, {"k": [2, 3]}]]`, `[{"k": 1}, {"k": 3}]`, ""},
		{`array", "items": {"type": "dict"}, "x": "`, `[[{"k": [1]}, {"k": [2]}]]`, `[{"k": 2}, {"k": 1}]`, wrongValue},
	} {
		declared := strings.Replace(`{"type": "`+c.declared+`"}`, `, "x": ""`, "", 1)
		why := one(t, declared, c.accepted).Wrong([]Call{{"f", `{"a": ` + c.value + `}`}})
		if c.class == "" {
			require.Empty(t, why, "%+v", c)
		} else {
			require.True(t, strings.HasPrefix(why, c.class), "%+v: %s", c, why)
		}
	}
}

const twoFunctions = `[
	{"name": "math.add", "parameters": {"type": "dict", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}, "z": {"type": "integer"}}, "required": ["x"]}},
	{"name": "play", "parameters": {"type": "object", "properties": {"song": {"type": "string"}}}}]`

func TestCalls(t *testing.T) {
	functions, err := Functions(json.RawMessage(twoFunctions))
	require.NoError(t, err)
	require.Equal(t, "math_add", functions[0].Offered)
	require.JSONEq(t, `{"type": "object", "properties": {"song": {"type": "string"}}}`, string(functions[1].Schema))
	const accepted = `{"math.add_1": {"x": [1, 2], "y": [1, ""]}, "math.add_2": {"x": [1]}, "play": {"song": ["a"]}}`
	ok := []Call{{"play", `{"song": "A"}`}, {"math_add", `{"x": 2, "y": 1}`}, {"math_add", `{"x": 1}`}}
	with := func(i int, c Call) []Call {
		out := append([]Call{}, ok...)
		out[i] = c
		return out
	}
	for _, c := range []struct {
		name, accepted string
		calls          []Call
		want           string
	}{
		{"any order", accepted, ok, ""},
		{"too few", accepted, ok[:2], "number of calls: want 3, got 2"},
		{"none", accepted, nil, "number of calls: want 3, got 0"},
		{"greedy", accepted, []Call{{"math_add", `{"x": 1}`}, {"math_add", `{"x": 2}`}, {"play", `{"song":"a"}`}}, "wrong value: x: want one of [1], got 2"},
		{"dots in a name", `{"math.add": {"x": [1]}}`, []Call{{"math.add", `{"x": 1}`}}, "wrong function: want math_add, got math.add"},
		{"required", accepted, with(1, Call{"math_add", `{"y": 1}`}), "missing argument: x is required"},
		{"not in the accepted answer", `{"math.add": {"x": [2]}}`, []Call{{"math_add", `{"x": 2, "z": 1}`}}, "unknown argument: the accepted call math.add has fewer"},
		{"not declared", `{"play": {"song": ["a"], "loud": [1, ""]}}`, []Call{{"play", `{"song": "a", "loud": 1}`}}, "unknown argument: loud is not declared"},
		{"left out", `{"play": {"song": ["a"]}}`, []Call{{"play", ``}}, "missing argument: song"},
		{"no JSON", accepted, with(0, Call{"play", `{"song`}), `unreadable call: the arguments of play are not a JSON object: {"song`},
		{"another function", `{"play": {"song": ["a"]}}`, []Call{{"math_add", `{"x": 1}`}}, "wrong function: want play, got math_add"},
		{"no function", `{"stop": {}}`, []Call{{"stop", "{}"}}, "wrong function: the accepted call stop is not one of a declared function"},
		{"relevance: text", `[]`, nil, ""},
		{"relevance: a call", `[]`, []Call{{"play", `{}`}}, "number of calls: want 0, got 1"},
		{"relevance: no call that can be read", `[]`, []Call{{"play", `song`}}, ""},
		{"a list of calls of one function", `[{"play": {"song": ["a"]}}, {"play": {"song": ["b"]}}]`, []Call{{"play", `{"song": "b"}`}, {"play", `{"song": "a"}`}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := New(functions, json.RawMessage(c.accepted))
			require.NoError(t, err)
			require.Equal(t, c.want, a.Wrong(c.calls))
		})
	}
}

func TestProblems(t *testing.T) {
	const f = `{"name": "f", "parameters": {"type": "dict"}}`
	for _, c := range []struct{ functions, accepted, want string }{
		{`[`, ``, "must be JSON of at most 64 KiB and 64 levels"},
		{`[]`, ``, "must be a function, or a list of 1 to 128"},
		{`[{"name": "a b", "parameters": {"type": "dict"}}, {"name": "x"}]`, ``, "function 1: its name is \"a b\"; must be 1 to 64 letters, digits, dots, dashes and underscores\nfunction x: its parameters must have the type dict or object"},
		{`[` + f + `, {"name": "a.b", "parameters": {"type": "dict"}}, {"name": "a_b", "parameters": {"type": "dict"}}]`, ``, "function 3: a.b and a_b have the same name where dots are underscores"},
		{`{"name": "f", "parameters": {"type": "dict", "properties": {"x": {"type": "date"}, "y": {"type": "array", "items": {}}}}}`, ``, "function f: parameters.x: its type must be one of"},
		{f, `5`, "must be an object of accepted calls, or a list of such objects"},
		{f, `[{}]`, "an object of accepted calls must have a function; [] accepts no call"},
		{f, `{"f": {"a": 5}}`, "f.a: must be a list of accepted values"},
	} {
		functions, err := Functions(json.RawMessage(c.functions))
		if err == nil {
			_, err = New(functions, json.RawMessage(c.accepted))
		}
		require.ErrorContains(t, err, strings.Split(c.want, "\n")[0], c.functions)
		if strings.Contains(c.want, "\n") {
			require.ErrorContains(t, err, strings.Split(c.want, "\n")[1], c.functions)
		}
	}
}

// TestDefects has the defects of the fixture that are not about words in declarations.
func TestDefects(t *testing.T) {
	var got []string
	for _, q := range fixture(t) {
		for _, d := range q.answer.Defects() {
			if d.Kind != "keyword" {
				got = append(got, q.id+" "+d.Kind+": "+d.Detail)
			}
		}
	}
	require.Equal(t, []string{
		"simple_17 required_optional: the accepted call get_prime_factors may leave out formatted, which is required",
		"simple_122 type: table: an item of the accepted value [[10,20],[30,40]] does not have the declared type integer",
		`simple_149 type: company_names: an item of the accepted value [["Apple"],["Microsoft"]] does not have the declared type string`,
		"simple_200 required_optional: the accepted call calculate_emissions may leave out fuel_efficiency, which is required",
		"simple_307 type: venue: the accepted value true does not have the declared type string",
		"simple_363 other_name: the accepted call is find_closest, the function restaurant_search.find_closest",
		"multiple_function_26 no_value: no value of mission is accepted: it must be left out",
		"multiple_function_26 no_value: no value of trophy is accepted: it must be left out",
		`multiple_function_76 enum: material: the accepted value "bronze" is not one of the declared ones`,
		"parallel_function_102 type: atm_pressure: the accepted value 0.85 does not have the declared type integer",
		`parallel_function_152 type: mod: the accepted value "None" does not have the declared type float`,
		"parallel_multiple_function_3 no_value: no value of tolerance is accepted: it must be left out",
		`parallel_multiple_function_3 type: tolerance: the accepted value "0.1" does not have the declared type float`,
		"parallel_multiple_function_12 undeclared_argument: the accepted call calculate_voltage_difference has permeability, which is not declared",
		`parallel_multiple_function_21 type: x: the accepted value "data['sales']" does not have the declared type array`,
		`parallel_multiple_function_21 type: y: the accepted value "data['future_sales']" does not have the declared type array`,
		"parallel_multiple_function_179 undeclared_function: deck of the accepted answer is not a call of a declared function",
		"parallel_multiple_function_179 unanswerable: no answer is right: wrong function: the accepted call deck is not one of a declared function",
		"parallel_multiple_function_195 no_value: no value of bcc is accepted: it must be left out",
		"parallel_multiple_function_195 type: interval: an item of the accepted value [0,5] does not have the declared type float",
	}, got)
	a := one(t, `{"type": "integer", "optional": true}`, `[1]`)
	a.functions[0].required = []string{"b"}
	require.Equal(t, []Defect{
		{"keyword", "f: models do not see optional, which is not a keyword"},
		{"required_undeclared", "f requires b, which it does not declare"},
		{"missing_required", "the accepted call f lacks the required argument b"},
		{"unanswerable", "no answer is right: missing argument: b is required"},
	}, a.Defects())
	require.Equal(t, "unreachable", one(t, `{"type": "integer"}`, `[1, "x"]`).Defects()[0].Kind)
}

// TestPublishedDefects has the defects of all 1,240 questions by kind, and the verdicts of
// reference answers and of empty ones.
func TestPublishedDefects(t *testing.T) {
	t.Parallel()
	kinds := map[string]int{}
	var wrong []string
	empty := 0
	for _, q := range published(t) {
		for _, d := range q.answer.Defects() {
			kinds[d.Kind]++
		}
		if q.answer.Wrong(q.answer.Reference()) != "" {
			wrong = append(wrong, q.id)
		}
		if q.answer.Wrong(nil) == "" {
			empty++
			require.Equal(t, "relevance", q.category)
		}
	}
	require.Equal(t, map[string]int{
		"keyword": 47, "no_value": 60, "type": 12, "enum": 5, "required_optional": 5, "undeclared_argument": 2,
		"other_name": 1, "undeclared_function": 1, "unanswerable": 1,
	}, kinds)
	require.Equal(t, []string{"parallel_multiple_function_179"}, wrong)
	require.Equal(t, 240, empty)
}

func FuzzAnswer(f *testing.F) {
	for _, q := range fixture(f) {
		for _, fn := range q.answer.functions {
			f.Add(twoFunctions, `{"play": {"song": ["a"]}}`, fn.Offered, string(fn.Schema))
		}
		f.Add(twoFunctions, `{"math.add": {"x": [1]}}`, "math_add", `{"x": 1}`)
	}
	f.Fuzz(func(t *testing.T, functions, accepted, name, args string) {
		list, err := Functions(json.RawMessage(functions))
		if err != nil {
			return
		}
		for _, fn := range list {
			require.True(t, json.Valid(fn.Schema), "%s", fn.Schema)
			_, _, ok := tool.ParseJSON(string(fn.Schema))
			require.True(t, ok)
		}
		a, err := New(list, json.RawMessage(accepted))
		if err != nil {
			return
		}
		_ = a.Defects()
		calls := []Call{{name, args}}
		require.Equal(t, a.Wrong(calls), a.Wrong(calls))
		require.True(t, len(a.accepted) == 0 == (a.Wrong(nil) == ""))
	})
}
