package launch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// statuses are what an agent may say of its answer.
var statuses = []string{"", "answered", "clarify", "cannot_proceed"}

// answer is the form of an answer that is not plain text.
type answer struct {
	Answer json.RawMessage `json:"answer"`
	Status string          `json:"status"`
}

// read takes the answer from a text: an object with the member answer, and any other text as
// it is. who is the agent in messages.
func (e *End) read(who, text string) {
	text = strings.TrimSpace(text)
	values, err := jsonValues(text)
	var answers []answer
	for _, v := range values {
		var a answer
		if json.Unmarshal(v, &a) == nil && a.Answer != nil {
			answers = append(answers, a)
		}
	}
	switch {
	case isHTML(text):
		e.Failure = who + " gave HTML in place of an answer"
	case len(answers) > 1:
		e.Failure = fmt.Sprintf("%s gave %d answers; one is expected", who, len(answers))
	case len(answers) == 1 && err == nil && len(values) == 1:
		if a := answers[0]; slices.Contains(statuses, a.Status) {
			e.Status = a.Status
			e.value(who, a.Answer)
		} else {
			e.Failure = fmt.Sprintf("%s gave the status %.40q; known: answered, clarify, cannot_proceed", who, a.Status)
		}
	case len(answers) == 1 || lastLine(text):
		e.Failure = who + " gave text besides its answer; all else belongs on standard error"
	case strings.HasPrefix(text, "{") && err != nil:
		e.Failure = who + " gave an answer that begins as JSON and is not: " + quote(text)
	default:
		e.say(who, text)
	}
}

// lastLine says whether the last line of a longer text is an answer.
func lastLine(text string) bool {
	var a answer
	return json.Unmarshal([]byte(text[strings.LastIndexByte(text, '\n')+1:]), &a) == nil && a.Answer != nil
}

// value takes an answer that is JSON: a text, or else what it writes.
func (e *End) value(who string, v json.RawMessage) {
	var text string
	if json.Unmarshal(v, &text) == nil { // null is an empty text
		e.say(who, text)
		return
	}
	var short bytes.Buffer
	_ = json.Compact(&short, v) // it has been read
	e.say(who, short.String())
}

func (e *End) say(who, text string) {
	switch {
	case strings.TrimSpace(text) == "":
		e.Failure = who + " gave no answer"
	case len(text) > maxAnswer:
		e.Failure = fmt.Sprintf("%s gave an answer of %d bytes; %d are allowed", who, len(text), maxAnswer)
	default:
		e.Answer = text
	}
}

func isHTML(text string) bool {
	start := strings.ToLower(clip.FirstBytes(strings.TrimSpace(text), 20))
	return strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html")
}

// quote shows the beginning of what an agent said, in one line.
func quote(text string) string { return fmt.Sprintf("%q", clip.Bytes(text, 80)) }

// jsonValues are the JSON values that a text consists of, and an error for what follows them.
func jsonValues(text string) (values []json.RawMessage, err error) {
	dec := json.NewDecoder(strings.NewReader(text))
	for {
		var v json.RawMessage
		if err := dec.Decode(&v); errors.Is(err, io.EOF) {
			return values, nil
		} else if err != nil {
			return values, fmt.Errorf("not JSON: %w", err)
		}
		values = append(values, v)
	}
}

// at is the value at a JSON pointer (RFC 6901); false if there is none.
func at(v any, pointer string) (any, bool) {
	for _, part := range strings.Split(pointer, "/")[1:] {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		switch of := v.(type) {
		case map[string]any:
			next, ok := of[part]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(of) {
				return nil, false
			}
			v = of[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// answered takes the answer from the body of a reply.
func (a *service) answered(reply string, end *End) {
	const who = "the service"
	if a.Answer == "" {
		end.read(who, strings.ToValidUTF8(reply, "\uFFFD"))
		return
	}
	values, err := jsonValues(reply)
	switch {
	case strings.TrimSpace(reply) == "":
		end.Failure = who + " gave no answer"
		return
	case isHTML(reply):
		end.Failure = who + " gave HTML in place of an answer"
		return
	case err != nil && errors.Is(err, io.ErrUnexpectedEOF):
		end.Failure = who + " gave JSON that ends too early: " + quote(reply)
		return
	case err != nil:
		end.Failure = who + " gave something else than JSON: " + quote(reply)
		return
	case len(values) > 1:
		end.Failure = fmt.Sprintf("%s gave %d answers; one is expected", who, len(values))
		return
	}
	doc, _ := decoded(reply) // it has been read
	if list, ok := doc.([]any); ok && a.n8n {
		if len(list) != 1 {
			end.Failure = fmt.Sprintf("%s gave %d answers; one is expected", who, len(list))
			return
		}
		doc = list[0]
	}
	v, ok := at(doc, a.Answer)
	if !ok {
		end.Failure = fmt.Sprintf("%s gave nothing at %s: %s", who, a.Answer, quote(reply))
		return
	}
	text, _ := plainjson.Marshal(v) // it was JSON
	end.value(who, text)
}

// decoded reads one JSON value; numbers keep their digits.
func decoded(text string) (v any, err error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	return v, dec.Decode(&v)
}
