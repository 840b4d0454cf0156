package contract

import (
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/agent/tool"
)

// fenceMark begins and ends a Markdown code block, at the start of a line.
const fenceMark = "```"

// none is an offset that is not there.
const none = -1

// finder finds the one object in an output that is the target.
type finder struct {
	lexer
	target
	// steps are the names of the steps that have changed something.
	steps map[string]bool
	// kept is the text so far without think blocks, and others all of it that is
	// neither an object found nor in a think block.
	kept   []byte
	others strings.Builder
	// found is the first object found; two reports that another one differs from it.
	found *object
	two   bool
	// quoted is a JSON string that may be the answer, encoded twice.
	quoted string
	// thinking reports that the current piece is in a think block; thoughts is the
	// text of think blocks that is not part of a whole object of the target.
	thinking bool
	thoughts strings.Builder
	// drafted is the length of others when the thoughts had parts of such an object,
	// or none.
	drafted int
	// begun and inLine report that kept holds more than blanks since the last think
	// block and in its last line.
	begun, inLine bool
	// fence is the offset in kept of the content of the open code block, or none.
	fence int
}

// object is one object found: its JSON text, its offsets in kept, and those of the
// content of the code block around it, or none.
type object struct {
	text               string
	key                string   // its canonical form, "" if not needed yet
	steps              []string // the names of the steps that have changed it
	from, to           int
	fenceFrom, fenceTo int
	// thought reports that a closing think tag came later whose opening tag was in
	// the prompt, so that the object is not the answer.
	thought bool
}

// scan reads the text, up to a second object that differs from the first.
func (f *finder) scan() {
	for !f.two && f.next() {
		switch {
		case f.sort == openTag:
			f.thinking, f.steps[stepThinkTags] = true, true
		case f.sort == closeTag:
			f.closeTag()
		case f.depth > 0:
			f.braces()
		case f.thinking:
			f.thoughts.WriteString(f.piece())
		case !f.inLine && strings.HasPrefix(f.text[f.start:], fenceMark):
			f.fenceLine()
		default:
			if f.text[f.start] != '"' || f.begun || !f.quotation() {
				f.others.WriteString(f.piece())
			}
			f.keep(f.piece())
		}
	}
}

// quotation takes the JSON string that begins with the piece, if only think blocks
// can come after it: then it may be the answer, encoded twice.
func (f *finder) quotation() bool {
	end := f.start + quotedLen(f.text[f.start:])
	after := invisible.Trim(f.text[end:])
	if _, ok := decodeString(f.text[f.start:end]); !ok || after != "" && !strings.HasPrefix(after, "<think") {
		return false
	}
	f.others.WriteString(f.quoted) // there is text between the two
	f.end = end
	f.quoted = f.piece()
	return true
}

// scanQuoted reads what the quotation encodes, if the text ends with it and holds no
// answer before it.
func (f *finder) scanQuoted() {
	decoded, ok := decodeString(f.quoted)
	alone := strings.HasSuffix(invisible.Trim(string(f.kept)), f.quoted) && (f.found == nil || f.found.thought)
	if !ok || !alone || f.endless() {
		f.others.WriteString(f.quoted)
		return
	}
	f.steps[stepDoubleEncoded] = true
	f.lexer, f.quoted = lexer{text: decoded}, ""
	f.dropKept()
	f.scan()
	f.others.WriteString(f.quoted)
}

// endless reports that a think block has no certain end: what would be the answer
// is then in doubt.
func (f *finder) endless() bool { return f.thinking || f.unsure }

// keep adds text outside of think blocks.
func (f *finder) keep(text string) {
	f.kept = append(f.kept, text...)
	for i := range len(text) {
		f.inLine = text[i] != '\n' && (f.inLine || !isSpace(text[i]))
		f.begun = f.begun || f.inLine
	}
}

// dropKept forgets the text so far.
func (f *finder) dropKept() { f.kept, f.fence, f.begun, f.inLine = f.kept[:0], none, false, false }

// closeTag ends a think block. If the block has part of an object of the target, the
// tag may be quoted in a string of that object; then a brace that closes the object
// comes later. If the opening tag was in the prompt, all text before is the block. An
// object in it still counts, because the tag may be quoted, but is not the answer.
func (f *finder) closeTag() {
	switch {
	case f.thinking:
		if f.drafted == none && f.begins(f.thoughts.String()) {
			f.drafted = f.others.Len()
		}
		f.thoughts.Reset()
	default:
		f.steps[stepThinkTags] = true
		f.dropKept()
		if f.found != nil {
			f.found.thought = true
		}
	}
	f.thinking, f.begun = false, false
}

// fenceLine takes the mark that opens or closes a code block.
func (f *finder) fenceLine() {
	rest := strings.TrimLeft(f.text[f.start:], "`")
	if f.fence == none {
		rest = strings.TrimLeftFunc(rest, isInfoString)
	}
	f.end = len(f.text) - len(rest)
	if f.fence != none && f.found != nil && f.found.fenceFrom == f.fence {
		f.found.fenceTo = len(f.kept)
	}
	opens := f.fence == none
	f.keep(f.piece())
	if f.fence = none; opens {
		f.fence = len(f.kept)
	}
}

// isInfoString reports what may follow the mark, as in ```json.
func isInfoString(r rune) bool {
	return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' || r == '_'
}

// braces reads what is in braces. It is an object found, or counts as text
// like any other; so does what is in an object's comments.
func (f *finder) braces() {
	start := f.start
	o := loose{comma: none}
	for o.add(&f.lexer); f.depth > 0 && f.next() && f.sort != closeTag; {
		o.add(&f.lexer)
	}
	root, _, ok := tool.ParseJSON(string(o.out))
	ok = ok && root.Kind == '{' && f.is(root)
	switch {
	case f.sort == closeTag: // of the block around
		f.thoughts.WriteString(f.text[start:f.start])
		f.closeTag()
	case f.thinking && !ok:
		f.thoughts.WriteString(f.text[start:f.end])
	case f.thinking:
	default:
		f.object(o, f.text[start:f.end], ok)
	}
}

// object takes what is in braces outside of think blocks; ok reports whether it is
// an object of the target.
func (f *finder) object(o loose, raw string, ok bool) {
	from := len(f.kept)
	f.keep(raw)
	if !ok {
		f.others.WriteString(raw)
		return
	}
	f.others.WriteString(o.comments.String())
	found := &object{text: string(o.out), steps: o.steps, from: from, to: len(f.kept), fenceFrom: f.fence, fenceTo: none}
	switch {
	case f.found == nil || f.found.thought && f.found.equal(found):
		f.found = found
	default:
		f.two = !f.found.equal(found)
	}
}

// equal reports whether two objects are equal as JSON values.
func (o *object) equal(other *object) bool {
	return o.text == other.text || o.canonical() == other.canonical()
}

// canonical returns the canonical form of an object, or its text if it has none.
func (o *object) canonical() string {
	if o.key == "" {
		o.key = o.text
		if key, err := tool.Canonical([]byte(o.text)); err == nil {
			o.key = string(key)
		}
	}
	return o.key
}

// result is what the text comes to.
func (f *finder) result() Repaired {
	others := f.others.String()
	switch {
	case f.found == nil || f.endless():
		return Repaired{}
	case f.two || f.traced(others) || f.drafted != none && strings.Contains(others[f.drafted:], "}"):
		return Repaired{Ambiguous: true}
	case f.found.thought:
		return Repaired{}
	}
	o, from, to := f.found, 0, len(f.kept)
	if o.fenceTo != none {
		f.steps[stepCodeFence] = true
		from, to = o.fenceFrom, o.fenceTo
	}
	switch before, after := invisible.Trim(string(f.kept[from:o.from])), invisible.Trim(string(f.kept[o.to:to])); {
	case before == "[" && after == "]":
		f.steps[stepSingleElement] = true
	case before != "" || after != "":
		f.steps[stepFirstObject] = true
	}
	return Repaired{Text: o.text, Applied: slices.DeleteFunc(slices.Clone(stepOrder), func(s string) bool { return !f.steps[s] && !slices.Contains(o.steps, s) })}
}
