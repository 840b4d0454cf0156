// Package memory has the observations that an orchestrator keeps of the older messages of
// its thread.
package memory

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/providers"
)

const (
	maxLine  = 400 // characters of one observation
	maxShort = 120 // characters that the rule keeps of a text
)

var dated = regexp.MustCompile(`^(?:[01][0-9]|2[0-3]):[0-5][0-9] \S`)

// Read takes the lines that an observer or a reflector wrote, each "HH:MM text"; false if
// one is something else, or there is none.
func Read(text string) ([]string, bool) {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "- "))
		if line == "" {
			continue
		}
		if !dated.MatchString(line) {
			return nil, false
		}
		out = append(out, clip.Fit(line, maxLine))
	}
	return out, len(out) > 0
}

// identifiers are the ids that tools give to things.
var identifiers = regexp.MustCompile(`\b[a-z]{2,3}_[0-9]+\b`)

// Fold writes an observation of each message by a rule: of a call its tool, the ids in it
// and its outcome, of a text its beginning. A call and its answer are one line.
func Fold(messages []providers.Message, at time.Time) []string {
	answers := map[string]providers.Message{}
	for _, m := range messages {
		if m.Role == providers.RoleTool {
			answers[m.CallID] = m
		}
	}
	var out []string
	add := func(format string, args ...any) {
		out = append(out, clip.Fit(at.Format("15:04 ")+strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " "), maxLine))
	}
	for _, m := range messages {
		if m.Role == providers.RoleTool {
			continue
		}
		if text := strings.TrimSpace(m.Text); text != "" {
			add("%s: %s", m.Role, clip.Fit(text, maxShort))
		}
		for _, c := range m.Calls {
			answer := answers[c.ID]
			ids := identifiers.FindAllString(c.Args+" "+answer.Text, -1)
			slices.Sort(ids)
			add("%s %s: %s", c.Name, strings.Join(slices.Compact(ids), " "), outcome(answer))
		}
	}
	return out
}

// outcome is what became of a call.
func outcome(m providers.Message) string {
	var value struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	switch {
	case m.Role == "":
		return "not answered"
	case !m.Failed:
		return "ok"
	case json.Unmarshal([]byte(m.Text), &value) == nil && value.Error.Code != "":
		return value.Error.Code
	}
	return "failed"
}

// Size is how many bytes the observations have.
func Size(observations []string) int {
	n := 0
	for _, o := range observations {
		n += len(o) + 1
	}
	return n
}

// Halve keeps the newest observations, as many as have half the bytes.
func Halve(observations []string) []string {
	most, n := Size(observations)/2, 0
	for i := len(observations); i > 0; i-- {
		if n += len(observations[i-1]) + 1; n > most {
			return slices.Clone(observations[i:])
		}
	}
	return observations
}
