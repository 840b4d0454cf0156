package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
)

// WriteTranscript writes what happened in an episode for a person to read: each
// prompt line once, raw outputs, judgements, tool calls and the end.
// Control characters of untrusted text are made visible.
func WriteTranscript(w io.Writer, traces []Trace) error {
	var b bytes.Buffer
	shown := map[string]bool{}
	for _, t := range traces {
		switch {
		case t.Call != nil:
			writeTurn(&b, t, shown)
			for _, text := range prompts(t.Call) {
				for line := range strings.Lines(text) {
					shown[line] = true
				}
			}
		case t.Tool != nil:
			writeTool(&b, t)
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
	_, err := io.WriteString(w, (*recorder.Secrets)(nil).Redact("transcript", b.String()))
	return err
}

func writeTurn(b *bytes.Buffer, t Trace, shown map[string]bool) {
	fmt.Fprintf(b, "── turn %d: %s/%s · model %s · %.3f s", t.Turn.Turn, t.Turn.Role, t.Turn.Kind, visible(t.Call.Model), float64(t.Turn.DurationUs)/1e6)
	if t.Turn.In != nil {
		fmt.Fprintf(b, " · %d+%d tokens", *t.Turn.In, *t.Turn.Out)
	}
	b.WriteByte('\n')
	prompt(b, "system prompt", t.Call.System, shown)
	for _, m := range t.Call.Messages {
		prompt(b, "prompt ("+m.Role+")", m.Text, shown)
	}
	if t.Err != nil {
		section(b, "failed", t.Err.Error())
		return
	}
	section(b, "output", pretty(t.Answer.Text))
	if len(t.Turn.Violations) > 0 {
		section(b, "violations", strings.Join(t.Turn.Violations, "\n"))
	}
	if len(t.Turn.Warnings) > 0 {
		section(b, "warnings", strings.Join(t.Turn.Warnings, "\n"))
	}
	if t.Turn.Repaired {
		b.WriteString("   (repaired)\n")
	}
}

func writeTool(b *bytes.Buffer, t Trace) {
	fmt.Fprintf(b, "── tool %s %s → %s", visible(t.Tool.Call.Name), visible(string(t.Tool.Call.Args)), t.Result.Outcome)
	if t.Tool.Deduped {
		b.WriteString(" (same as before, not run again)")
	}
	if t.Result.Outcome != tool.OK {
		fmt.Fprintf(b, " %s %s", visible(t.Result.Code), visible(t.Result.Message))
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
		texts = append(texts, m.Text)
	}
	return texts
}

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
	if same > 0 {
		label += fmt.Sprintf(", %d lines as before left out", same)
	}
	section(b, label, strings.Join(lines, ""))
}

// section writes a label and indented text.
func section(b *bytes.Buffer, label, text string) {
	fmt.Fprintf(b, "   %s:\n", label)
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		fmt.Fprintf(b, "   │ %s\n", visible(strings.TrimRight(line, "\r\n")))
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

// visible escapes control and format characters, so that untrusted text can
// neither drive a terminal nor reorder a line.
func visible(s string) string {
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, `\u{%X}`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func hidden(r rune) bool { return r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }
