package contract_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/contract"
)

func TestRepair(t *testing.T) {
	const object = `{"a":1}`
	for _, c := range []struct {
		name, raw, want string
		applied         []string
	}{
		{"an object stays as it is", " {\"a\":1} \n", " {\"a\":1} \n", nil},
		{"byte-order mark", "\uFEFF{\"a\":1}", object, []string{"trim"}},
		{"zero-width and no-break space", "\u200B\u00A0{\"a\":1}\u2060", object, []string{"trim"}},
		{"think block", `<think>maybe {"b":2}?</think>` + "\n" + object, object, []string{"think_tags"}},
		{"think block after a word", `Well. <thinking>x</thinking><think>y</think> ` + object, object, []string{"think_tags"}},
		{"think block that the prompt opened", `maybe {"b":2}?</think>` + object, object, []string{"think_tags"}},
		{"think block before a fence", "<think>x</think>\n```json\n{\"a\":1}\n```", object, []string{"think_tags", "code_fence"}},
		{"think tag inside a string", `{"a":"<think>"} ok`, `{"a":"<think>"}`, []string{"first_balanced_object"}},
		{"closing think tag inside a string", `{"a":"</think>"} ok`, `{"a":"</think>"}`, []string{"first_balanced_object"}},
		{"string", `"{\"a\":1}"`, object, []string{"double_encoded"}},
		{"string with a fence inside", `"` + "```json\\n{\\\"a\\\":1}\\n```" + `"`, object, []string{"double_encoded", "code_fence"}},
		{"fence without a language", "```\n{\"a\":1}\n```", object, []string{"code_fence"}},
		{"fence on one line", "```json {\"a\":1}```", object, []string{"code_fence"}},
		{"fence of four", "````JSON\r\n{\"a\":1}\r\n````", object, []string{"code_fence"}},
		{"second fence", "```\nls\n```\nand\n```json\n{\"a\":1}\n```", object, []string{"code_fence"}},
		{"fence inside a string of the fenced", "```json\n{\"a\":\"use ``` here\"}\n```\nbye", "{\"a\":\"use ``` here\"}", []string{"code_fence"}},
		{"fence never closed", "```json\n{\"a\":\"x ``` y\"}", "{\"a\":\"x ``` y\"}", []string{"first_balanced_object"}},
		{"fence inside a string", "{\"a\":\"\\n```json\\n{}\\n```\"}.", "{\"a\":\"\\n```json\\n{}\\n```\"}", []string{"first_balanced_object"}},
		{"array of one", ` [{"a":1}]`, object, []string{"trim", "single_element_array"}},
		{"array of two", `[{"a":1},{"a":2}]`, object, []string{"first_balanced_object"}},
		{"prose around", `Sure: {"a":"}{"} Done {x}.`, `{"a":"}{"}`, []string{"first_balanced_object"}},
		{"placeholder before", `For {start_date} I say {"a":1}`, object, []string{"first_balanced_object"}},
		{"comments", "{/* {\" */\"a\":1 // don't } \n}", "{\"a\":1 \n}", []string{"strip_comments"}},
		{"comment markers in a string", `{"a":"http://x/*y*/",}`, `{"a":"http://x/*y*/"}`, []string{"trailing_commas"}},
		{"trailing commas", "{\"a\":[1,2, ],\n}", "{\"a\":[1,2 ]\n}", []string{"trailing_commas"}},
		{"comma in a string", `{"a":",}",}`, `{"a":",}"}`, []string{"trailing_commas"}},
		{"Python", `{'a': True, 'b': [None, False], 'c': 'it\'s "None"'}`, `{"a": true, "b": [null, false], "c": "it's \"None\""}`, []string{"python_literals", "single_quotes"}},
		{"Python words in strings and names", `{"True":"None",'x':1}`, `{"True":"None","x":1}`, []string{"single_quotes"}},
		{"both quotes", `{'a': "it's", "b": 'say "x"\n'}`, `{"a": "it's", "b": "say \"x\"\n"}`, []string{"single_quotes"}},
		{"everything", "\uFEFF<think>x</think>Here:\n```json\n{'a': True, // yes\n'b': [1,],}\n```", "{\"a\": true, \n\"b\": [1]}",
			[]string{"trim", "think_tags", "code_fence", "strip_comments", "trailing_commas", "python_literals", "single_quotes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, applied, ok := contract.Repair(c.raw)
			require.True(t, ok)
			require.Equal(t, c.want, text)
			require.Equal(t, c.applied, applied)
		})
	}
}

func TestRepairRefuses(t *testing.T) {
	for name, raw := range map[string]string{
		"nothing":                         "",
		"invisible":                       "\uFEFF \u200B",
		"prose":                           "I'll look at it.",
		"number":                          "5",
		"truncated in a string":           `{"a":"b`,
		"truncated after a value":         `{"a":1`,
		"truncated outer object":          `{"out":{"a":1}`,
		"truncated in a fence":            "```json\n{\"a\":{\"b\":1}\n```",
		"truncated single quotes":         `{'a': 'b`,
		"thinking never ended":            `<think>I could say {"a":1}`,
		"unquoted names":                  `{a:1}`,
		"unquoted names with object":      `{a:{}}`,
		"object after a broken object":    `{"a":b} {"a":1}`,
		"raw newline in a string":         "{\"a\":\"x\ny\"}",
		"fence in a broken string":        "{\"a\":\"x\n```json\n{\"b\":1}\n```\n\"}",
		"NaN":                             `{"a":NaN}`,
		"apostrophe in single quotes":     `{'a': 'don't'}`,
		"adjacent strings":                `{"a":'b''c'}`,
		"number split by a comment":       `{"a":1/**/2}`,
		"comment never closed":            `{"a":1 /* }`,
		"only a comma":                    `{,}`,
		"two commas":                      `{"a":1,,}`,
		"missing comma":                   `{"a":1 "b":2}`,
		"missing value":                   `{"a":,}`,
		"lone surrogate in outer string":  `"{\"a\":\"\ud83d\"}"`,
		"string in a string":              `"\"{\\\"a\\\":1}\""`,
		"invalid UTF-8":                   "x {\"a\":\"\xff\"}",
		"Python tuple":                    `{'a': (1, 2)}`,
		"literal glued to a word":         `{"a":Nonesuch}`,
		"larger than the limit":           strings.Repeat(" ", 64<<10) + `{"a":1}`,
		"object larger than the limit":    `{"a":"` + strings.Repeat("x", 64<<10) + `"}`,
		"smart quotes":                    `{“a”:1}`,
		"escaped object outside a string": `{\"a\":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			text, applied, ok := contract.Repair(raw)
			require.False(t, ok, text)
			require.Empty(t, text)
			require.Empty(t, applied)
		})
	}
}

// TestRepairIsLinear feeds the most that is read of what makes naive scanners
// quadratic; the bound is a hundred times what a linear one takes.
func TestRepairIsLinear(t *testing.T) {
	const size = 64 << 10
	tools := countTools(t)
	for name, unit := range map[string]string{
		"braces": "{", "brackets": "[", "quotes": `"`, "apostrophes": "'", "backslashes": `\`, "slashes": "/", "commas": `1,`, "spaced commas": `1,       `,
		"names": `{"a":`, "single names": `{'a':`, "fences": "```", "fence lines": "```x\n", "think": "<think></think>", "open think": "<think>", "close think": "</think>",
		"comments": "/**/", "open comments": "/*", "placeholders": "{x}", "pairs": "{}", "escapes": `"\`, "byte-order marks": "\uFEFF", "brace and fence": "{```\n", "literals": "None,", "duplicates": `{"a":1,"a":`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "{", "x", `{"a":1,`, "```json\n"} {
				raw := before + strings.Repeat(unit, size/len(unit))
				raw = raw[:min(len(raw), size)]
				start := time.Now()
				contract.Repair(raw)
				contract.Judge(raw, tools)
				require.Less(t, time.Since(start), 2*time.Second, before)
			}
		})
	}
	many := strings.Repeat(`"control":0,`, 4000)
	start := time.Now()
	contract.Judge("{"+many+many[:len(many)-1]+"}", tools)
	require.Less(t, time.Since(start), 2*time.Second)
}
