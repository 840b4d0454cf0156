package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/cupel-eval/cupel/agent/tool"
)

// WriteTranscript writes what happened in an episode for a person to read:
// prompts that changed, raw outputs, judgements, tool calls and the end.
// Control characters of untrusted text are made visible.
func WriteTranscript(w io.Writer, traces []Trace) error {
	var b bytes.Buffer
	system := ""
	for _, t := range traces {
		switch {
		case t.Call != nil:
			if t.Call.System != system {
				system = t.Call.System
				section(&b, "system prompt", system)
			}
			writeTurn(&b, t)
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
	_, err := w.Write(b.Bytes())
	return err
}

func writeTurn(b *bytes.Buffer, t Trace) {
	fmt.Fprintf(b, "── turn %d: %s/%s · model %s · %.3f s", t.Turn.Turn, t.Turn.Role, t.Turn.Kind, visible(t.Call.Model), float64(t.Turn.DurationUs)/1e6)
	if t.Turn.In != nil {
		fmt.Fprintf(b, " · %d+%d tokens", *t.Turn.In, *t.Turn.Out)
	}
	b.WriteByte('\n')
	for _, m := range t.Call.Messages {
		section(b, "prompt ("+m.Role+")", m.Text)
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
