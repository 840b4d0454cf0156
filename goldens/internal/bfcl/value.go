package bfcl

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/cupel-eval/cupel/internal/clip"
)

// kindOf is the type of a JSON value. A number is whole if it is written without a point and
// without an exponent.
func kindOf(v any) kind {
	switch v := v.(type) {
	case string:
		return aText
	case bool:
		return aBoolean
	case []any:
		return aList
	case map[string]any:
		return anObject
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return aFloat
		}
		return anInt
	}
	return unknown // null
}

// wrong says why a value is not accepted for the parameter, and by what: its type first, then
// the value.
func (p param) wrong(v any, accepted []any) (class, why string) {
	got := kindOf(v)
	fits := func(want any) bool { return p.accepts(v, want) }
	switch {
	case got == aList && p.kind == aList:
		if !slices.ContainsFunc(accepted, func(want any) bool { return p.takesItems(v.([]any), want) }) {
			return wrongType, fmt.Sprintf("want items of type %s, got %s", p.items, shown(v))
		}
	case got == p.kind, got == anInt && p.kind == aFloat:
	case len(accepted) > 0 && got == kindOf(accepted[0]): // a variable or an expression in place of a value
		fits = func(want any) bool { return equal(v, want, false) }
	default:
		return wrongType, fmt.Sprintf("want %s, got %s", p.kind, shown(v))
	}
	if !slices.ContainsFunc(accepted, fits) {
		return wrongValue, fmt.Sprintf("want one of %s, got %s", shown(accepted), shown(v))
	}
	return "", ""
}

// takesItems reports whether each item has the declared type, or that of the first item of an
// accepted list. A whole number is not a float here.
func (p param) takesItems(items []any, accepted any) bool {
	list, ok := accepted.([]any)
	if !ok {
		return false
	}
	return !slices.ContainsFunc(items, func(item any) bool {
		got := kindOf(item)
		return p.items != unknown && got != p.items && (len(list) == 0 || got != kindOf(list[0]))
	})
}

// accepts reports whether a value of the declared type is an accepted one.
func (p param) accepts(v, accepted any) bool {
	switch want := accepted.(type) {
	case map[string]any:
		return fitsObject(v, want)
	case []any:
		got, ok := v.([]any)
		if !ok || len(got) != len(want) {
			return false
		}
		for i, item := range got {
			object, objects := want[i].(map[string]any)
			if objects && !fitsObject(item, object) || !objects && !equal(item, want[i], true) {
				return false
			}
		}
		return true
	}
	return equal(v, accepted, true)
}

// fitsObject reports whether an object has the keys of an accepted one, and for each an
// accepted value.
func fitsObject(v any, accepted map[string]any) bool {
	got, ok := v.(map[string]any)
	if !ok || len(got) != len(accepted) {
		return false
	}
	for key, value := range got {
		want, ok := accepted[key]
		if !ok || !fitsMember(value, want) {
			return false
		}
	}
	return true
}

// fitsMember reports whether a value of an object is one of the accepted ones.
func fitsMember(v, accepted any) bool {
	switch want := accepted.(type) {
	case map[string]any:
		return fitsObject(v, want)
	case []any:
		return slices.ContainsFunc(want, func(w any) bool {
			if object, ok := w.(map[string]any); ok {
				return fitsObject(v, object)
			}
			return equal(v, w, true)
		})
	}
	return false
}

// equal compares two values: numbers by value, and texts, if standard is set, by what
// standardise leaves of them. Within lists and objects texts are compared as they are.
func equal(a, b any, standard bool) bool {
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		return ok && (a == b || standard && standardise(a) == standardise(b))
	case json.Number:
		b, ok := b.(json.Number)
		return ok && equalNumbers(a.String(), b.String())
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, func(a, b any) bool { return equal(a, b, false) })
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for key, value := range a {
			if other, ok := b[key]; !ok || !equal(value, other, false) {
				return false
			}
		}
		return true
	}
	return a == b
}

// maxDigits bounds the numbers that are compared by value; longer ones are equal as texts.
const maxDigits = 4_000

// equalNumbers compares a whole number exactly, and a float as the nearest of 64 bits.
func equalNumbers(a, b string) bool {
	if a == b || len(a) > maxDigits || len(b) > maxDigits {
		return a == b
	}
	x, y := number(a), number(b)
	return x.Cmp(y) == 0
}

func number(text string) *big.Float {
	if kindOf(json.Number(text)) == aFloat {
		f, _ := strconv.ParseFloat(text, 64) // infinite beyond its range
		return big.NewFloat(f)
	}
	i, _ := new(big.Int).SetString(text, 10)
	return new(big.Float).SetInt(i)
}

var removed = strings.NewReplacer(" ", "", ",", "", ".", "", "/", "", "-", "", "_", "", "*", "", "^", "", "'", `"`)

// standardise is what counts of a text: without spaces and ,./-_*^, in lower case, and with
// quotation marks of one kind.
func standardise(text string) string {
	text = removed.Replace(text)
	for i := range len(text) {
		if text[i] >= 0x80 {
			return cases.Lower(language.Und).String(text)
		}
	}
	return strings.ToLower(text)
}

// shown is a value as JSON, bounded.
func shown(v any) string {
	text, _ := json.Marshal(v) // values of JSON encode
	return clip.Bytes(string(text), 160)
}

// plain is a value as JSON.
func plain(v any) string {
	text, _ := json.Marshal(v) // values of JSON encode, numbers as they were written
	return string(text)
}
