package tool

import (
	"slices"
	"strings"
	"unicode"
)

// minLastWord is the length, in runes, from which an argument's last word alone
// names the argument.
const minLastWord = 4

// NamesField reports whether message names an argument of one of specs: the whole
// name, its words joined by underscores, spaces or camel case, or its last word
// if that has at least 4 letters; as whole words, in any case, singular or with
// an s. So start_date is named by "start date" and by "dates".
func NamesField(message string, specs []Spec) bool {
	said := words(message)
	for _, spec := range specs {
		schema, _, _ := ParseJSON(string(spec.Schema))
		for _, field := range fields(schema) {
			name := words(field)
			if len(name) == 0 {
				continue
			}
			last := name[len(name)-1:]
			if says(said, name) || len([]rune(last[0])) >= minLastWord && says(said, last) {
				return true
			}
		}
	}
	return false
}

// says reports whether phrase occurs in said; its last word may have an s.
func says(said, phrase []string) bool {
	head, last := phrase[:len(phrase)-1], phrase[len(phrase)-1]
	for i := len(head); i < len(said); i++ {
		if (said[i] == last || said[i] == last+"s") && slices.Equal(said[i-len(head):i], head) {
			return true
		}
	}
	return false
}

// words splits text into lower-case runs of letters and digits, and at the humps
// of camel case.
func words(text string) []string {
	var split strings.Builder
	previous := ' '
	for _, r := range text {
		if unicode.IsUpper(r) && (unicode.IsLower(previous) || unicode.IsDigit(previous)) {
			split.WriteByte(' ')
		}
		split.WriteRune(unicode.ToLower(r))
		previous = r
	}
	return strings.FieldsFunc(split.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
