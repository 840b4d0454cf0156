package sim

import (
	"slices"
	"strconv"
	"strings"
)

// concept is what a word or phrase means to the reader.
type concept int

// The concepts. Where a concept takes a number, n says which one.
const (
	unknown    concept = iota
	filler             // understood, and without effect
	number             // n
	symbol             // punctuation
	label              // n indexes labels
	synonym            // near a label, but which one is for the user to say
	polite             // thanks: near praise, but mostly just polite
	everyLabel         // all labels
	except             // all labels but those named
	counting           // how many
	message            // the thing counted
	total
	average
	more
	compare // difference, versus
	change  // grew, changed
	percent
	act      // something no tool does: delete, forward
	reading  // wants the texts of messages
	secret   // wants the prompt or a key
	reason   // why, who
	forecast // predict
	greeting // hello, help
	named    // day n relative to today
	this     // this (week)
	last     // last (week, friday, 7 days)
	past     // past (7 days)
	next     // next (week)
	unit     // n is a period
	weekday  // n = 1 Monday … 7 Sunday
	month    // n = 1 … 12
	nth      // n-th, in words
	to       // range
	from     // range that needs an end
	between  // range
	and      // list, or the inner word of between
	since    // range up to today
	until    // range that needs a beginning
	ago      // before or after "n days"
	toDate   // after a period
	unitToDate
	of
	weekOf
	weekEnding
	adjacent // the day n days from the one that follows
	half     // n-th half of the period that follows
	marker   // label, category: what follows ought to be a label
)

// Periods, as n of unit and unitToDate.
const (
	days = iota
	weeks
	months
	quarters
	years
	weekends
)

// item is a phrase of a request with its meaning.
type item struct {
	concept concept
	n       int
	text    string // the words, folded
	glued   bool
}

// entry gives words a meaning; words are phrases separated by "|", folded as
// tokenize folds them.
type entry struct {
	concept concept
	n       int
	words   string
}

// lexicon maps phrases, their tokens joined by spaces, to meanings.
type lexicon map[string]item

// longestPhrase is the most tokens a phrase can have.
const longestPhrase = 5

// compile builds a lexicon; later entries win.
func compile(tables ...[]entry) lexicon {
	l := lexicon{}
	for _, table := range tables {
		for _, e := range table {
			for phrase := range strings.SplitSeq(e.words, "|") {
				key := strings.Join(texts(tokenize(phrase)), " ")
				l[key] = item{concept: e.concept, n: e.n, text: key}
			}
		}
	}
	return l
}

func texts(tokens []token) []string {
	out := make([]string, len(tokens))
	for i, t := range tokens {
		out[i] = t.text
	}
	return out
}

// language is one the reader knows.
type language string

const (
	english language = "en"
	spanish language = "es"
	german  language = "de"
	french  language = "fr"
	chinese language = "zh"
)

// lexicons has one lexicon a language. All know the shared words and the
// English ones, because people mix; their own meaning wins.
var lexicons = map[language]lexicon{
	english: compile(sharedWords, englishWords),
	spanish: compile(sharedWords, englishWords, spanishWords),
	german:  compile(sharedWords, englishWords, germanWords),
	french:  compile(sharedWords, englishWords, frenchWords),
	chinese: compile(sharedWords, englishWords, chineseWords),
}

// ownWords has each language's words alone, to tell languages apart.
var ownWords = map[language]lexicon{
	english: compile(englishWords),
	spanish: compile(spanishWords),
	german:  compile(germanWords),
	french:  compile(frenchWords),
	chinese: compile(chineseWords),
}

// detect names the language most of the tokens are known in; English on a tie.
func detect(tokens []token) language {
	best, most := english, -1
	for _, lang := range []language{english, spanish, german, french, chinese} {
		known := 0
		for _, it := range mark(tokens, ownWords[lang]) {
			if it.concept != unknown && it.concept != number && it.concept != symbol {
				known += len(strings.Fields(it.text))
			}
		}
		if known > most {
			best, most = lang, known
		}
	}
	return best
}

// mark gives every token a meaning, the longest known phrase first.
func mark(tokens []token, l lexicon) []item {
	var out []item
	for i := 0; i < len(tokens); {
		it, n := phraseAt(tokens[i:], l)
		it.glued = tokens[i].glued
		out = append(out, it)
		i += n
	}
	return out
}

// phraseAt reads the longest phrase at the start of tokens.
func phraseAt(tokens []token, l lexicon) (item, int) {
	words := texts(tokens[:min(len(tokens), longestPhrase)])
	for n := len(words); n > 0; n-- {
		if it, ok := l[strings.Join(words[:n], " ")]; ok {
			return it, n
		}
	}
	t := tokens[0]
	switch t.kind {
	case digits:
		n, err := strconv.Atoi(t.text)
		if err != nil {
			return item{concept: unknown, text: t.text}, 1
		}
		return item{concept: number, n: n, text: t.text}, 1
	case punct:
		return item{concept: symbol, text: t.text}, 1
	}
	return item{concept: unknown, text: t.text}, 1
}

// has reports whether any item has one of the concepts.
func has(items []item, concepts ...concept) bool {
	return slices.ContainsFunc(items, func(it item) bool { return slices.Contains(concepts, it.concept) })
}
