package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// The models can also be asked to compress their own log turns into a scratchpad.
// They keep what they have put into their plan, and the newest results as they are.

// summaryParts are the headings of a compressed scratchpad.
var summaryParts = []string{"GOAL", "CONSTRAINTS", "PLAN", "PROGRESS", "OBSERVATIONS", "OPEN_QUESTIONS", "RISKS"}

// Bounds of a summary in tokens and in facts. Together with the headings they keep it within 600 tokens.
const (
	maxSummaryLine  = 60
	maxSummaryFacts = 5
)

var rawLog = lazyregexp.New(`(?m)^\s*RAW[ _]LOG:`)

// rawLog finds the log that a conversation asks to compress; ok is false if it does not.
func (c Conversation) rawLog() (log string, ok bool) {
	log = c.last()
	whole := c.System + "\n" + log
	lacks := func(part string) bool { return !strings.Contains(whole, part) }
	return log, rawLog.MatchString(log) && !slices.ContainsFunc(summaryParts, lacks)
}

// compress writes a log as a scratchpad.
func compress(log string) string {
	part := map[string]string{}
	var facts []string
	failed := 0
	for l := range strings.Lines(log) {
		l = strings.TrimPrefix(strings.TrimSpace(l), "- ")
		for _, heading := range []string{"GOAL", "CONSTRAINTS", "PLAN"} {
			if rest, ok := strings.CutPrefix(l, heading+":"); ok && part[heading] == "" {
				part[heading] = strings.TrimSpace(rest)
			}
		}
		if m := resultLine.FindStringSubmatch(l); m != nil || replyLine.MatchString(l) {
			if m != nil && m[4] != "ok" {
				failed++
			}
			facts = append(facts, "- "+l)
		}
	}
	facts = facts[max(0, len(facts)-maxSummaryFacts):]
	for name, text := range part {
		if name != "PLAN" {
			part[name] = brief(text, maxSummaryLine)
		}
	}
	part["PLAN"] = "1. " + part["PLAN"] + "\n2. Call what is still missing.\n3. Answer."
	part["PROGRESS"] = fmt.Sprintf("%d results kept, %d calls failing.", len(facts), failed)
	part["OBSERVATIONS"] = strings.Join(facts, "\n")
	var out strings.Builder
	for _, heading := range summaryParts {
		text, gap := part[heading], " "
		text = cmp.Or(text, "none")
		if strings.Contains(text, "\n") || strings.HasPrefix(text, "- ") {
			gap = "\n"
		}
		out.WriteString(heading + ":" + gap + text + "\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// brief is the beginning of a text, at most limit tokens.
func brief(text string, limit int) string {
	short, cut := Cut(text, limit-1)
	if cut {
		short += "…"
	}
	return short
}
