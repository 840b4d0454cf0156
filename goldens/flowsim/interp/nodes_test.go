package interp

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
)

// nodeCase is one node behind a manual trigger that gets items.
type nodeCase struct {
	name string
	node string // its fields without the name
	in   string // the items
	// out has the items of each output, and effects those of the node; "" none.
	out, effects string
	// fails is the class and a part of the message.
	fails string
}

const (
	slack = `"type": "slack", "credentials": {"slackApi": "cr_1"}, "parameters": {"channel": "#a", "text": "n is {{ $json.n }}"}`
	two   = `[{"n": 1}, {"n": 2}]`
)

func when(left, operator, right string) string {
	return `"parameters": {"conditions": [{"left": ` + left + `, "operator": "` + operator + `", "right": ` + right + `}]}`
}

// nodeCases has a table of cases for each type of node.
var nodeCases = map[string][]nodeCase{
	"noOp": {
		{"passes", `"type": "noOp"`, two, `[[{"n":1},{"n":2}]]`, "", ""},
		{"does not run without items", `"type": "noOp"`, `[]`, "", "", ""},
		{"disabled nodes pass on", `"type": "limit", "disabled": true`, two, `[[{"n":1},{"n":2}]]`, "", ""},
	},
	"if": {
		{"true and false", `"type": "if", ` + when(`"{{ $json.n }}"`, "equals", `2`), two, `[[{"n":2}],[{"n":1}]]`, "", ""},
		{"no conversion", `"type": "if", ` + when(`"{{ $json.n }}"`, "equals", `"2"`), two, `[[],[{"n":1},{"n":2}]]`, "", ""},
		{"missing fields", `"type": "if", ` + when(`"{{ $json.body.n }}"`, "gt", `0`), two, `[[],[{"n":1},{"n":2}]]`, "", ""},
		{"and", `"type": "if", "parameters": {"conditions": [{"left": "{{ $json.n }}", "operator": "gte", "right": 1}, {"left": "{{ $json.n }}", "operator": "lt", "right": 2}]}`, two, `[[{"n":1}],[{"n":2}]]`, "", ""},
		{"or", `"type": "if", "parameters": {"combinator": "or", "conditions": [{"left": "{{ $json.n }}", "operator": "notEquals", "right": 1}, {"left": "{{ $json.n }}", "operator": "lte", "right": 0}]}`, two, `[[{"n":2}],[{"n":1}]]`, "", ""},
		{"different types", `"type": "if", ` + when(`"{{ $json.n }}"`, "gt", `"1"`), two, "", "", "expression: gt cannot compare"},
		{"an error passes with continue", `"type": "if", "onError": "continue", ` + when(`"{{ $json.n / ($json.n - 1) }}"`, "gt", `1`), two, `[[{"error":"division by zero"},{"n":2}],[]]`, "", "expression: division by zero"},
		{"no conditions", `"type": "if"`, two, "", "", "parameter: conditions must be a list"},
		{"unknown operator", `"type": "if", ` + when(`1`, "like", `1`), two, "", "", `parameter: there is no operator "like"`},
	},
	"filter": {
		{"contains", `"type": "filter", ` + when(`"{{ $json.t }}"`, "contains", `"b"`), `[{"t":"abc"},{"t":"a"},{"t":["b"]},{"t":["bb"]},{}]`, `[[{"t":"abc"},{"t":["b"]}]]`, "", ""},
		{"notContains", `"type": "filter", ` + when(`"{{ $json.t }}"`, "notContains", `"b"`), `[{"t":"abc"},{"t":"a"},{}]`, `[[{"t":"a"},{}]]`, "", ""},
		{"startsWith", `"type": "filter", ` + when(`"{{ $json.t }}"`, "startsWith", `"a"`), `[{"t":"abc"},{"t":"ba"},{}]`, `[[{"t":"abc"}]]`, "", ""},
		{"endsWith", `"type": "filter", ` + when(`"{{ $json.t }}"`, "endsWith", `"a"`), `[{"t":"abc"},{"t":"ba"},{}]`, `[[{"t":"ba"}]]`, "", ""},
		{"exists", `"type": "filter", ` + when(`"{{ $json.t }}"`, "exists", `null`), `[{"t":""},{"t":null},{}]`, `[[{"t":""}]]`, "", ""},
		{"notExists", `"type": "filter", ` + when(`"{{ $json.t }}"`, "notExists", `null`), `[{"t":""},{"t":null},{}]`, `[[{"t":null},{}]]`, "", ""},
		{"isEmpty", `"type": "filter", ` + when(`"{{ $json.t }}"`, "isEmpty", `null`), `[{"t":""},{"t":[]},{"t":{}},{"t":0},{"t":"a"},{}]`, `[[{"t":""},{"t":[]},{"t":{}},{}]]`, "", ""},
		{"isNotEmpty", `"type": "filter", ` + when(`"{{ $json.t }}"`, "isNotEmpty", `null`), `[{"t":""},{"t":0},{"t":false}]`, `[[{"t":0},{"t":false}]]`, "", ""},
		{"isTrue", `"type": "filter", ` + when(`"{{ $json.t }}"`, "isTrue", `null`), `[{"t":true},{"t":"true"},{"t":false},{}]`, `[[{"t":true}]]`, "", ""},
		{"isFalse", `"type": "filter", ` + when(`"{{ $json.t }}"`, "isFalse", `null`), `[{"t":true},{"t":false},{}]`, `[[{"t":false}]]`, "", ""},
		{"texts only", `"type": "filter", ` + when(`"{{ $json.n }}"`, "startsWith", `"a"`), two, "", "", "parameter: startsWith compares texts"},
		{"no contents", `"type": "filter", ` + when(`"{{ $json.n }}"`, "contains", `"a"`), two, "", "", "expression: includes() needs a text or a list"},
	},
	"switch": {
		{"the first rule", `"type": "switch", "parameters": {"rules": [{"left": "{{ $json.n }}", "operator": "gt", "right": 1}, {"left": "{{ $json.n }}", "operator": "gt", "right": 0}]}`, `[{"n":1},{"n":2},{"n":-1}]`, `[[{"n":2}],[{"n":1}]]`, "", ""},
		{"all rules, and the rest", `"type": "switch", "parameters": {"allMatching": true, "fallback": "extra", "rules": [{"left": "{{ $json.n }}", "operator": "gt", "right": 1}, {"left": "{{ $json.n }}", "operator": "gt", "right": 0}]}`, `[{"n":1},{"n":2},{"n":-1}]`, `[[{"n":2}],[{"n":1},{"n":2}],[{"n":-1}]]`, "", ""},
		{"a rule that fails", `"type": "switch", "parameters": {"rules": [{"left": "{{ 1 / 0 }}", "operator": "isTrue"}]}`, two, "", "", "expression: division by zero"},
		{"an expression that cannot be read", `"type": "switch", "parameters": {"rules": [{"left": "{{ 1 / }}", "operator": "isTrue"}]}`, two, "", "", "expression: column 8"},
	},
	"merge": {{"only one input", `"type": "merge"`, two, `[[{"n":1},{"n":2}]]`, "", ""}}, // see TestMerge
	"set": {
		{"only its fields", `"type": "set", "parameters": {"fields": [{"name": "m", "value": "{{ $json.n + 1 }}"}, {"name": "t", "value": "n={{ $json.n }}"}, {"name": "c", "value": {"x": ["{{ $json.n }}", null]}}]}`, `[{"n":1,"o":2}]`, `[[{"c":{"x":[1,null]},"m":2,"t":"n=1"}]]`, "", ""},
		{"other fields too", `"type": "set", "parameters": {"includeOtherFields": true, "fields": [{"name": "n", "value": 9}, {"name": "a.b.c", "value": 1}, {"name": "a.d", "value": "{{ $json.a.x }}"}]}`, `[{"n":1,"o":2,"a":{"x":3}}]`, `[[{"a":{"b":{"c":1},"d":3,"x":3},"n":9,"o":2}]]`, "", ""},
		{"missing values are null", `"type": "set", "parameters": {"fields": [{"name": "m", "value": "{{ $json.body.email }}"}]}`, `[{"n":1}]`, `[[{"m":null}]]`, "", ""},
		{"by an expression", `"type": "set", "parameters": {"includeOtherFields": "{{ $json.n == 1 }}", "fields": [{"name": "m", "value": 0}]}`, two, `[[{"m":0,"n":1},{"m":0}]]`, "", ""},
		{"neither true nor false", `"type": "set", "parameters": {"includeOtherFields": "{{ $json.n }}", "fields": [{"name": "m", "value": 0}]}`, two, "", "", "parameter: includeOtherFields must be true or false"},
		{"a name of another meaning", `"type": "set", "parameters": {"fields": [{"name": "a.__proto__", "value": 0}]}`, two, "", "", "parameter: fields: a field cannot have the name"},
		{"no fields", `"type": "set", "parameters": {"fields": []}`, two, "", "", "parameter: fields must be a list"},
		{"a node that has not run", `"type": "set", "parameters": {"fields": [{"name": "m", "value": "{{ $('Gone').item.json.a }}"}]}`, two, "", "", `expression: node "Gone" has not run`},
		{"too much for an expression", `"type": "set", "onError": "continue", "parameters": {"fields": [{"name": "m", "value": "{{ $json.t.split('') }}"}]}`, `[{"t":"` + strings.Repeat("x", 20_000) + `"}]`, "", "", `E_LIMIT: more than 10000 operations`},
	},
	"sort": {
		{"by two fields", `"type": "sort", "parameters": {"fields": [{"field": "a.b", "order": "desc"}, {"field": "n"}]}`, `[{"n":2,"a":{"b":1}},{"n":1,"a":{"b":1}},{"n":3,"a":{"b":2}},{"n":4}]`, `[[{"a":{"b":2},"n":3},{"a":{"b":1},"n":1},{"a":{"b":1},"n":2},{"n":4}]]`, "", ""},
		{"any types, equal ones stay", `"type": "sort", "parameters": {"fields": [{"field": "v"}]}`, `[{"v":[]},{"v":"b"},{"v":{}},{"v":"a"},{"v":2},{"v":true},{"v":10},{"v":false},{},{"v":null,"x":1}]`, `[[{},{"v":null,"x":1},{"v":false},{"v":true},{"v":2},{"v":10},{"v":"a"},{"v":"b"},{"v":[]},{"v":{}}]]`, "", ""},
		{"no field", `"type": "sort", "parameters": {"fields": [{"field": ""}]}`, two, "", "", "parameter: fields: it is empty"},
	},
	"limit": {
		{"one", `"type": "limit"`, two, `[[{"n":1}]]`, "", ""},
		{"the last", `"type": "limit", "parameters": {"maxItems": 2, "keep": "last"}`, `[{"n":1},{"n":2},{"n":3}]`, `[[{"n":2},{"n":3}]]`, "", ""},
		{"more than there are", `"type": "limit", "parameters": {"maxItems": 9}`, two, `[[{"n":1},{"n":2}]]`, "", ""},
		{"no number", `"type": "limit", "parameters": {"maxItems": "{{ $json.x }}"}`, two, "", "", "parameter: maxItems must be a number"},
	},
	"aggregate": {
		{"groups", `"type": "aggregate", "parameters": {"groupBy": ["c"], "aggregations": [{"operation": "count", "output": "count"}, {"operation": "sum", "field": "n", "output": "sum"}, {"operation": "average", "field": "n", "output": "avg"}, {"operation": "min", "field": "n", "output": "r.min"}, {"operation": "max", "field": "n", "output": "r.max"}, {"operation": "list", "field": "n", "output": "all"}]}`,
			`[{"c":"b","n":3},{"c":"a","n":1},{"c":"b","n":1},{"c":"b"}]`, `[[{"all":[3,1],"avg":2,"c":"b","count":3,"r":{"max":3,"min":1},"sum":4},{"all":[1],"avg":1,"c":"a","count":1,"r":{"max":1,"min":1},"sum":1}]]`, "", ""},
		{"all items", `"type": "aggregate", "parameters": {"aggregations": [{"operation": "items", "output": "rows"}]}`, two, `[[{"rows":[{"n":1},{"n":2}]}]]`, "", ""},
		{"nothing to compute with", `"type": "aggregate", "parameters": {"aggregations": [{"operation": "average", "field": "x", "output": "a"}, {"operation": "sum", "field": "x", "output": "s"}, {"operation": "max", "field": "x", "output": "m"}]}`, two, `[[{"a":null,"m":null,"s":0}]]`, "", ""},
		{"the largest text", `"type": "aggregate", "parameters": {"aggregations": [{"operation": "max", "field": "t", "output": "m"}]}`, `[{"t":"a"},{"t":"c"},{"t":"b"}]`, `[[{"m":"c"}]]`, "", ""},
		{"a sum of texts", `"type": "aggregate", "parameters": {"aggregations": [{"operation": "sum", "field": "t", "output": "s"}]}`, `[{"t":"1"}]`, "", "", "parameter: sum: the field t is not always a number"},
		{"a maximum of anything", `"type": "aggregate", "parameters": {"aggregations": [{"operation": "max", "field": "t", "output": "s"}]}`, `[{"t":"1"},{"t":2}]`, "", "", "parameter: max: the field t has values that cannot be compared"},
		{"an unknown operation", `"type": "aggregate", "parameters": {"aggregations": [{"operation": "median", "field": "t", "output": "s"}]}`, two, "", "", `parameter: there is no operation "median"`},
		{"no field", `"type": "aggregate", "parameters": {"aggregations": [{"operation": "sum", "output": "s"}]}`, two, "", "", "parameter: aggregations: it is empty"},
		{"no name", `"type": "aggregate", "parameters": {"aggregations": [{"operation": "count"}]}`, two, "", "", "parameter: aggregations: it is empty"},
		{"no group", `"type": "aggregate", "parameters": {"groupBy": [1], "aggregations": [{"operation": "count", "output": "c"}]}`, two, "", "", "parameter: groupBy: it is empty"},
	},
	"splitOut": {
		{"objects", `"type": "splitOut", "parameters": {"field": "body.lines"}`, `[{"body":{"lines":[{"a":1},{"a":2}]},"o":1}]`, `[[{"a":1},{"a":2}]]`, "", ""},
		{"other values, other fields", `"type": "splitOut", "parameters": {"field": "tags", "includeOtherFields": true}`, `[{"tags":["x","y"],"o":1}]`, `[[{"o":1,"tags":"x"},{"o":1,"tags":"y"}]]`, "", ""},
		{"objects, other fields", `"type": "splitOut", "parameters": {"field": "tags", "includeOtherFields": true}`, `[{"tags":[{"a":1}],"o":1}]`, `[[{"a":1,"o":1}]]`, "", ""},
		{"a name", `"type": "splitOut", "parameters": {"field": "body.tags", "destination": "t.v"}`, `[{"body":{"tags":["x",{"a":1}]}}]`, `[[{"t":{"v":"x"}},{"t":{"v":{"a":1}}}]]`, "", ""},
		{"missing and empty", `"type": "splitOut", "parameters": {"field": "tags"}`, `[{"tags":[]},{"tags":null},{},{"tags":[1]}]`, `[[{"tags":1}]]`, "", ""},
		{"not a list", `"type": "splitOut", "parameters": {"field": "n"}`, two, "", "", "parameter: the field n is not a list"},
		{"a bad name", `"type": "splitOut", "parameters": {"field": "n", "destination": "a..b"}`, two, "", "", "parameter: destination: a field cannot"},
		{"neither true nor false", `"type": "splitOut", "parameters": {"field": "n", "includeOtherFields": "{{ 1 }}"}`, two, "", "", "parameter: includeOtherFields"},
	},
	"dateTime": {
		{"now", `"type": "dateTime", "parameters": {"operation": "now", "output": "at.now"}`, `[{"n":1}]`, `[[{"at":{"now":"2026-03-02T09:00:00Z"},"n":1}]]`, "", ""},
		{"format", `"type": "dateTime", "parameters": {"operation": "format", "date": "{{ $json.d }}", "format": "dd.MM.yyyy HH:mm:ss"}`, `[{"d":"2026-03-02T09:05:07+01:00"},{"d":"2026-03-02"},{"d":"2026-03-02 10:20"},{"d":null}]`,
			`[[{"d":"2026-03-02T09:05:07+01:00","date":"02.03.2026 09:05:07"},{"d":"2026-03-02","date":"02.03.2026 00:00:00"},{"d":"2026-03-02 10:20","date":"02.03.2026 10:20:00"},{"d":null,"date":null}]]`, "", ""},
		{"add", `"type": "dateTime", "parameters": {"operation": "add", "date": "2026-01-31", "amount": "{{ $json.n }}", "unit": "months"}`, two, `[[{"date":"2026-03-03T00:00:00Z","n":1},{"date":"2026-03-31T00:00:00Z","n":2}]]`, "", ""},
		{"subtract", `"type": "dateTime", "parameters": {"operation": "subtract", "date": "2026-03-02", "amount": 1.5, "unit": "hours"}`, `[{}]`, `[[{"date":"2026-03-01T22:30:00Z"}]]`, "", ""},
		{"weeks, days, years", `"type": "dateTime", "parameters": {"operation": "add", "date": "2026-03-02", "amount": 2, "unit": "weeks"}`, `[{}]`, `[[{"date":"2026-03-16T00:00:00Z"}]]`, "", ""},
		{"days", `"type": "dateTime", "parameters": {"operation": "add", "date": "2026-03-02", "amount": 2}`, `[{}]`, `[[{"date":"2026-03-04T00:00:00Z"}]]`, "", ""},
		{"years", `"type": "dateTime", "parameters": {"operation": "subtract", "date": "2026-03-02", "amount": 2, "unit": "years"}`, `[{}]`, `[[{"date":"2024-03-02T00:00:00Z"}]]`, "", ""},
		{"difference", `"type": "dateTime", "parameters": {"operation": "difference", "date": "2026-03-02", "endDate": "{{ $json.d }}", "unit": "days"}`, `[{"d":"2026-03-04T12:00:00Z"},{"d":"2026-03-01"},{}]`, `[[{"d":"2026-03-04T12:00:00Z","date":2.5},{"d":"2026-03-01","date":-1},{"date":null}]]`, "", ""},
		{"part", `"type": "dateTime", "parameters": {"operation": "part", "date": "{{ $now }}", "part": "weekday"}`, `[{}]`, `[[{"date":"Monday"}]]`, "", ""},
		{"hour", `"type": "dateTime", "parameters": {"operation": "part", "date": "{{ $now }}", "part": "hour"}`, `[{}]`, `[[{"date":9}]]`, "", ""},
		{"no date", `"type": "dateTime", "parameters": {"operation": "part", "date": "soon", "part": "hour"}`, `[{}]`, "", "", "parameter: date must be a time such as"},
		{"no second date", `"type": "dateTime", "parameters": {"operation": "difference", "date": "{{ $now }}", "endDate": "soon"}`, `[{}]`, "", "", "parameter: endDate must be a time such as"},
		{"months differ", `"type": "dateTime", "parameters": {"operation": "difference", "date": "{{ $now }}", "endDate": "{{ $now }}", "unit": "months"}`, `[{}]`, "", "", "parameter: unit of a difference"},
		{"half a day", `"type": "dateTime", "parameters": {"operation": "add", "date": "{{ $now }}", "amount": 0.5}`, `[{}]`, "", "", "parameter: amount must be a whole number of days"},
		{"too far", `"type": "dateTime", "parameters": {"operation": "add", "date": "{{ $now }}", "amount": 9000, "unit": "years"}`, `[{}]`, "", "", "parameter: the time is not within the years"},
		{"no amount", `"type": "dateTime", "parameters": {"operation": "add", "date": "{{ $now }}"}`, `[{}]`, "", "", "parameter: amount must be a number"},
		{"no unit", `"type": "dateTime", "parameters": {"operation": "add", "date": "{{ $now }}", "amount": 1, "unit": "moons"}`, `[{}]`, "", "", `parameter: there is no unit "moons"`},
		{"no part", `"type": "dateTime", "parameters": {"operation": "part", "date": "{{ $now }}", "part": "era"}`, `[{}]`, "", "", `parameter: there is no part "era"`},
		{"no operation", `"type": "dateTime", "parameters": {"operation": "round", "date": "{{ $now }}"}`, `[{}]`, "", "", `parameter: there is no operation "round"`},
		{"no output", `"type": "dateTime", "parameters": {"operation": "now", "output": "a.constructor"}`, `[{}]`, "", "", `parameter: output: a field cannot`},
	},
	"removeDuplicates": {
		{"whole items", `"type": "removeDuplicates"`, `[{"a":1,"b":2},{"b":2,"a":1},{"a":"1","b":2}]`, `[[{"a":1,"b":2},{"a":"1","b":2}]]`, "", ""},
		{"some fields", `"type": "removeDuplicates", "parameters": {"fields": ["a.b"]}`, `[{"a":{"b":1},"n":1},{"a":{"b":1},"n":2},{"n":3},{"a":{"b":null},"n":4}]`, `[[{"a":{"b":1},"n":1},{"n":3}]]`, "", ""},
		{"no name", `"type": "removeDuplicates", "parameters": {"fields": [""]}`, two, "", "", "parameter: fields: it is empty"},
	},
	"wait": { // see TestWait for times
		{"passes", `"type": "wait", "parameters": {"amount": 2, "unit": "hours"}`, two, `[[{"n":1},{"n":2}]]`, "", ""},
		{"until", `"type": "wait", "parameters": {"mode": "until", "until": "2026-03-03"}`, two, `[[{"n":1},{"n":2}]]`, "", ""},
		{"too long", `"type": "wait", "parameters": {"amount": 1000000, "unit": "days"}`, two, "", "", "parameter: a wait ends within a year"},
		{"too long, until", `"type": "wait", "parameters": {"mode": "until", "until": "2036-03-03"}`, two, "", "", "parameter: a wait ends within a year"},
		{"backwards", `"type": "wait", "parameters": {"amount": -1}`, two, "", "", "parameter: amount must be a number from 0"},
		{"no time", `"type": "wait", "parameters": {"mode": "until", "until": "later"}`, two, "", "", "parameter: until must be a time"},
	},
	"stopAndError": {
		{"stops", `"type": "stopAndError", "parameters": {"message": "no {{ $json.n }}"}`, two, "", "", "stopped: no 1"},
		{"with continue, it does not", `"type": "stopAndError", "onError": "continue", "parameters": {"message": "no {{ $json.n }}"}`, two, `[]`, "", "stopped: no 1"},
		{"no message", `"type": "stopAndError", "parameters": {"message": "{{ 1 / 0 }}"}`, two, "", "", "expression: division by zero"},
	},
	"executeWorkflow": {{"not found", `"type": "executeWorkflow", "parameters": {"workflowId": "wf_9"}`, two, "", "", "not_found: there is no workflow wf_9"}}, // see TestWorkflowsWithin
	"httpRequest": {
		{"a list", `"type": "httpRequest", "parameters": {"url": "https://shop.example/orders"}`, `[{}]`, `[[{"id":1},{"id":2},{"data":7}]]`, `[{"detail":{"method":"GET","status":200,"url":"https://shop.example/orders"},"kind":"request","node":"N1"}]`, ""},
		{"what is sent", `"type": "httpRequest", "parameters": {"url": "https://shop.example/{{ 'echo' }}", "method": "POST", "query": {"q": "{{ $json.n }}"}, "headers": {"x-key": "secret"}, "body": {"m": "{{ $json.n }}"}, "fullResponse": true}`, `[{"n":1}]`,
			`[[{"body":{"body":{"m":1},"headers":{"x-key":"secret"},"method":"POST","query":{"q":1}},"headers":{"x":"y"},"status":201}]]`, `[{"detail":{"body":{"m":1},"method":"POST","query":{"q":1},"status":201,"url":"https://shop.example/echo"},"kind":"request","node":"N1"}]`, ""},
		{"nothing", `"type": "httpRequest", "parameters": {"url": "https://shop.example/nothing"}`, `[{}]`, `[[{"data":null}]]`, `[{"detail":{"method":"GET","status":204,"url":"https://shop.example/nothing"},"kind":"request","node":"N1"}]`, ""},
		{"a status that fails", `"type": "httpRequest", "parameters": {"url": "https://shop.example/busy"}`, two, "", `[{"detail":{"method":"GET","status":429,"url":"https://shop.example/busy"},"kind":"request","node":"N1"}]`, "http_429: GET https://shop.example/busy answered with status 429"},
		{"a status that is looked at", `"type": "httpRequest", "parameters": {"url": "https://shop.example/busy", "fullResponse": true}`, `[{}]`, `[[{"body":"slow down","headers":{},"status":429}]]`, `[{"detail":{"method":"GET","status":429,"url":"https://shop.example/busy"},"kind":"request","node":"N1"}]`, ""},
		{"continues", `"type": "httpRequest", "onError": "continue", "parameters": {"url": "https://shop.example/{{ $json.p }}"}`, `[{"p":"busy"},{"p":"nothing"}]`, `[[{"error":"GET https://shop.example/busy answered with status 429"},{"data":null}]]`,
			`[{"detail":{"method":"GET","status":429,"url":"https://shop.example/busy"},"kind":"request","node":"N1"},{"detail":{"method":"GET","status":204,"url":"https://shop.example/nothing"},"kind":"request","node":"N1"}]`, "http_429"},
		{"timed out", `"type": "httpRequest", "parameters": {"url": "https://shop.example/slow"}`, `[{}]`, "", `[{"detail":{"method":"GET","url":"https://shop.example/slow"},"kind":"request","node":"N1"}]`, "timeout: no answer within 30 s"},
		{"cannot be reached", `"type": "httpRequest", "parameters": {"url": "http://gone.example"}`, `[{}]`, "", `[{"detail":{"method":"GET","url":"http://gone.example"},"kind":"request","node":"N1"}]`, "network: cannot reach"},
		{"no address", `"type": "httpRequest", "parameters": {"url": "{{ $json.url }}"}`, `[{}]`, "", "", "parameter: url must begin with https://"},
		{"a file", `"type": "httpRequest", "parameters": {"url": "file:///etc/passwd"}`, `[{}]`, "", "", "parameter: url must begin with https://"},
		{"no object", `"type": "httpRequest", "parameters": {"url": "https://shop.example/echo", "query": "{{ 1 }}"}`, `[{}]`, "", "", "parameter: query must be an object"},
		{"bad headers", `"type": "httpRequest", "parameters": {"url": "https://shop.example/echo", "headers": {"__proto__": 1}}`, `[{}]`, "", "", "parameter: headers: a field cannot"},
		{"a credential", `"type": "httpRequest", "parameters": {"url": "https://shop.example/nothing", "authentication": "header"}, "credentials": {"httpHeaderAuth": "cr_rejected"}`, `[{}]`, "", "", "http_401: Slack rejected the token"},
	},
	"dataTable": {
		{"insert", `"type": "dataTable", "parameters": {"operation": "insert", "table": "orders", "values": {"customer": "C{{ $json.n }}", "total": "{{ $json.n }}"}}`, two, `[[{"customer":"C1","id":"row_4","total":1},{"customer":"C2","id":"row_5","total":2}]]`,
			`[{"detail":{"operation":"insert","rows":[{"customer":"C1","id":"row_4","total":1}],"table":"orders"},"kind":"row","node":"N1"},{"detail":{"operation":"insert","rows":[{"customer":"C2","id":"row_5","total":2}],"table":"orders"},"kind":"row","node":"N1"}]`, ""},
		{"get", `"type": "dataTable", "parameters": {"operation": "get", "table": "orders", "filter": [{"column": "customer", "value": "{{ $json.c }}"}]}`, `[{"c":"Ada"},{"c":"Eve"}]`, `[[{"customer":"Ada","id":"row_1","total":10},{"customer":"Ada","id":"row_3","total":null}]]`, "", ""},
		{"get some", `"type": "dataTable", "parameters": {"operation": "get", "table": "orders", "limit": 1}`, `[{}]`, `[[{"customer":"Ada","id":"row_1","total":10}]]`, "", ""},
		{"any condition", `"type": "dataTable", "parameters": {"operation": "get", "table": "orders", "match": "any", "filter": [{"column": "customer", "condition": "like", "value": "b%"}, {"column": "total", "condition": "gte", "value": 10}]}`, `[{}]`, `[[{"customer":"Ada","id":"row_1","total":10},{"customer":"Bob","id":"row_2","total":5}]]`, "", ""},
		{"update", `"type": "dataTable", "parameters": {"operation": "update", "table": "orders", "filter": [{"column": "total", "condition": "lt", "value": 10}], "values": {"total": 6}}`, `[{}]`, `[[{"customer":"Bob","id":"row_2","total":6}]]`,
			`[{"detail":{"operation":"update","rows":[{"customer":"Bob","id":"row_2","total":6}],"table":"orders"},"kind":"row","node":"N1"}]`, ""},
		{"upsert", `"type": "dataTable", "parameters": {"operation": "upsert", "table": "orders", "filter": [{"column": "customer", "value": "{{ $json.c }}"}], "values": {"customer": "{{ $json.c }}", "total": 1}}`, `[{"c":"Bob"},{"c":"Eve"}]`, `[[{"customer":"Bob","id":"row_2","total":1},{"customer":"Eve","id":"row_4","total":1}]]`,
			`[{"detail":{"operation":"update","rows":[{"customer":"Bob","id":"row_2","total":1}],"table":"orders"},"kind":"row","node":"N1"},{"detail":{"operation":"insert","rows":[{"customer":"Eve","id":"row_4","total":1}],"table":"orders"},"kind":"row","node":"N1"}]`, ""},
		{"delete", `"type": "dataTable", "parameters": {"operation": "delete", "table": "orders", "filter": [{"column": "customer", "condition": "neq", "value": "Ada"}]}`, `[{}]`, `[[{"customer":"Bob","id":"row_2","total":5}]]`,
			`[{"detail":{"operation":"delete","rows":[{"customer":"Bob","id":"row_2","total":5}],"table":"orders"},"kind":"row","node":"N1"}]`, ""},
		{"nothing deleted", `"type": "dataTable", "parameters": {"operation": "delete", "table": "orders", "filter": [{"column": "customer", "value": "Eve"}]}`, `[{}]`, `[[]]`, "", ""},
		{"no filter", `"type": "dataTable", "parameters": {"operation": "delete", "table": "orders"}`, `[{}]`, "", "", "parameter: delete needs a filter"},
		{"no table", `"type": "dataTable", "parameters": {"operation": "get", "table": "{{ $json.x }}"}`, `[{}]`, "", "", "table: there is no data table"},
		{"no column", `"type": "dataTable", "parameters": {"operation": "insert", "table": "orders", "values": {"wrong": 1}}`, `[{}]`, "", "", "table: there is no column wrong"},
		{"a column of another meaning", `"type": "dataTable", "parameters": {"operation": "insert", "table": "orders", "values": {"__proto__": 1}}`, `[{}]`, "", "", "parameter: values: a field cannot"},
		{"no condition", `"type": "dataTable", "parameters": {"operation": "get", "table": "orders", "filter": [{"column": "total", "condition": "is", "value": 1}]}`, `[{}]`, "", "", "table: condition on column total: unknown operator"},
		{"bad values", `"type": "dataTable", "parameters": {"operation": "get", "table": "orders", "filter": [{"column": "customer", "condition": "gt", "value": 1}]}`, `[{}]`, "", "", "table: condition on column customer: gt cannot compare"},
		{"no operation", `"type": "dataTable", "parameters": {"operation": "drop", "table": "orders"}`, `[{}]`, "", "", `parameter: there is no operation "drop"`},
		{"a bad limit", `"type": "dataTable", "parameters": {"operation": "get", "table": "orders", "limit": -1}`, `[{}]`, "", "", "parameter: limit must be a number"},
	},
	"slack": {
		{"sends", slack, two, `[[{"channel":"#a","ok":true,"text":"n is 1"},{"channel":"#a","ok":true,"text":"n is 2"}]]`,
			`[{"detail":{"channel":"#a","service":"slack","text":"n is 1"},"kind":"message","node":"N1"},{"detail":{"channel":"#a","service":"slack","text":"n is 2"},"kind":"message","node":"N1"}]`, ""},
		{"no credential", `"type": "slack", "parameters": {"channel": "#a", "text": "t"}`, two, "", "", "credential: the node has no credential of type slackApi"},
		{"another's credential", `"type": "slack", "credentials": {"slackApi": "cr_2"}, "parameters": {"channel": "#a", "text": "t"}`, two, "", "", "credential: there is no credential cr_2"},
		{"a rejected credential", `"type": "slack", "credentials": {"slackApi": "cr_rejected"}, "parameters": {"channel": "#a", "text": "t"}`, two, "", "", "http_401: Slack rejected"},
	},
	"email": {
		{"sends", `"type": "email", "credentials": {"smtp": "cr_1"}, "parameters": {"to": "{{ $json.to }}", "subject": "s", "text": "{{ $json.missing }}"}`, `[{"to":"a@b.example"}]`, `[[{"ok":true,"subject":"s","text":"","to":"a@b.example"}]]`,
			`[{"detail":{"service":"email","subject":"s","text":"","to":"a@b.example"},"kind":"message","node":"N1"}]`, ""},
		{"an expression that fails", `"type": "email", "credentials": {"smtp": "cr_1"}, "parameters": {"to": "{{ 1 / 0 }}", "subject": "s", "text": "t"}`, two, "", "", "expression: division by zero"},
	},
	"sheet": {
		{"appends", `"type": "sheet", "credentials": {"googleSheetsOAuth2Api": "cr_1"}, "parameters": {"document": "Leads", "values": {"Name": "{{ $json.n }}"}}`, `[{"n":"Ada"}]`, `[[{"document":"Leads","ok":true,"sheet":"Sheet1","values":{"Name":"Ada"}}]]`,
			`[{"detail":{"document":"Leads","service":"sheet","sheet":"Sheet1","values":{"Name":"Ada"}},"kind":"message","node":"N1"}]`, ""},
		{"no row", `"type": "sheet", "credentials": {"googleSheetsOAuth2Api": "cr_1"}, "parameters": {"document": "Leads", "values": "{{ $json.n }}"}`, `[{"n":"Ada"}]`, "", "", "parameter: values must be an object"},
	},
}

func TestNodes(t *testing.T) {
	var left []string
	for _, typ := range graph.Types() {
		if len(nodeCases[typ.Name]) == 0 {
			left = append(left, typ.Name)
		}
		if typ.Kind != graph.KindTrigger {
			require.NotNil(t, action(typ.Name), typ.Name)
		}
	}
	require.Equal(t, []string{"manual", "form", "webhook", "chat", "schedule"}, left, "see TestTriggers")
	for name, cases := range nodeCases {
		for _, c := range cases {
			t.Run(name+"/"+c.name, func(t *testing.T) { c.check(t) })
		}
	}
}

func (c nodeCase) check(t *testing.T) {
	g := line(t, c.node)
	input := value(t, c.in)
	before := text(t, input)
	result := Run(g, Trigger{Input: input}, environment(t))
	require.Equal(t, before, text(t, input), "the input is not changed")
	require.Equal(t, text(t, result), text(t, Run(g, Trigger{Input: input}, environment(t))), "twice the same")
	run := result.Node("N1")
	if c.out == "" && c.fails == "" {
		require.Nil(t, run)
		require.Equal(t, Success, result.Status)
		return
	}
	require.NotNil(t, run)
	if c.fails != "" {
		require.NotNil(t, run.Error)
		require.Contains(t, run.Error.Error(), `node "N1": `+c.fails)
		require.NotNil(t, run.Input)
	} else {
		require.Nil(t, run.Error)
	}
	if c.out == "" {
		require.Equal(t, Errored, result.Status)
		require.Equal(t, run.Error, result.Error)
		require.Empty(t, slices.Concat(run.Output...))
	} else {
		require.Equal(t, Success, result.Status, "%v", result.Error)
		require.Equal(t, c.out, text(t, run.Output))
		require.ElementsMatch(t, slices.Concat(run.Output...), result.Output)
	}
	require.JSONEq(t, cmp.Or(c.effects, "null"), text(t, result.Effects()))
}
