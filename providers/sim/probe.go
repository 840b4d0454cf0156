package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/providers/sim/internal/model"
)

// Probe is the name of the model that does what the user's last message says,
// line by line, so that a client can ask any wire for anything:
//
//	say TEXT        adds to the answer
//	think TEXT      adds to the reasoning; where a wire has none it is only counted
//	call NAME ARGS  calls a available tool, with arguments sent as written
//	refuse TEXT     refuses
//	describe        says what the images are, one a line
//	results         says what the tools answered, one a line
//	system          says the system prompt
//	settings        says what else was asked for; stop sequences then end nothing
//	fill N          says N words
//	cached R W      counts R tokens of the prompt as read from a cache, W as written
//	then            what follows is for the next turn
//
// TEXT may be a JSON string. What is not said by say is on lines of its own.
// Turn k, which is the one after k messages of the assistant behind that of the
// user, takes the k-th part. A prompt of fewer than R+W tokens counts as that many.
// With a tool that must be called and no call, the answer is its arguments.
const Probe = "sim-probe"

// probe follows no playbook.
var probe = model.Profile{
	Name: Probe, Served: Probe + "-2026-11",
	Latency: model.Latency{Median: 20 * time.Millisecond, Sigma: 0.1, PerToken: time.Millisecond},
}

// maxFill bounds how many words are filled in.
const maxFill = 20000

// obedience is the carrying out of directives.
type obedience struct {
	request *modelRequest
	reply   *completion
	images  []picture
	results []result
	text    strings.Builder
	apart   bool // the answer ends in its own line
}

// runScript does what the last message of the user says.
func (q *modelRequest) runScript(c *completion) {
	at := len(q.messages) - 1
	for at >= 0 && (q.messages[at].own || q.messages[at].text == "") {
		at--
	}
	if at < 0 {
		return
	}
	o := obedience{request: q, reply: c, images: q.messages[at].images}
	stage := 0
	for _, m := range q.messages[at+1:] {
		if m.own {
			stage, o.results = stage+1, nil
		}
		o.results = append(o.results, m.results...)
	}
	if stage == 0 {
		o.results = q.before(at)
	}
	for line := range strings.Lines(q.messages[at].text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "then":
			stage--
		case stage == 0 && line != "":
			o.do(line)
		}
	}
	c.text = o.text.String()
	if q.mode == toolCall && len(c.calls) == 0 && c.refusal == "" {
		c.calls, c.text = []invocation{{Name: q.tool, Args: c.text}}, ""
	}
}

// before are the results in a message or right before it.
func (q *modelRequest) before(at int) []result {
	for at > 0 && !q.messages[at-1].own && len(q.messages[at-1].results) > 0 {
		at--
	}
	var out []result
	for _, m := range q.messages[at:] {
		out = append(out, m.results...)
	}
	return out
}

func (o *obedience) do(line string) {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "say":
		o.say(model.TextOf(rest))
	case "think":
		o.reply.reasoning += model.TextOf(rest)
	case "refuse":
		o.reply.refusal += model.TextOf(rest)
	case "call":
		o.call(rest)
	case "describe":
		images := slices.Clone(o.images)
		for _, r := range o.results {
			images = append(images, r.images...)
		}
		for i, p := range images {
			o.line(fmt.Sprintf("image %d: %s", i+1, p))
		}
	case "results":
		for _, r := range o.results {
			how := " -> "
			if r.failed {
				how = " failed: "
			}
			o.line(r.name + how + r.text)
		}
	case "system":
		o.line(o.request.system)
	case "settings":
		o.line(o.request.settings())
		o.request.stop = nil
	case "fill":
		o.fill(line, rest)
	case "cached":
		o.cached(line, rest)
	default:
		o.line("?" + line)
	}
}

// say adds to the answer, on a new line if its own line came before.
func (o *obedience) say(text string) {
	if o.apart {
		o.text.WriteByte('\n')
	}
	o.text.WriteString(text)
	o.apart = false
}

func (o *obedience) line(text string) {
	o.apart = o.text.Len() > 0
	o.say(text)
	o.apart = true
}

func (o *obedience) call(rest string) {
	name, args, _ := strings.Cut(rest, " ")
	q := o.request
	switch {
	case !slices.Contains(q.tools, name), q.choice == choiceNone, q.choice == choiceNamed && name != q.tool:
		o.line("no tool " + name)
	case q.serial && len(o.reply.calls) > 0:
	default:
		if args = strings.TrimSpace(args); args == "" {
			args = "{}"
		}
		o.reply.calls = append(o.reply.calls, invocation{Name: name, Args: args})
	}
}

func (o *obedience) fill(line, rest string) {
	n, err := strconv.Atoi(rest)
	if err != nil || n < 0 {
		o.line("?" + line)
		return
	}
	words := make([]string, min(n, maxFill))
	for i := range words {
		words[i] = "w" + strconv.Itoa(i+1)
	}
	o.line(strings.Join(words, " "))
}

func (o *obedience) cached(line, rest string) {
	var r, w int
	if n, err := fmt.Sscanf(rest, "%d %d", &r, &w); n != 2 || err != nil || r < 0 || w < 0 || r > 1e9 || w > 1e9 {
		o.line("?" + line)
		return
	}
	o.reply.read, o.reply.write = r, w
	o.reply.in = max(o.reply.in, r+w)
}
