package rubric

import "strings"

// Read returns the parts of a message that Prompt wrote: the rubric, what the task adds to it (nil
// without), and the document. ok is false for other messages. What an agent wrote is in the
// document alone.
func Read(systemText, message string) (rubric string, with, document []byte, ok bool) {
	message = strings.TrimSpace(message)
	end := strings.LastIndex(message, "\nEND ")
	rest, found := strings.CutPrefix(message, "Rubric:\n")
	if strings.TrimSpace(systemText) != system || end < 0 || !found {
		return "", nil, nil, false
	}
	code := message[end+len("\nEND "):]
	head, rest, found := strings.Cut(rest, "\nBEGIN "+code+"\n")
	if !found {
		return "", nil, nil, false
	}
	text, _, _ := strings.Cut(rest, "\nEND "+code)
	head = strings.TrimSuffix(head, "\n")
	if at := strings.LastIndex(head, "\n"+added); at >= 0 {
		head, with = strings.TrimSuffix(head[:at], "\n"), []byte(strings.TrimSpace(head[at+1+len(added):]))
	}
	return head, with, []byte(text), true
}
