package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/goldens/playbook"
)

// formSlip is a mistake in the form of a contract object.
type formSlip string

const (
	fenced        formSlip = "fenced"         // JSON in a code fence
	prose         formSlip = "prose"          // words around the JSON
	truncated     formSlip = "truncated"      // rambles into the token limit
	missingField  formSlip = "missing field"  // no state_update, or no confidence
	extraKey      formSlip = "extra key"      // a key the contract does not have
	wrongCase     formSlip = "wrong case"     // a key in the wrong case
	badConfidence formSlip = "bad confidence" // out of range, or no number
)

// rulesOut reports whether the output mode leaves no room for a slip. JSON modes take what
// surrounds the object; what is in it stays the model's. A tool that must be called
// brings its schema along, and all that is left is to talk on and on.
func (c Conversation) rulesOut(s formSlip) bool {
	return c.Arguments && s != truncated || c.JSON && (s == fenced || s == prose)
}

// misform puts a slip into a contract object. limit is the token limit that a truncated output runs into.
func misform(s formSlip, text string, detail uint64, limit int) string {
	switch s {
	case fenced:
		return "```json\n" + text + "\n```"
	case prose:
		return preambles[detail%uint64(len(preambles))] + "\n" + text
	case truncated:
		return padObservation(text, limit)
	case missingField:
		if detail&1 == 0 {
			return text[:strings.LastIndex(text, `,"state_update":`)] + "}"
		}
		return text[:strings.LastIndex(text, `,"confidence":`)] + "}}"
	case extraKey:
		return strings.TrimSuffix(text, "}") + `,"thoughts":"I looked at the request first."}`
	case wrongCase:
		key := []string{"control", "next_action", "state_update"}[detail%3]
		return strings.Replace(text, `"`+key+`":`, `"`+strings.ToUpper(key[:1])+key[1:]+`":`, 1)
	case badConfidence:
		bad := []string{`"high"`, "1.5", "95", "-0.1"}[detail%4]
		return text[:strings.LastIndex(text, `"confidence":`)] + `"confidence":` + bad + "}}"
	}
	return text
}

var preambles = []string{
	"Sure! Here is my next action:",
	"Here is the JSON object you asked for.",
	"Let me think about this. I will do the following:",
}

// padObservation talks on inside the observation until well past the limit; the cut at the limit
// then falls in the middle of the object.
func padObservation(text string, limit int) string {
	at := strings.LastIndex(text, `"observation":"`) + len(`"observation":"`)
	var b strings.Builder
	b.WriteString(text[:at])
	for i := 1; b.Len() < 4*limit+100; i++ {
		fmt.Fprintf(&b, "Thought %d: I should look at the request again and make sure what it asks for. ", i)
	}
	b.WriteString(text[at:])
	return b.String()
}

// nativeSlip is a mistake in the form of native calls.
type nativeSlip string

const (
	cutArguments    nativeSlip = "cut arguments"    // arguments that are not JSON
	unknownTool     nativeSlip = "unknown tool"     // an unavailable name
	missingArgument nativeSlip = "missing argument" // one that is required is left out
	announce        nativeSlip = "announce"         // says that it will call, and does not
	emptyReply      nativeSlip = "empty reply"      // nothing at all
	finalAsText     nativeSlip = "final as text"    // the text of an answer instead of the tool for it
	wrongType       nativeSlip = "wrong type"       // a value of another type in an answer
)

// fumble puts a slip into what was said; one that does not fit does not happen. A tool
// that must be called leaves no room for a text instead.
func (t *turn) fumble(s nativeSlip, said Said, a playbook.Action, detail uint64) Said {
	forced := t.Must != ""
	if s == emptyReply && !forced {
		return Said{}
	}
	if len(said.Calls) == 0 {
		return said
	}
	c := &said.Calls[detail%uint64(len(said.Calls))]
	closing := c.Name == finalAnswer || c.Name == finishStep
	switch s {
	case cutArguments:
		c.Args = c.Args[:(len(c.Args)+1)/2]
	case unknownTool:
		if !forced || t.Any {
			c.Name = misspelt(c.Name, detail)
		}
	case missingArgument:
		c.Args = withoutOne(c.Args, detail)
	case announce:
		if !forced && !closing {
			return Said{Text: announcements[detail%uint64(len(announcements))]}
		}
	case finalAsText:
		if !forced && closing {
			return Said{Text: a.Text}
		}
	case wrongType:
		if closing {
			c.Args = mistyped(c.Args)
		}
	}
	return said
}

var announcements = []string{
	"Let me look that up for you.",
	"I will call the tool now and report back.",
	"First I need to check the data.",
}

func misspelt(name string, detail uint64) string {
	if detail&1 == 0 {
		return name + "s"
	}
	return strings.ReplaceAll(name, "_", "") + "_tool"
}

// membersOf are the names of an object's members, sorted, and the members.
func membersOf(object string) ([]string, map[string]json.RawMessage) {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(object), &members) != nil {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(members)), members
}

func withoutOne(args string, detail uint64) string {
	names, members := membersOf(args)
	if len(names) == 0 {
		return args
	}
	delete(members, names[detail%uint64(len(names))])
	return string(JSON(members))
}

// mistyped gives the first member of an object that is a number, or else the first of
// all, another type; within "result" if there is one.
func mistyped(args string) string {
	names, members := membersOf(args)
	if inner := members["result"]; len(names) == 1 && len(inner) > 0 && inner[0] == '{' {
		members["result"] = json.RawMessage(mistyped(string(inner)))
		return string(JSON(members))
	}
	if len(names) == 0 {
		return args
	}
	at := max(0, slices.IndexFunc(names, func(n string) bool { return members[n][0] == '-' || members[n][0] >= '0' && members[n][0] <= '9' }))
	value := members[names[at]]
	if value[0] == '"' {
		members[names[at]] = json.RawMessage("[" + string(value) + "]")
	} else {
		members[names[at]] = JSON("about " + string(value))
	}
	return string(JSON(members))
}

// Tokens estimates how many tokens a text is: a quarter token for each ASCII character, one for any other,
// rounded up. It is an estimate for budgets and prices, made by no tokenizer.
func Tokens(text string) int {
	quarters := 0
	for i := range len(text) {
		quarters += quartersOf(text[i])
	}
	return (quarters + 3) / 4
}

// quartersOf counts a character at its first byte.
func quartersOf(b byte) int {
	switch {
	case b < utf8.RuneSelf:
		return 1
	case utf8.RuneStart(b):
		return 4
	}
	return 0
}

// Cut cuts a text after limit tokens and says whether it had to.
func Cut(text string, limit int) (string, bool) {
	quarters := 0
	for i := range len(text) {
		if quarters += quartersOf(text[i]); quarters > 4*limit {
			return text[:i], true
		}
	}
	return text, false
}
