package persona

import "strings"

// Style is how Play plays a user.
type Style string

// The styles: by the rules, or with the fault that users make.
const (
	Plain   Style = ""        // tells what it is asked for
	Blurts  Style = "blurts"  // tells everything at once
	OutOf   Style = "out of"  // leaves its role
	Nothing Style = "nothing" // ends at once
)

// Play returns what a user says, by its prompt and the last message to it alone; ok is false if
// the prompt is not one of Prompt. It is what simulated models do in place of a model.
func Play(system, message string, style Style) (said string, ok bool) {
	rest, ok := strings.CutPrefix(system, opening)
	if !ok {
		return "", false
	}
	_, goal, _ := strings.Cut(rest, "\nWhat you want:\n")
	goal, rest, _ = strings.Cut(goal, "\n\n"+known+"\n")
	_, heard, _ := strings.Cut(message, writes)
	heard = fold(heard)
	var facts []string
	for line := range strings.Lines(rest) {
		line, isFact := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "- ")
		if !isFact {
			break
		}
		head, value, _ := strings.Cut(line, ": ")
		name, more, _ := strings.Cut(strings.TrimSuffix(head, ")"), " (")
		f := Fact{Name: name, Value: value, Asked: strings.Split(more, ", ")}
		if style == Blurts || f.askedIn(heard) {
			facts = append(facts, "The "+strings.ReplaceAll(name, "_", " ")+" is "+value+".")
		}
	}
	switch {
	case style == OutOf:
		return "As an AI language model I cannot know that. How can I help you?", true
	case style == Nothing:
		return Stop, true
	case len(facts) > 0:
		return strings.Join(facts, " "), true
	case strings.Contains(heard, "?"):
		return "I do not know that. " + goal, true
	}
	return Stop, true
}
