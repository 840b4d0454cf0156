package sim

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A model that is asked to condense the history of a step keeps what it called and
// what came of it, in lines that it reads again later:
//
//	get_counts {"label":"angry",…} gave {"value":31,…}

// maxCondensed bounds a summary, in estimated tokens.
const maxCondensed = 480

var (
	// historyLine is a call, its result or an earlier summary.
	historyLine   = regexp.MustCompile(`^- (call|tool|summary of what was before):? (?:(\w+):? )?<data>(.*)</data>$`)
	summaryPart   = regexp.MustCompile(`(?s)\n\nSUMMARY OF WHAT WAS DONE SO FAR:\n<data>(.*?)</data>`)
	summaryResult = regexp.MustCompile(`(\w+) \{`)
)

// condense answers a request for a summary.
func (q modelRequest) condense() (out spoken, ok bool) {
	text := q.talk.last()
	_, history, ok := strings.Cut(text, "\n\nHISTORY:")
	if !ok {
		return out, false
	}
	var kept []string
	var open []invocation
	for line := range strings.Lines(history) {
		m := historyLine.FindStringSubmatch(strings.TrimSpace(line))
		switch {
		case m == nil:
		case m[1] == "call":
			open = append(open, invocation{name: m[2], args: m[3]})
		case m[1] != "tool":
			for _, e := range readSummary(m[3]) {
				kept = append(kept, summaryLine(e))
			}
		default:
			at := slices.IndexFunc(open, func(c invocation) bool { return c.name == m[2] })
			if at < 0 {
				continue
			}
			if _, _, failed := (result{text: m[3]}).failure(); !failed {
				kept = append(kept, fmt.Sprintf("%s %s gave %s", m[2], open[at].args, m[3]))
			}
			open = slices.Delete(open, at, at+1)
		}
	}
	for estimateTokens(strings.Join(kept, "\n")) > maxCondensed {
		kept = kept[1:]
	}
	if len(kept) == 0 {
		return spoken{text: "Nothing was found out so far."}, true
	}
	return spoken{text: strings.Join(kept, "\n")}, true
}

// summaryLine is the line of a summary that an entry was read from.
func summaryLine(entry string) string {
	m := resultLine.FindStringSubmatch(entry)
	return fmt.Sprintf("%s %s gave %s", m[1], m[2], inFence(m[5]))
}

// readSummary reads the results of a summary, as entries.
func readSummary(text string) []string {
	var out []string
	for text != "" {
		at := summaryResult.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		name := text[at[2]:at[3]]
		args, rest, ok := cutJSON(text[at[1]-1:])
		text = text[at[1]:]
		if !ok {
			continue
		}
		rest, ok = strings.CutPrefix(rest, " gave ")
		if !ok {
			continue
		}
		data, after, ok := cutJSON(rest)
		if !ok {
			continue
		}
		out = append(out, fmt.Sprintf("tool result: turn 0 %s %s -> ok %s", name, args, inData(data)))
		text = after
	}
	return out
}

// cutJSON splits a text behind the JSON value it begins with.
func cutJSON(text string) (value, rest string, ok bool) {
	dec := json.NewDecoder(strings.NewReader(text))
	var raw json.RawMessage
	if dec.Decode(&raw) != nil {
		return "", text, false
	}
	return compact(string(raw)), text[dec.InputOffset():], true
}
