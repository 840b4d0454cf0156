package persona

import (
	"regexp"
	"slices"
	"strings"
)

// What a user did wrong. FaultUnasked is followed by ": " and the name of the fact.
const (
	FaultPersona = "left the persona"
	FaultUnasked = "disclosed a fact unasked"
	FaultAnswer  = "gave the answer away"
)

// outOfRole matches what no user of an agent says.
var outOfRole = regexp.MustCompile(`(?i)\b(?:as an ai\b|language model|i am an? (?:ai|assistant|chatbot)\b|how (?:can|may) i (?:help|assist) you)`)

// Faults lists what the user did wrong in a conversation, each once, in order. expected are
// texts of the answer that the task expects, which only this check sees: it is a fault to write
// one of them before the agent did, unless it is in the request or in what the user knows.
//
// A fact is asked for if a message of the agent has its name, with spaces for _, or one of its
// further words; case does not matter. It is disclosed if its value is in what the user says, unless
// the agent wrote it first or the request has it.
func (u User) Faults(request string, talk []Exchange, expected []string) (out []string) {
	add := func(fault string) {
		if !slices.Contains(out, fault) {
			out = append(out, fault)
		}
	}
	heard := fold(request)
	own := fold(u.Prompt())
	for _, x := range talk {
		heard += "\n" + fold(x.Heard)
		said := fold(x.Said)
		if outOfRole.MatchString(x.Said) {
			add(FaultPersona)
		}
		for _, f := range u.Facts {
			if value := fold(f.Value); says(said, value) && !says(heard, value) && !f.askedIn(heard) {
				add(FaultUnasked + ": " + f.Name)
			}
		}
		for _, text := range expected {
			if text = fold(text); says(said, text) && !says(heard, text) && !says(own, text) {
				add(FaultAnswer)
			}
		}
	}
	return out
}

// askedIn reports whether a folded text asks for the fact.
func (f Fact) askedIn(text string) bool {
	return slices.ContainsFunc(append([]string{strings.ReplaceAll(f.Name, "_", " ")}, f.Asked...), func(word string) bool { return says(text, fold(word)) })
}

func fold(text string) string { return strings.Join(strings.Fields(strings.ToLower(text)), " ") }

// says reports whether a folded text has a part, not within a word or number.
func says(text, part string) bool {
	for at := 0; part != ""; {
		i := strings.Index(text[at:], part)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(part)
		if (from == 0 || !wordByte(text[from-1]) || !wordByte(part[0])) && (to == len(text) || !wordByte(text[to]) || !wordByte(part[len(part)-1])) {
			return true
		}
		at = from + 1
	}
	return false
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}
