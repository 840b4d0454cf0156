package match

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// normalizeFields are the fields of $normalize's long form.
var normalizeFields = []string{"text", "match_case", "remove", "replace"}

// compileNormalize accepts a string that equals the wanted one after both were
// normalised: characters of replace are replaced and those of remove removed, in one
// pass, and then case is ignored unless match_case is true. The short form, the wanted
// value alone, ignores case and nothing else. No type is changed: a value that is not
// a string must be the wanted one as JSON writes it, so 5 is neither 5.0 nor "5".
func compileNormalize(operand any, at string) (Pattern, error) {
	long, ok := operand.(map[string]any)
	if !ok {
		long = map[string]any{"text": operand}
	}
	var errs []error
	fail := func(field, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s.%s: %s", at, field, fmt.Sprintf(format, args...)))
	}
	for _, field := range slices.Sorted(maps.Keys(long)) {
		if !slices.Contains(normalizeFields, field) {
			fail(field, "unknown field; allowed: %s", strings.Join(normalizeFields, ", "))
		}
	}
	want, ok := long["text"]
	if !ok || !isScalar(want) {
		fail("text", "must be a string, a number, true, false or null")
	}
	matchCase, ok := long["match_case"].(bool)
	if _, given := long["match_case"]; given && !ok {
		fail("match_case", "must be true or false")
	}
	replacer := readReplacements(long, fail)
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	text, isText := want.(string)
	text = replacer.Replace(text)
	return func(v any) bool {
		got, ok := v.(string)
		switch {
		case !ok || !isText:
			return v == want
		case matchCase:
			return replacer.Replace(got) == text
		}
		return strings.EqualFold(replacer.Replace(got), text)
	}, nil
}

// readReplacements reads remove and replace.
func readReplacements(long map[string]any, fail func(field, format string, args ...any)) *strings.Replacer {
	var pairs []string
	remove, ok := long["remove"].(string)
	if _, given := long["remove"]; given && !ok {
		fail("remove", "must be a string of the characters to remove")
	}
	for _, r := range remove {
		pairs = append(pairs, string(r), "")
	}
	replace, ok := long["replace"].(map[string]any)
	if _, given := long["replace"]; given && !ok {
		fail("replace", "must be a mapping of characters to strings")
	}
	for _, from := range slices.Sorted(maps.Keys(replace)) {
		to, ok := replace[from].(string)
		switch {
		case utf8.RuneCountInString(from) != 1:
			fail("replace", "%q must be one character", from)
		case strings.Contains(remove, from):
			fail("replace", "%q is removed, too; leave it out of one of the two", from)
		case !ok:
			fail("replace", "%q must be replaced by a string", from)
		}
		pairs = append(pairs, from, to)
	}
	return strings.NewReplacer(pairs...)
}

// isScalar reports whether a value of JSON is neither an object nor a list.
func isScalar(v any) bool {
	switch v.(type) {
	case nil, bool, string, json.Number:
		return true
	}
	return false
}
