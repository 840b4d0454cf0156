package playbook

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// notice matches what agents are told between their turns, as the prompts of agent orchestrator have
// it: what the user says, corrections, the end of a task, a check to do, and the end of a plan.
var (
	notice = lazyregexp.New(`(?ms)^(?:(THE USER SAYS:)\n<data>(.*?)</data>|(CORRECTION), [^\n]*:\n<data>(.*?)</data>|` +
		`SETTLED (\S+) (succeeded|failed) \([^)\n]*\):\n<data>(.*?)</data>|CHECKPOINT (\S+):\n<data>.*?</data>|(?:REPLAN|SUM UP): [^\n]*\n<data>(.*?)</data>)`)
	cancelledLine = lazyregexp.New(`(?m)^(\S+) cancelled: (.*)$`)
)

// Notice adds what a text tells an agent between its turns: an orchestrator, what the user says and
// what has settled; a sub-agent, corrections, which become Said. ok is false for any other text.
func (s *Seen) Notice(text string) (ok bool) {
	for _, m := range notice.FindAllStringSubmatch(text, -1) {
		user, correction, settled, checkpoint := m[1] != "", m[3] != "", m[5] != "", m[8] != ""
		if correction == s.Orchestrates {
			continue
		}
		switch {
		case user:
			s.Said = append(s.Said, m[2])
		case correction:
			s.Said = append(s.Said, m[4])
		case settled:
			s.Settled = append(s.Settled, Settled{ID: m[5], Failed: m[6] == "failed", Text: m[7], Said: len(s.Said)})
		case checkpoint:
			s.Checkpoint = m[8]
		default:
			for _, c := range cancelledLine.FindAllStringSubmatch(m[9], -1) {
				s.Settled = append(s.Settled, Settled{ID: c[1], Failed: true, Text: c[2], Said: len(s.Said)})
			}
			s.Ended++
		}
		if !checkpoint {
			s.Checkpoint = ""
		}
		ok = true
	}
	return ok
}

// HandedTo returns the solution of the sub-agent that a prompt shows the work of, and the values
// that come with it. A prompt with several has that of the longest text.
func (b *Book) HandedTo(prompt string) (play *Play, given map[string]json.RawMessage, ok bool) {
	text := plain(prompt)
	longest := 0
	for _, p := range b.Plays() {
		walkParts(p.steps, func(s *step) {
			for _, p := range s.parts {
				brief := plain(p.brief)
				if len(brief) > longest && (strings.Contains(text, brief) || strings.Contains(text, plain(quoted(p.brief)))) {
					play, longest = p.play, len(brief)
				}
			}
		})
	}
	if play == nil {
		return nil, nil, false
	}
	given = map[string]json.RawMessage{}
	for _, name := range play.needs {
		for _, at := range regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`"?\s*[:=]\s*(?:<data>)?`).FindAllStringIndex(prompt, 20) {
			var value json.RawMessage
			if json.NewDecoder(strings.NewReader(prompt[at[1]:])).Decode(&value) == nil {
				given[name] = value
				break
			}
		}
	}
	return play, given, true
}

// walkParts calls visit for every step that hands work over, also inside other steps.
func walkParts(steps []step, visit func(*step)) {
	for i := range steps {
		s := &steps[i]
		if len(s.parts) > 0 {
			visit(s)
		}
		for _, block := range s.blocks() {
			walkParts(block, visit)
		}
	}
}

// blocks returns the blocks inside a step.
func (s *step) blocks() [][]step { return append(s.inPlace(), s.handlers[:]...) }

// inPlace returns the blocks inside a step that other agents than orchestrators follow.
func (s *step) inPlace() [][]step {
	out := [][]step{s.block, s.other, s.handlers[onFailed]}
	if s.onError != nil {
		out = append(out, *s.onError)
	}
	for _, p := range s.parts {
		out = append(out, p.block)
	}
	return out
}
