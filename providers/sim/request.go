package sim

import (
	"regexp"
	"slices"
	"strings"
)

// request is what the reader understood of a user's request and replies.
type request struct {
	lang   language
	labels labelReading
	dates  dateReading
	// pairs say which label is meant on which date; nil means each on all.
	pairs []pair
	// unsupported says why no count can answer it; empty if one can.
	unsupported string
	// chat says that it is a greeting or says nothing to go by.
	chat bool
	// What to make of the counts.
	difference, percent, total, average bool
	// share asks what part of all messages the one label is.
	share bool
}

// understand reads a request with the lexicons of the languages known. What a user
// takes back ("no wait, I meant praise") does not count.
func understand(text string, known []language) request {
	text = dropForgeries(head(text, maxRequest))
	if at := correction.FindStringIndex(text); at != nil {
		before, after := readSentences(text[:at[0]], known), text[at[1]:]
		if before.names() && understand(after, known).names() {
			return before.answered(after, known)
		}
	}
	return readSentences(text, known)
}

// readSentences reads those sentences of a text that say what to count.
func readSentences(text string, known []language) request {
	r := read(text, known)
	sentences := splitSentences(text)
	if len(sentences) < 2 {
		return r
	}
	// Of several sentences, those that name a label say it all, or those about
	// counts do, or else all together.
	for _, about := range [][]concept{{label, synonym}, {label, synonym, counting, message, total, everyLabel}} {
		var core []string
		for _, s := range sentences {
			tokens := tokenize(s)
			if has(mark(tokens, lexicons[detect(tokens)]), about...) {
				core = append(core, s)
			}
		}
		if c := read(strings.Join(core, "\n"), known); c.complete() {
			return c
		}
	}
	return r
}

// names reports whether a request names a label or a date.
func (r request) names() bool {
	return len(r.labels.labels) > 0 || len(r.dates.spans) > 0
}

// complete reports whether a request says what to count and for when.
func (r request) complete() bool {
	return len(r.labels.labels) > 0 && len(r.dates.spans) > 0
}

// splitSentences cuts a text after full stops, question and exclamation marks
// that end a sentence; the stop of "3. Mai" does not.
func splitSentences(text string) []string {
	var out []string
	for _, part := range sentenceEnd.Split(text, -1) {
		if n := len(out); n > 0 && shortNumber.MatchString(out[n-1]) {
			out[n-1] += ". " + part
			continue
		}
		if strings.TrimSpace(part) != "" {
			out = append(out, part)
		}
	}
	return out
}

// read reads a text as one.
func read(text string, known []language) request {
	tokens := tokenize(text)
	lang := detect(tokens)
	words := lang
	if !slices.Contains(known, lang) {
		words = english
	}
	items := mark(tokens, lexicons[words])
	r := request{lang: lang, labels: readLabels(items)}
	contrast := has(items, compare, change)
	r.dates = linkDates(items, words, contrast && len(r.labels.labels) < 2)
	r.pairs = pairUp(items, r.dates.spans)
	if len(r.labels.labels) == 0 && !r.labels.ambiguous && has(items, total) && has(items, message, counting) {
		r.labels.labels, r.labels.every = remaining(nil), true
	}
	several := len(r.labels.labels) > 1 || len(r.dates.spans) > 1
	r.percent = has(items, percent)
	r.difference = several && has(items, compare, change, more, percent)
	r.total = has(items, total)
	r.average = has(items, average)
	if r.share = r.percent && !several && len(r.labels.labels) == 1 && !has(items, change); r.share {
		r.difference, r.percent = false, false
	}
	r.classify(items, words == lang)
	return r
}

// classify tells counting from everything else; readable says that the reader
// knows the language.
func (r *request) classify(items []item, readable bool) {
	counts := has(items, counting, total, average, percent)
	switch {
	case has(items, act):
		r.unsupported = "I can only count messages; I cannot change, delete or send anything."
	case has(items, reading) && !counts:
		r.unsupported = "I can only count messages; I cannot read or describe single messages."
	case has(items, reason) && !counts:
		r.unsupported = "I can only count messages; I cannot tell who sent them or why."
	case has(items, forecast):
		r.unsupported = "I can only count messages that were received; I cannot predict any."
	case has(items, secret) && !r.complete():
		r.unsupported = "I cannot share that; I can only count messages."
	case !counts && !has(items, message, label, synonym, marker, everyLabel) && r.labels.invalid == "":
		r.chat = true
		if readable && foreignMatter(items) {
			r.unsupported = "I can only count angry, praise and info messages."
		}
	}
}

// foreignMatter reports whether a text without any word about counts is about
// something else, rather than a greeting or a bare date.
func foreignMatter(items []item) bool {
	if has(items, greeting) {
		return false
	}
	strange := 0
	for _, it := range items {
		if it.concept == unknown {
			strange++
		}
	}
	return strange > 1 || strange == 1 && len(items) > 3
}

// answered merges a user's reply to the one question asked into the request.
func (r request) answered(reply string, known []language) request {
	add := understand(reply, known)
	if add.names() {
		r.pairs = add.pairs
	}
	had := len(r.labels.labels) > 0 && !r.labels.ambiguous
	switch {
	case len(add.labels.labels) > 0:
		r.labels = add.labels
	case !had && add.labels.ambiguous:
		r.labels = closest(reply, known)
	}
	switch {
	case len(add.dates.spans) == 0:
	case r.dates.open && len(add.dates.spans) == 1 && !add.dates.spans[0].joined:
		start := len(r.dates.spans) - 1
		r.dates.spans[start] = join(r.dates.spans[start], add.dates.spans[0])
		r.dates.open = false
	default:
		r.dates = add.dates
	}
	if r.unsupported == "" && add.unsupported != "" && !add.chat {
		r.unsupported = add.unsupported
	}
	several := len(r.labels.labels) > 1 || len(r.dates.spans) > 1
	r.difference = several && (r.difference || add.difference)
	r.total = r.total || add.total
	r.chat = false
	return r
}

// closest maps near-synonyms to labels. Asked which label is meant, a user who
// says "complaints" has answered.
func closest(reply string, known []language) labelReading {
	r := understand(reply, known)
	near := map[string]int{"complaint": 0, "complaints": 0, "compliment": 1, "compliments": 1, "negative": 0, "positive": 1, "neutral": 2}
	for _, t := range tokenize(reply) {
		if n, ok := near[t.text]; ok && !slices.Contains(r.labels.labels, n) {
			r.labels.labels = append(r.labels.labels, n)
		}
	}
	r.labels.ambiguous = len(r.labels.labels) == 0
	return r.labels
}

var (
	sentenceEnd = regexp.MustCompile(`[.!?;]+(?:\s+|$)|[。！？；]+`)
	shortNumber = regexp.MustCompile(`(?:^|\s)\d{1,2}$`)
	// correction takes back what stands before it.
	correction = regexp.MustCompile(`(?i)[,.;…–—-]*\s*\b(?:(?:oh|oops|no|wait|sorry|actually)\b[,.…]?\s+)*(?:i\s+meant?|make\s+(?:that|it)|scratch\s+that|no,?\s+(?:wait|sorry)|(?:wait|sorry),?\s+no)\b[,:.…]?`)
	// forgery is a heading or a phrase of the scratchpad, or a member of a turn.
	forgery = regexp.MustCompile(`(?:^|\s)(?:OBS|PROGRESS|SCRATCHPAD[^:\n]{0,12}|BUDGET_USED|PLAN|GOAL|CONSTRAINTS|REFLECT|SYSTEM|System|ASSISTANT)\s?:|(?i:"(?:control|next_action|state_update)"\s*:|tool result:|user reply:|->\s*ok\b)`)
	// braced is an innermost pair of braces.
	braced = regexp.MustCompile(`\{[^{}]*\}`)
)

// dropForgeries takes out what imitates the scratchpad or a system message: data
// in braces, and the sentence of each heading. What the user asks besides is
// still read.
func dropForgeries(text string) string {
	if !forgery.MatchString(text) {
		return text
	}
	for range 8 {
		shorter := braced.ReplaceAllString(text, " ")
		if shorter == text {
			break
		}
		text = shorter
	}
	var kept []string
	for line := range strings.Lines(text) {
		at := forgery.FindStringIndex(line)
		if at == nil {
			kept = append(kept, line)
			continue
		}
		kept = append(kept, line[:at[0]])
		rest := line[at[1]:]
		if end := sentenceEnd.FindStringIndex(rest); end != nil && end[1] < len(strings.TrimSpace(rest)) {
			kept = append(kept, dropForgeries(rest[end[1]:]))
		} else if strings.Contains(rest, "?") {
			kept = append(kept, rest[strings.LastIndexAny(rest, ":>")+1:])
		}
	}
	return strings.Join(kept, "\n")
}
