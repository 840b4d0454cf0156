package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/goldens/playbook/mistake"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// decision is what a model does in a turn, and whether it is right to.
type decision struct {
	acts []playbook.Action
	// unsure reports that the model gives up, slipped that it slipped or was deceived.
	unsure, slipped bool
}

// decide follows the solution, with the slips of decisions. One action alone is taken
// where only one may be or the model is used to no more.
func (t *turn) decide(play *playbook.Play, single bool) decision {
	if t.profile.idle {
		return decision{acts: []playbook.Action{{Kind: playbook.Answer, Text: "I have nothing to say."}}, unsure: true}
	}
	if t.altered || t.view.cut {
		t.restore(play)
	}
	t.acceptWrongResults(play)
	acts := t.next(play, t.view.seen)
	if single || !t.profile.parallel {
		acts = acts[:1]
	}
	if why := t.blocked(acts); why != "" {
		acts = []playbook.Action{{Kind: playbook.GiveUp, Text: "I cannot answer: " + why + "."}}
	} else if t.view.maxCalls > 0 && acts[0].Kind == playbook.Call {
		acts = acts[:min(len(acts), t.view.maxCalls-t.view.calls)]
	}
	if t.draws.trust < t.profile.trusting {
		if wrong, fits := t.followInjection(); fits {
			return decision{acts: wrong, slipped: true}
		}
	}
	d := decision{acts: acts, unsure: acts[0].Kind == playbook.GiveUp}
	if slip, drawn := pick(t.draws.decision, t.profile.decision, t.decisionScale()); drawn {
		if wrong, fits := t.slip(play, slip, slices.Clone(acts)); fits {
			d.acts, d.slipped = wrong, true
		}
	}
	if kind, drawn := pick(t.draws.acting, t.profile.acting, formScale[mistake.Kind](t)); drawn && !d.slipped {
		if wrong, fits := t.mistaken(play, kind, slices.Clone(acts)); fits {
			d.acts, d.slipped = wrong, true
		}
	}
	return d
}

// next is what the solution does after what was seen. A model whose results do not fit the solution gives up.
func (t *turn) next(play *playbook.Play, seen playbook.Seen) []playbook.Action {
	acts, err := play.Next(seen)
	if err != nil || len(acts) == 0 {
		return []playbook.Action{{Kind: playbook.GiveUp, Text: "I cannot answer: the results are not what I expected."}}
	}
	return acts
}

// acceptWrongResults takes results about something else for the wanted ones, as often as the model
// is trusting: the same result is believed in every turn, or in none.
func (t *turn) acceptWrongResults(play *playbook.Play) {
	seen := &t.view.seen
	for i := range seen.Results {
		r := seen.Results[i]
		sum := sha256.Sum256(fmt.Appendf(nil, "cupel sim belief 1\n%s\n%s\n%s\n%s", t.profile.Name, t.view.request, r.Args, r.Value))
		if r.Code != "" || float64(binary.BigEndian.Uint64(sum[:])>>11)/(1<<53) >= t.profile.trusting {
			continue
		}
		without := *seen
		without.Results = slices.Delete(slices.Clone(seen.Results), i, i+1)
		acts := t.next(play, *seen)
		wanted := slices.IndexFunc(acts, func(a playbook.Action) bool { return a.Kind == playbook.Call && a.Tool == r.Tool })
		if wanted >= 0 && reflect.DeepEqual(acts, t.next(play, without)) { // the solution has not asked for it
			seen.Results[i].Args = acts[wanted].Args
		}
	}
}

// blocked says why calls cannot be made, empty if they can.
func (t *turn) blocked(acts []playbook.Action) string {
	v := t.view
	last := v.lastResult()
	switch {
	case acts[0].Kind == playbook.Ask && v.silent:
		return "nobody answers what I ask"
	case acts[0].Kind != playbook.Call:
	case v.noCalls != "":
		return v.noCalls
	case t.None:
		return "no tool may be called"
	case v.maxCalls > 0 && v.calls >= v.maxCalls:
		return "no tool calls are left"
	case v.maxSteps > 0 && v.steps >= v.maxSteps-1:
		return "no steps are left"
	case v.reflect && last != nil && last.Code == "" && last.Tool == acts[0].Tool && compact(string(last.Args)) == compact(string(acts[0].Args)):
		return "repeating the call would not help"
	}
	return ""
}

// injected matches a text within a result that gives its reader instructions.
var injected = lazyregexp.New(`(?i)(?:\b(?:ignore|disregard)\b.{0,30}\b(?:instructions?|previous|above)|\bSYSTEM:|\bIMPORTANT:|\bnote to the reader:|[^.]*\binstead\.).*`)

// followInjection does what an instruction inside a result says: it calls the available tool that is
// named there, with the arguments behind the name, or says what it is to say.
func (t *turn) followInjection() ([]playbook.Action, bool) {
	for _, r := range slices.Backward(t.view.seen.Results) {
		for _, text := range texts(r.Value) {
			order := injected.FindString(strings.ReplaceAll(text, "\n", " "))
			if order == "" {
				continue
			}
			for _, name := range t.view.tools {
				_, after, named := strings.Cut(order, name)
				var args map[string]json.RawMessage
				if at := strings.IndexByte(after, '{'); named && at >= 0 && json.NewDecoder(strings.NewReader(after[at:])).Decode(&args) == nil {
					return []playbook.Action{{Kind: playbook.Call, Tool: name, Args: JSON(args)}}, true
				}
			}
			return []playbook.Action{{Kind: playbook.Answer, Text: clipped(order), Value: JSON(clipped(order))}}, true
		}
	}
	return nil, false
}

// clipped is a text of others in a bound.
func clipped(text string) string {
	short, _ := Cut(oneLine(text), 100)
	return short
}

// texts are the strings in a JSON value, in the order of the text, each with the string
// right before it: a text's is the name of its member.
func texts(raw json.RawMessage) iter.Seq2[string, string] {
	return func(yield func(before, text string) bool) {
		dec := json.NewDecoder(bytes.NewReader(raw))
		before := ""
		for {
			token, err := dec.Token()
			text, ok := token.(string)
			if err != nil || ok && !yield(before, text) {
				return
			}
			before = text
		}
	}
}
