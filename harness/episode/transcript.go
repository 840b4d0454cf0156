package episode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// WriteTranscript writes what happened in an episode for a person to read, in the
// order in which it ended: each prompt line once, raw outputs and calls, judgements,
// tool calls, what the strategy told of its progress, and the end.
// Control characters of untrusted text are made visible.
func WriteTranscript(w io.Writer, traces []Trace) error {
	var b bytes.Buffer
	shown, turn := map[string]bool{}, 0
	for _, t := range traces {
		switch {
		case t.Call != nil:
			writeTurn(&b, t, shown)
			turn = int(t.Turn.Turn)
			for _, text := range prompts(t.Call) {
				for line := range strings.Lines(text) {
					shown[line] = true
				}
			}
		case t.Tool != nil:
			writeTool(&b, t, turn)
		case t.Update != nil:
			fmt.Fprintf(&b, "── %s: %s\n", Visible(t.Update.Phase), Visible(t.Update.Status))
			lines(&b, t.Update.Content)
		case t.Finish != nil:
			fmt.Fprintf(&b, "── end: %s", t.Finish.Status)
			if t.Finish.StopReason != "" {
				fmt.Fprintf(&b, " (%s)", t.Finish.StopReason)
			}
			b.WriteByte('\n')
			if t.Finish.Err != nil {
				section(&b, "error", t.Finish.Err.Error())
			} else if t.Finish.Answer != "" {
				section(&b, "answer", t.Finish.Answer)
			}
		default:
			section(&b, "question to the user", t.Question)
			if t.Silent {
				b.WriteString("   (nobody answered)\n")
			} else {
				section(&b, "user's reply", t.Reply)
			}
		}
	}
	_, err := io.WriteString(w, (*secrets.Finder)(nil).Redact("transcript", b.String()))
	return err
}

func writeTurn(b *bytes.Buffer, t Trace, shown map[string]bool) {
	fmt.Fprintf(b, "── turn %d: %s/%s", t.Turn.Turn, Visible(t.Turn.Role), Visible(t.Turn.Kind))
	if t.Turn.SubAgent != "" {
		fmt.Fprintf(b, " · agent %s of %s", Visible(t.Turn.SubAgent), Visible(cmp.Or(t.Turn.ParentAgent, "the main one")))
	}
	if t.Turn.PlanStep != "" {
		fmt.Fprintf(b, " · step %s", Visible(t.Turn.PlanStep))
	}
	fmt.Fprintf(b, " · model %s", Visible(t.Call.Model))
	if us := t.Turn.DurationUs; us != nil {
		fmt.Fprintf(b, " · %.3f s", float64(*us)/1e6)
	} else {
		b.WriteString(" · batched")
	}
	if t.Turn.In != nil && t.Turn.Out != nil {
		fmt.Fprintf(b, " · %d+%d tokens", *t.Turn.In, *t.Turn.Out)
	}
	b.WriteByte('\n')
	prompt(b, "system prompt", t.Call.System, shown)
	for _, m := range t.Call.Messages {
		prompt(b, "prompt ("+speaker(m)+")", message(m), shown)
	}
	if t.Err != nil {
		section(b, "failed", t.Err.Error())
		return
	}
	if t.Answer.Text != "" || len(t.Answer.Calls) == 0 {
		section(b, "output", pretty(t.Answer.Text))
	}
	for _, c := range t.Answer.Calls {
		section(b, "call "+Visible(c.ID)+" of "+Visible(c.Name), pretty(c.Args))
	}
	if len(t.Turn.Violations) > 0 {
		section(b, "violations", strings.Join(t.Turn.Violations, "\n"))
	}
	if len(t.Turn.Warnings) > 0 {
		section(b, "warnings", strings.Join(t.Turn.Warnings, "\n"))
	}
	if t.Turn.Repaired {
		b.WriteString("   (repaired)\n")
	}
	if t.Turn.ErrorKind == KindAbandoned {
		b.WriteString("   (abandoned: the episode ended before the answer came)\n")
	}
}

// speaker says whose a message is, and of a tool's which call it answers.
func speaker(m providers.Message) string {
	who := Visible(m.Role)
	if m.CallID != "" || m.Name != "" {
		who += ", " + strings.TrimSpace(Visible(m.CallID)+" of "+Visible(m.Name))
	}
	if m.Failed {
		who += ", failed"
	}
	return who
}

// message is the text of a message, with a line for each of its calls and for its
// images.
func message(m providers.Message) string {
	text := m.Text
	line := func(format string, args ...any) {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += fmt.Sprintf(format, args...)
	}
	for _, c := range m.Calls {
		line("call %s of %s: %s\n", c.ID, c.Name, c.Args)
	}
	if n := len(m.Images); n > 0 {
		line("(images: %d)\n", n)
	}
	return text
}

// writeTool writes a tool call, and the turn that asked for it unless that is the last
// one written.
func writeTool(b *bytes.Buffer, t Trace, turn int) {
	fmt.Fprintf(b, "── tool %s %s", Visible(t.Tool.Call.Name), Visible(string(t.Tool.Call.Args)))
	if t.Asked > 0 && t.Asked != turn {
		fmt.Fprintf(b, " of turn %d", t.Asked)
	}
	fmt.Fprintf(b, " → %s", t.Result.Outcome)
	if t.Tool.Deduped {
		b.WriteString(" (same as before, not run again)")
	}
	if t.Result.Outcome != tool.OK {
		fmt.Fprintf(b, " %s %s", Visible(t.Result.Code), Visible(t.Result.Message))
	}
	b.WriteByte('\n')
	if len(t.Result.Value) > 0 {
		section(b, "result", string(t.Result.Value))
	}
}

// prompts are all texts of a call.
func prompts(c *providers.Call) []string {
	texts := []string{c.System}
	for _, m := range c.Messages {
		texts = append(texts, message(m))
	}
	return texts
}

// fewLines are not left out of a prompt that has others: what is left would be harder
// to read, such as a step of a plan without the instructions that the planner gave it.
const fewLines = 5

// prompt writes the lines of a prompt that no earlier turn had, and says how
// many were left out.
func prompt(b *bytes.Buffer, label, text string, shown map[string]bool) {
	var lines []string
	same := 0
	for line := range strings.Lines(text) {
		if shown[line] {
			same++
			continue
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return
	}
	if same <= fewLines {
		section(b, label, text)
		return
	}
	label += fmt.Sprintf(", %d lines as before left out", same)
	section(b, label, strings.Join(lines, ""))
}

// section writes a label and indented text.
func section(b *bytes.Buffer, label, text string) {
	fmt.Fprintf(b, "   %s:\n", label)
	lines(b, text)
}

// lines writes indented text.
func lines(b *bytes.Buffer, text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		fmt.Fprintf(b, "   │ %s\n", Visible(strings.TrimRight(line, "\r\n")))
	}
}

// pretty indents text that is one JSON value, and returns any other as it is.
func pretty(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}

// Visible escapes what cannot be seen, so that untrusted text can neither control a
// terminal nor reorder a line. Tabs stay.
func Visible(s string) string { return invisible.Escape(s, "\t") }
