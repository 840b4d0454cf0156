package sim

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The models can also be asked to compress a log of their own turns into a
// scratchpad. They keep facts alone, in words that they understand later.

// summaryParts are the headings of a compressed scratchpad.
var summaryParts = []string{"GOAL", "CONSTRAINTS", "PLAN", "PROGRESS", "OBSERVATIONS", "OPEN_QUESTIONS", "RISKS"}

// Bounds of a summary, in estimated tokens and in facts. Together with the
// headings they keep it within 600 tokens.
const (
	maxSummaryLine   = 60
	maxSummaryReply  = 24
	maxSummaryFacts  = 6
	maxSummaryMemory = 8
)

const compressorOpening = "You are my compressor"

var rawLog = regexp.MustCompile(`(?m)^\s*RAW LOG:`)

// rawLog finds the log that a talk asks to compress; ok is false if it does not.
func (t talk) rawLog() (log string, ok bool) {
	user := t.last()
	whole := t.system + "\n" + user
	asked := strings.HasPrefix(strings.TrimSpace(t.system), compressorOpening) || strings.HasPrefix(strings.TrimSpace(user), compressorOpening)
	if !asked && strings.Contains(strings.ToLower(t.system), "compressor") && strings.Contains(whole, "RAW LOG") {
		asked = !slices.ContainsFunc(summaryParts, func(part string) bool { return !strings.Contains(whole, part) })
	}
	if !asked {
		return "", false
	}
	for _, text := range []string{user, t.system} {
		if at := rawLog.FindStringIndex(text); at != nil && strings.TrimSpace(text[at[1]:]) != "" {
			return text[at[1]:], true
		}
	}
	return user, true
}

// compress writes a log as a scratchpad.
func compress(log string) string {
	var p prompt
	part := map[string]string{}
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		for _, heading := range []string{"GOAL", "CONSTRAINTS", "USER_REQUEST"} {
			if rest, ok := strings.CutPrefix(line, heading+":"); ok && part[heading] == "" {
				part[heading] = brief(strings.TrimSpace(rest), maxSummaryLine)
			}
		}
		if rest, ok := strings.CutPrefix(line, "PLAN:"); ok {
			p.plan = rest
		}
		p.hear(line)
	}
	n := readNotes(p)
	n.facts = slices.DeleteFunc(n.facts, func(f fact) bool { return !slices.Contains(labels, f.label) })
	if part["GOAL"] == "" {
		part["GOAL"] = part["USER_REQUEST"]
	}
	plan := []string{"1. Find out which counts are still missing.", "2. Call the tools for them.", "3. Answer."}
	if memory := recall(tail(n.facts, maxSummaryMemory)); memory != "" {
		plan = append(plan, "4. Use what is "+memory)
	}
	part["PLAN"] = strings.Join(plan, "\n")
	part["PROGRESS"] = fmt.Sprintf("%d counts known, %d calls failing, %d replies of the user.", len(n.facts), len(n.failed), len(n.replies))
	part["OBSERVATIONS"] = n.bullets()
	if n.asked && len(n.replies) == 0 {
		part["OPEN_QUESTIONS"] = "the user has not answered yet"
	}
	part["RISKS"] = n.risks()
	var out strings.Builder
	for _, heading := range summaryParts {
		text, gap := part[heading], " "
		if text == "" {
			text = "none"
		}
		if strings.Contains(text, "\n") || strings.HasPrefix(text, "- ") {
			gap = "\n"
		}
		out.WriteString(heading + ":" + gap + text + "\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// brief is the beginning of a text, at most limit estimated tokens.
func brief(text string, limit int) string {
	short, cut := cutTokens(text, limit-1)
	if cut {
		short += "…"
	}
	return short
}

// tail is the end of a list, at most n long.
func tail[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

// bullets lists the facts.
func (n notes) bullets() string {
	var out []string
	if n.today != nil {
		out = append(out, fmt.Sprintf("- Today is %s.", n.today))
	}
	for _, f := range tail(n.facts, maxSummaryFacts) {
		if f.state != unusable {
			out = append(out, "- "+f.sentence())
		}
	}
	for _, reply := range tail(n.replies, 2) {
		out = append(out, fmt.Sprintf("- The user answered %s%s%s.", fenceOpen, brief(reply, maxSummaryReply), fenceClose))
	}
	return strings.Join(out, "\n")
}

// risks names what went wrong.
func (n notes) risks() string {
	var out []string
	for call, times := range n.failed {
		out = append(out, fmt.Sprintf("%s failed %d times", call.tool, times))
	}
	slices.Sort(out)
	if n.rejected > 0 {
		out = append(out, fmt.Sprintf("%d calls had wrong arguments", n.rejected))
	}
	if n.violated {
		out = append(out, "an output was not one JSON object")
	}
	return brief(strings.Join(out, "; "), maxSummaryLine)
}

// knownSentence matches what a summary says of a count or of today.
var knownSentence = regexp.MustCompile(`\b(?:(\w+) messages (?:on (\d{4}-\d{2}-\d{2})|from (\d{4}-\d{2}-\d{2}) to (\d{4}-\d{2}-\d{2})): (\d{1,18})\.|Today is (\d{4}-\d{2}-\d{2})\.)`)
