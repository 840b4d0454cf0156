package contract_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// An object with any of the three keys counts as contract-shaped.
const object = `{"control":1}`

func TestRepair(t *testing.T) {
	for _, c := range []struct {
		name, raw, want string
		applied         []string
	}{
		{"an object is not changed", " {\"a\":1} \n", " {\"a\":1} \n", nil},
		{"byte-order mark", "\uFEFF" + object, object, []string{"trim"}},
		{"zero-width and no-break space", "\u200B\u00A0" + object + "\u2060\u3164", object, []string{"trim"}},
		{"think block", `<think>maybe {"b":2}?</think>` + "\n" + object, object, []string{"think_tags"}},
		{"think block after a word", `Well. <thinking>x</thinking><think>y</think> ` + object, object, []string{"think_tags", "first_balanced_object"}},
		{"think block that the prompt opened", `maybe {"b":2}?</think>` + object, object, []string{"think_tags"}},
		{"think block that the prompt opened, with the same object", object + `? Yes.</think>` + object, object, []string{"think_tags"}},
		{"think block before a fence", "<think>x</think>\n```json\n" + object + "\n```", object, []string{"think_tags", "code_fence"}},
		{"think block with another object", `<think>{"control":2}</think>` + object, object, []string{"think_tags"}},
		{"think block that ends in an open brace", `<think>Say {"control": {</think>` + object, object, []string{"think_tags"}},
		{"think blocks on both sides", `<think>{"control":2}</think>` + object + "<thinking>{'control':3}</thinking>", object, []string{"think_tags"}},
		{"think tag inside a string", `{"control":"<think>"} ok`, `{"control":"<think>"}`, []string{"first_balanced_object"}},
		{"closing think tag inside a string", `{"control":"</think>"} ok`, `{"control":"</think>"}`, []string{"first_balanced_object"}},
		{"string", `"{\"control\":1}"`, object, []string{"double_encoded"}},
		{"string with a fence inside", `"` + "```json\\n{\\\"control\\\":1}\\n```" + `"`, object, []string{"double_encoded", "code_fence"}},
		{"string with a think block inside", `"<think>{\"b\":2}</think>{\"control\":1}"`, object, []string{"think_tags", "double_encoded"}},
		{"string between think blocks", `<think>x</think> "{\"control\":1}"<think>y</think>`, object, []string{"think_tags", "double_encoded"}},
		{"string after a block that the prompt opened", `x</think>"{\"control\":1}"`, object, []string{"think_tags", "double_encoded"}},
		{"string after prose and a think block", `Well. <think>x</think>"{\"control\":1}"`, object, []string{"think_tags", "double_encoded"}},
		{"fence without a language", "```\n" + object + "\n```", object, []string{"code_fence"}},
		{"fence that closes within a line", "```json " + object + "```", object, []string{"first_balanced_object"}},
		{"fence of four", "````JSON\r\n" + object + "\r\n````", object, []string{"code_fence"}},
		{"second fence", "```\nls\n```\nand\n```json\n" + object + "\n```", object, []string{"code_fence"}},
		{"fence with prose", "```\nHere: " + object + "\n```", object, []string{"code_fence", "first_balanced_object"}},
		{"mark within a line", "Use ``` or\n" + object, object, []string{"first_balanced_object"}},
		{"fence inside a string of the fenced", "```json\n{\"control\":\"use ``` here\"}\n```\nbye", "{\"control\":\"use ``` here\"}", []string{"code_fence"}},
		{"fence never closed", "```json\n{\"control\":\"x ``` y\"}", "{\"control\":\"x ``` y\"}", []string{"first_balanced_object"}},
		{"fence inside a string", "{\"control\":\"\\n```json\\n{}\\n```\"}.", "{\"control\":\"\\n```json\\n{}\\n```\"}", []string{"first_balanced_object"}},
		{"array of one", ` [` + object + `]`, object, []string{"trim", "single_element_array"}},
		{"array with another object", `[` + object + `,{"a":2}]`, object, []string{"first_balanced_object"}},
		{"prose around", `Sure: {"control":"}{"} Done {x}.`, `{"control":"}{"}`, []string{"first_balanced_object"}},
		{"placeholder before", `For {start_date} I say ` + object, object, []string{"first_balanced_object"}},
		{"object after one that is broken", `{"a":b} ` + object, object, []string{"first_balanced_object"}},
		{"equal copies", object + "\n{'control': 1.0,}", object, []string{"first_balanced_object"}},
		{"key written with an escape", `ok {"\u0063ontrol":1}`, `{"\u0063ontrol":1}`, []string{"first_balanced_object"}},
		{"comments", "{/* {\" */\"control\":1 // don't } \n}", "{\"control\":1 \n}", []string{"strip_comments"}},
		{"comment markers in a string", `{"control":"http://x/*y*/",}`, `{"control":"http://x/*y*/"}`, []string{"trailing_commas"}},
		{"trailing commas", "{\"control\":[1,2, ],\n}", "{\"control\":[1,2 ]\n}", []string{"trailing_commas"}},
		{"trailing comma and comment", "{\"control\":1, // one\n}", "{\"control\":1 \n}", []string{"strip_comments", "trailing_commas"}},
		{"only a comma", `{"control":{,},"next_action":[ , ]}`, `{"control":{},"next_action":[  ]}`, []string{"trailing_commas"}},
		{"comma in a string", `{"control":",}",}`, `{"control":",}"}`, []string{"trailing_commas"}},
		{"Python", `{'control': True, 'b': [None, False], 'c': 'it\'s "None"'}`, `{"control": true, "b": [null, false], "c": "it's \"None\""}`, []string{"python_literals", "single_quotes"}},
		{"Python words in strings and names", `{"True":"None",'control':1}`, `{"True":"None","control":1}`, []string{"single_quotes"}},
		{"both quotes", `{'control': "it's", "b": 'say "x"\n'}`, `{"control": "it's", "b": "say \"x\"\n"}`, []string{"single_quotes"}},
		{"everything", "\uFEFF<think>x</think>Here:\n```json\n{'control': True, // yes\n'b': [1,],}\n```", "{\"control\": true, \n\"b\": [1]}",
			[]string{"trim", "think_tags", "code_fence", "strip_comments", "trailing_commas", "python_literals", "single_quotes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, contract.Repaired{Text: c.want, Applied: c.applied}, contract.Repair(c.raw))
		})
	}
}

func TestRepairRefuses(t *testing.T) {
	for name, raw := range map[string]string{
		"nothing":                          "",
		"invisible":                        "\uFEFF \u200B",
		"prose":                            "I'll look at it.",
		"number":                           "5",
		"not contract-shaped":              `Sure: {"a":1}`,
		"key of another case":              `Sure: {"Control":1}`,
		"turn inside another object":       `Sure: {"output":` + object + `}`,
		"truncated in a string":            `{"control":"b`,
		"truncated after a value":          `{"control":1`,
		"truncated outer object":           `{"out":` + object,
		"truncated in a fence":             "```json\n{\"a\":" + object + "\n```",
		"truncated single quotes":          `{'control': 'b`,
		"thinking never ended":             `<think>I could say ` + object,
		"thinking never ended after it":    object + `<think>Or`,
		"thinking that the prompt opened":  object + ` No, wait.</think> I'll stop.`,
		"closing tag of another name":      `<think>x</thinking>` + object,
		"thinking ended in a string only":  `<think>I could say {"a":"</think>` + object,
		"unquoted names":                   `{control:1}`,
		"unquoted names with object":       `{control:{}}`,
		"raw newline in a string":          "{\"control\":\"x\ny\"}",
		"fence in a broken string":         "{\"control\":\"x\n```json\n" + object + "\n```\n\"}",
		"NaN":                              `{"control":NaN}`,
		"apostrophe in single quotes":      `{'control': 'don't'}`,
		"adjacent strings":                 `{"control":'b''c'}`,
		"number split by a comment":        `{"control":1/**/2}`,
		"comment never closed":             `{"control":1 /* }`,
		"two commas":                       `{"control":1,,}`,
		"missing comma":                    `{"control":1 "b":2}`,
		"missing value":                    `{"control":,}`,
		"lone surrogate in outer string":   `"{\"control\":\"\ud83d\"}"`,
		"string in a string":               `"\"{\\\"control\\\":1}\""`,
		"invalid UTF-8":                    "x {\"control\":\"\xff\"}",
		"Python tuple":                     `{'control': (1, 2)}`,
		"literal glued to a word":          `{"control":Nonesuch}`,
		"larger than the limit":            strings.Repeat(" ", 64<<10) + object,
		"object larger than the limit":     `{"control":"` + strings.Repeat("x", 64<<10) + `"}`,
		"smart quotes":                     `{“control”:1}`,
		"escaped object outside a string":  `{\"control\":1}`,
		"string in prose":                  `Sure: "{\"control\":1}"`,
		"never closed after a placeholder": `{x} {"control":1`,
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, contract.Repaired{}, contract.Repair(raw))
		})
	}
}

// TestRepairIsAmbiguous has outputs with an object and something else that may be one.
func TestRepairIsAmbiguous(t *testing.T) {
	for name, raw := range map[string]string{
		"two objects":                    object + `{"control":2}`,
		"array of two":                   `[` + object + `,{"next_action":2}]`,
		"two fences":                     "```\n" + object + "\n```\n```\n{\"control\":2}\n```",
		"object in prose and fence":      "For `{'state_update': 2}`:\n```json\n" + object + "\n```",
		"repeated keys in another order": `{"control":1,"control":2}{"control":1, "control":2}`,
		"a broken one":                   `{"next_action":"a "b" c"} ` + object,
		"one never closed":               object + ` {"next_action":`,
		"one with bare names":            `{control: {done: true}, next_action: {}} ` + object,
		"one in another object":          `{"output":{"control":2}} ` + object,
		"one in a string of another":     `{"output":"{\"control\":2}"} ` + object,
		"one in a string in prose":       `"{\"control\":2}" ` + object + ` "`,
		"one in a comment":               `{"control":1 /* {'next_action':2} */}`,
		"the keys in prose":              `"next_action" : {"a":1} ` + object,
		"draft that the prompt opened":   `{"control":2}? No.</think>` + object,
		"quoted after a closing tag":     object + ` The page says: </think>{"control":2}`,
		"swallowed by an open brace":     `{" {"a":"}","control":1} {"control":2}`,
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, contract.Repaired{Ambiguous: true}, contract.Repair(raw))
		})
	}
}

func TestObject(t *testing.T) {
	for raw, want := range map[string]string{
		`Sure: {'a': 1}`: `{"a": 1}`, `{"a":1} {"a":1.0}`: `{"a":1}`, `{"a":1} {"a":2}`: "", `[1]`: "", ` {"a":{"b":1}} `: ` {"a":{"b":1}} `, `{"a":{"b":1}`: "",
		"```json\n{\"control\":1}\n```": object, `<think>{"a":2}</think> {"a":1}`: `{"a":1}`,
	} {
		text, ok := contract.Object(raw)
		require.Equal(t, want, text, raw)
		require.Equal(t, want != "", ok, raw)
	}
}

// TestRepairIsLinear feeds the largest inputs that are read, of forms that make naive
// scanners quadratic. The bound is a hundred times the time of a linear scanner; where the
// machine is slower, the time must be linear.
func TestRepairIsLinear(t *testing.T) {
	const size = 64 << 10
	tools := countTools(t)
	linear := func(t *testing.T, size int, input func(size int) string) {
		t.Helper()
		work := func(size int) {
			raw := input(size)
			contract.Repair(raw)
			contract.Judge(raw, tools)
		}
		start := time.Now()
		if work(size); time.Since(start) > 2*time.Second {
			testkit.Linear(t, size/4, work)
		}
	}
	for name, unit := range map[string]string{
		"braces": "{", "brackets": "[", "quotes": `"`, "apostrophes": "'", "backslashes": `\`, "slashes": "/", "commas": `1,`, "spaced commas": `1,       `,
		"names": `{"a":`, "single names": `{'a':`, "fences": "```", "fence lines": "```x\n", "think": "<think></think>", "open think": "<think>", "close think": "</think>",
		"comments": "/**/", "open comments": "/*", "placeholders": "{x}", "pairs": "{}", "escapes": `"\`, "byte-order marks": "\uFEFF", "brace and fence": "{```\n", "literals": "None,", "duplicates": `{"a":1,"a":`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "{", "x", `{"a":1,`, "```json\n"} {
				linear(t, size, func(size int) string { return (before + strings.Repeat(unit, size/len(unit)+1))[:size] })
			}
		})
	}
	spaced := func(size int) string {
		return object[:1] + strings.Repeat(" ", size/3) + object[1:] + strings.Repeat(object, size/20)
	}
	require.NotEmpty(t, contract.Repair(spaced(size)).Text)
	linear(t, size, spaced)
	linear(t, 8000, func(names int) string {
		return "{" + strings.TrimSuffix(strings.Repeat(`"control":0,`, names), ",") + "}"
	})
}

// TestThinkBlocksTakeLinearTime: the time of many think blocks is linear in their number.
func TestThinkBlocksTakeLinearTime(t *testing.T) {
	for _, block := range []string{"<think></think>", "<think>{</think>", "<think></thinking>", "</think>", "<think>", `<think>{"</think>`} {
		n := 60_000 / len(block) / 4
		testkit.Linear(t, n, func(n int) { contract.Repair(strings.Repeat(block, n) + object) })
	}
}
