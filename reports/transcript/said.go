package transcript

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/reports/words"
)

// Bounds of what is shown of what was said, in bytes; of an episode all together.
const (
	MaxSaid   = 256 << 10
	maxSystem = 32 << 10
	maxOutput = 16 << 10
	MaxText   = 8 << 10
	maxSteps  = 12 // of a turn; and messages
	// Deeper JSON is shown as it came: indenting it grows with the square.
	maxDepth = 24
)

// saidView is what was said in a turn.
type saidView struct {
	// System is the number of the page's system prompt that was sent from this turn
	// on; 0 where it is that of the turn before.
	System         int
	Prompt         []messageView
	PromptSize     string
	Output, Failed string
	Calls          []callView
	Updates        []string
	Steps          []stepView
	More           string
}

type callView struct{ Tool, Args string }

type messageView struct{ Role, Text string }

type stepView struct{ Tool, Args, Question, Result, Outcome, Class string }

// Saying makes views of texts within what is left for an episode.
type Saying struct {
	Left    int
	Systems *Systems
	// results are those of earlier turns, which prompts repeat.
	results map[string]bool
}

// Detail puts what was said beside what the ledger knows: v's turns are copied.
func (s *Saying) Detail(v *Episode, d Detail) {
	turns := make([]Turn, len(v.Turns))
	copy(turns, v.Turns)
	by := map[int]*DetailTurn{}
	for i := range d.Turns {
		by[d.Turns[i].Turn] = &d.Turns[i]
	}
	last, echo := "", ""
	s.results = map[string]bool{}
	for i := range turns {
		t := by[turns[i].N]
		if t == nil {
			continue
		}
		own := t.System
		if i == 0 && own == "" {
			own = d.System
		}
		said := s.turn(t, echo)
		if own != "" && own != last {
			said.System, last = s.Systems.add(v.Candidate, own), own
		}
		turns[i].Said, echo = said, t.Output
	}
	v.Turns = turns
	if d.Answer != "" {
		v.Answer = s.text(d.Answer, MaxText)
	}
	v.State = s.text(d.State, MaxText)
}

// turn shows one turn; echo is the output of the turn before, which the prompt
// repeats.
func (s *Saying) turn(t *DetailTurn, echo string) *saidView {
	v := &saidView{Output: s.pretty(t.Output, maxOutput), Failed: s.text(t.Failed, MaxText)}
	size := 0
	for i, m := range t.Prompt {
		size += len(m.Text)
		if i >= maxSteps {
			continue
		}
		text := ""
		switch {
		case echo != "" && m.Text == echo:
			text = "(the output of the turn before)"
		case m.Role == "tool" && s.results[m.Text]:
			text = "(a result shown before)"
		default:
			text = s.pretty(m.Text, MaxText)
		}
		v.Prompt = append(v.Prompt, messageView{words.Brief(m.Role, 20), text})
	}
	v.PromptSize = words.Plural(len(t.Prompt), "new message") + " (" + words.Bytes(size) + ")"
	s.calls(v, t)
	for i, step := range t.Steps {
		if s.results[step.Result] = true; i >= maxSteps {
			v.More = words.Plural(len(t.Steps)-maxSteps, "more step")
			continue
		}
		class := " bad"
		if step.Outcome == "ok" || step.Outcome == "" {
			class = ""
		}
		v.Steps = append(v.Steps, stepView{
			Tool: words.Brief(step.Tool, 80), Args: s.text(step.Args, MaxText), Question: s.text(step.Question, MaxText),
			Result: s.pretty(step.Result, MaxText), Outcome: words.Brief(step.Outcome, 60), Class: class,
		})
	}
	return v
}

// calls shows what the model called that became no step, and the progress told.
func (s *Saying) calls(v *saidView, t *DetailTurn) {
	steps := map[DetailCall]int{}
	for _, step := range t.Steps {
		steps[DetailCall{step.Tool, compact(step.Args)}]++
	}
	for i, c := range t.Calls {
		key := DetailCall{c.Tool, compact(c.Args)}
		if steps[key] > 0 {
			steps[key]--
			continue
		}
		if len(v.Calls) == maxSteps {
			v.More = words.Plural(len(t.Calls)-i, "more call")
			break
		}
		v.Calls = append(v.Calls, callView{words.Brief(c.Tool, 80), s.pretty(c.Args, MaxText)})
	}
	for i, u := range t.Updates {
		if i == maxSteps {
			break
		}
		v.Updates = append(v.Updates, s.text(words.Join(": ", words.Join(" ", words.Brief(u.Phase, 60), words.Brief(u.Status, 40)), u.Content), 600))
	}
}

// compact is JSON without its spaces; other text as it is.
func compact(text string) string {
	var b bytes.Buffer
	if len(text) > MaxText || json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

// text bounds s and makes it visible; its lines stay.
func (s *Saying) text(text string, limit int) string {
	text = words.Lines(text, min(limit, s.Left))
	s.Left -= len(text)
	return text
}

// pretty is text with JSON indented.
func (s *Saying) pretty(text string, limit int) string {
	if limit = min(limit, s.Left); len(text) <= limit && shallow(text) {
		var b bytes.Buffer
		if json.Indent(&b, []byte(strings.TrimSpace(text)), "", "  ") == nil && b.Len() <= 4*limit {
			text = words.Lines(b.String(), b.Len())
			s.Left -= len(text)
			return text
		}
	}
	return s.text(text, limit)
}

// shallow says that text may be a JSON object or list that is not deep.
func shallow(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '{' && text[0] != '[' {
		return false
	}
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth > maxDepth {
			return false
		}
	}
	return true
}

// SystemView is a system prompt, once on a page whoever was sent it.
type SystemView struct {
	N          int
	Names      []string
	Size, Text string
}

// Systems are the system prompts of a page; size is what they take.
type Systems struct {
	Views []SystemView
	By    map[string]int
	Size  int
}

// add returns the number of the prompt that a candidate was sent.
func (s *Systems) add(candidate, text string) int {
	n := s.By[text]
	if n == 0 {
		v := SystemView{N: len(s.Views) + 1, Size: words.Bytes(len(text)), Text: words.Lines(text, min(maxSystem, MaxSaid-s.Size))}
		s.Views, s.Size, n = append(s.Views, v), s.Size+len(v.Text), v.N
		s.By[text] = n
	}
	if v := &s.Views[n-1]; !slices.Contains(v.Names, candidate) {
		v.Names = append(v.Names, candidate)
	}
	return n
}
