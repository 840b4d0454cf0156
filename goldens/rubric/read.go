package rubric

import "strings"

// Read returns the parts of a message that Prompt wrote for this rubric: what the task adds to it
// (nil without), and the document. ok is false for other messages. What an agent wrote is in the
// document alone.
func Read(rubric, systemText, message string) (with, document []byte, ok bool) {
	return read(system, rubric, systemText, message)
}

// ReadPair is Read for messages that PairPrompt wrote.
func ReadPair(rubric, systemText, message string) (with, document []byte, ok bool) {
	return read(pairSystem, rubric, systemText, message)
}

func read(system, rubric, systemText, message string) (with, document []byte, ok bool) {
	message = strings.TrimSpace(message)
	end := strings.LastIndex(message, "\nEND ")
	rest, found := strings.CutPrefix(message, "Rubric:\n"+rubric+"\n")
	if strings.TrimSpace(systemText) != system || end < 0 || !found {
		return nil, nil, false
	}
	code := message[end+len("\nEND "):]
	head, rest, found := strings.Cut("\n"+rest, "\nBEGIN "+code+"\n")
	if !found {
		return nil, nil, false
	}
	text, _, found := strings.Cut(rest, "\nEND "+code)
	if more, adds := strings.CutPrefix(strings.TrimLeft(head, "\n"), added); adds {
		with = []byte(strings.TrimSpace(more))
	}
	return with, []byte(text), found
}
