package playbook

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/goldens/internal/expression"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// Done is an action of an episode with its result.
type Done struct {
	Action Action
	Result Result // of a Call
	Reply  string // to an Ask
}

// maxLeaves bounds the values of results that a draft searches.
const maxLeaves = 10_000

// Draft writes the actions of an episode as the solution of its task: an entry of playbook.yaml,
// indented by two spaces. The last of did ends the episode. An argument or a number of the answer
// becomes an expression if it is not in the request and is in exactly one place of the given
// values, earlier results and replies. A comment "# edit:" marks numbers that a person must
// check. A call that was repeated after failures is written once. Draft fails if the solution
// does not repeat the actions of the episode.
func Draft(task Task, given map[string]json.RawMessage, did []Done) ([]byte, error) {
	if task.Each != "" {
		return nil, fmt.Errorf("task %s works on items one by one; write its solution by hand, for one item", task.ID)
	}
	d := &drafter{task: task, said: plain(task.Request), leaves: map[string][]leaf{}, names: map[string]bool{}, used: map[string]bool{}}
	d.steps.Kind = yaml.SequenceNode
	for _, in := range slices.Sorted(maps.Keys(given)) {
		d.names[in] = true
		if v, err := expression.Decode(given[in]); err == nil {
			d.learn(in, in, "", v)
		}
	}
	did = solved(did)
	for _, a := range did {
		d.step(a)
	}
	for i, name := range d.as {
		if d.used[name] {
			yamlfile.Add(d.steps.Content[i], "as", yamlfile.Word(name), "")
		}
	}
	for i, a := range did {
		if a.Result.Code != "" {
			yamlfile.Add(d.steps.Content[i], "on_error", yamlfile.Sequence(yaml.FlowStyle), "")
		}
	}
	entry := yamlfile.Mapping(0)
	yamlfile.Add(entry, task.ID, &d.steps, "")
	text, err := yamlfile.Write(entry)
	if err != nil {
		return nil, err
	}
	text = []byte("  " + strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "\n", "\n  ") + "\n")
	return text, d.check(text, given, did)
}

// solved removes the calls that a solution does not make: those that were refused because of
// their arguments, and those that failed and were repeated.
func solved(did []Done) (out []Done) {
	for i, a := range did {
		again := func(later Done) bool {
			return later.Action.Kind == Call && callKey(later.Action.Tool, later.Action.Args) == callKey(a.Action.Tool, a.Action.Args)
		}
		switch code := a.Result.Code; {
		case code != "" && slices.Contains([]string{"E_ARGS", "E_BUDGET", "E_CIRCUIT_OPEN", "E_UNKNOWN_TOOL", "E_IGNORED"}, code):
		case code != "" && slices.ContainsFunc(did[i+1:], again):
		default:
			out = append(out, a)
		}
	}
	return out
}

// drafter writes the steps of one solution.
type drafter struct {
	task   Task
	said   string // the request
	leaves map[string][]leaf
	count  int
	names  map[string]bool
	used   map[string]bool
	steps  yaml.Node
	as     []string // the name that each step's result would have
}

// leaf is a scalar in a value: name is the name of that value, path the expression for the
// scalar, key its field.
type leaf struct{ name, path, key string }

// learn stores every scalar of the value at path.
func (d *drafter) learn(name, path, key string, v any) {
	if d.count++; d.count > maxLeaves {
		return
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			d.learn(name, fmt.Sprintf("%s[%d]", path, i), key, item)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			at := path + "." + k
			if !namePattern.MatchString(k) {
				at = fmt.Sprintf("%s[%q]", path, k)
			}
			d.learn(name, at, k, v[k])
		}
	default:
		text := string(expression.AppendJSON(nil, v))
		d.leaves[text] = append(d.leaves[text], leaf{name, path, key})
	}
}

// find returns the expression for a value if it is in exactly one place. A single character must
// also be in a field of the same name, because it may occur by chance.
func (d *drafter) find(v any, key string) (path string, ok bool) {
	text := string(expression.AppendJSON(nil, v))
	word := strings.Trim(text, `"`)
	if _, isBool := v.(bool); isBool || v == nil || mentions(d.said, word) {
		return "", false
	}
	all := d.leaves[text]
	same := slices.DeleteFunc(slices.Clone(all), func(l leaf) bool { return l.key != key })
	if len(same) == 1 || len(word) < 2 {
		all = same
	}
	if len(all) != 1 {
		return "", false
	}
	d.used[all[0].name] = true
	return all[0].path, true
}

// step writes one action.
func (d *drafter) step(a Done) {
	st := yamlfile.Mapping(0)
	name := ""
	switch a.Action.Kind {
	case Call:
		yamlfile.Add(st, "call", yamlfile.Word(a.Action.Tool), "")
		if args, err := expression.Decode(a.Action.Args); err == nil && len(args.(map[string]any)) > 0 {
			yamlfile.Add(st, "args", d.node(args, ""), "")
		}
		name = d.fresh(a.Action.Tool)
		if v, err := expression.Decode(a.Result.Value); err == nil && a.Result.Code == "" {
			d.learn(name, name, "", v)
		}
	case Ask:
		yamlfile.Add(st, "ask", yamlfile.QuotedNode(literal(a.Action.Text)), "")
		name = d.fresh("reply")
		d.learn(name, name, "", a.Reply)
	case Answer:
		d.answer(st, a.Action)
	default:
		yamlfile.Add(st, "give_up", yamlfile.QuotedNode(literal(a.Action.Text)), "")
	}
	d.steps.Content, d.as = append(d.steps.Content, st), append(d.as, name)
}

var notInName = lazyregexp.New(`[^A-Za-z0-9_]+`)

// fresh returns an unused name.
func (d *drafter) fresh(base string) string {
	base = notInName.ReplaceAllString(base, "_")
	if probe, err := expression.Compile(base, []string{base}); err != nil || len(probe.Names()) != 1 || !namePattern.MatchString(base) || base == itemName || base == errorName {
		base = "r_" + base[:min(len(base), 40)]
	}
	name := base
	for n := 2; d.names[name]; n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	d.names[name] = true
	return name
}

// node writes a value, with expressions for the parts that are in results.
func (d *drafter) node(v any, key string) *yaml.Node {
	switch v := v.(type) {
	case map[string]any:
		out := yamlfile.Mapping(yaml.FlowStyle)
		for _, k := range slices.Sorted(maps.Keys(v)) {
			yamlfile.Add(out, k, d.node(v[k], k), "")
		}
		return out
	case []any:
		out := yamlfile.Sequence(yaml.FlowStyle)
		for _, item := range v {
			out.Content = append(out.Content, d.node(item, key))
		}
		return out
	}
	if path, ok := d.find(v, key); ok {
		return yamlfile.QuotedNode("{{" + path + "}}")
	}
	if s, ok := v.(string); ok {
		return yamlfile.QuotedNode(literal(s))
	}
	return yamlfile.Node(json.RawMessage(expression.AppendJSON(nil, v)))
}

// literal escapes a text so that it has no expressions.
func literal(text string) string { return strings.ReplaceAll(text, "{{", `{{"{{"}}`) }

var (
	number = lazyregexp.New(`[0-9]+(?:\.[0-9]+)?`)
	// joinedBefore and joinedAfter match the neighbours of digits that are part of a date or a
	// name.
	joinedBefore = lazyregexp.New(`(?:[\pL_0-9-]|[0-9][.,:/])$`)
	joinedAfter  = lazyregexp.New(`^(?:[\pL_0-9]|[-.,:/][0-9])`)
)

// isSeparate reports whether the bytes from at[0] to at[1] of a text are a complete number or
// word.
func isSeparate(text string, at []int) bool {
	return !joinedAfter.MatchString(text[at[1]:]) && !joinedBefore.MatchString(text[max(at[0]-2, 0):at[0]])
}

// mentions reports whether a text contains a complete word.
func mentions(text, word string) bool {
	for from := 0; word != ""; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			break
		}
		if at := []int{from + i, from + i + len(word)}; isSeparate(text, at) {
			return true
		}
		from += i + len(word)
	}
	return false
}

// answer writes the answer, with expressions for its numbers.
func (d *drafter) answer(st *yaml.Node, a Action) {
	var out strings.Builder
	var edits []string
	from := 0
	text := a.Text
	if a.Value != nil {
		text = "Here is the answer."
	}
	for _, at := range number.FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		if !isSeparate(text, at) || mentions(d.said, word) {
			continue
		}
		out.WriteString(literal(text[from:at[0]]))
		from = at[1]
		path, ok := d.number(word)
		switch {
		case ok:
			out.WriteString("{{" + path + "}}")
		default:
			edits = append(edits, path)
			out.WriteString(word)
		}
	}
	out.WriteString(literal(text[from:]))
	if len(edits) > 0 {
		st.HeadComment = "# edit: " + strings.Join(edits, "; ")
	}
	yamlfile.Add(st, "answer", yamlfile.QuotedNode(out.String()), "")
	if v, err := expression.Decode(a.Value); a.Value != nil && err == nil {
		yamlfile.Add(st, "value", d.node(v, ""), "")
	}
}

// number returns the expression for a number of the answer, or false if a person must check it.
func (d *drafter) number(word string) (path string, ok bool) {
	places := d.leaves[word]
	switch {
	case len(places) == 0:
		return word + " is in no result: compute it from those that are", false
	case len(places) > 1:
		return fmt.Sprintf("%s is in %d results, such as %s and %s", word, len(places), places[0].path, places[1].path), false
	}
	d.used[places[0].name] = true
	return places[0].path, true
}

// check follows the draft with the results of the episode and compares the actions.
func (d *drafter) check(entry []byte, given map[string]json.RawMessage, did []Done) error {
	r := newReader(File, []Task{d.task})
	r.text(slices.Concat([]byte("playbook:\n"), entry))
	if err := r.found.Join(); err != nil {
		return err
	}
	s := Seen{Given: given}
	for _, a := range did {
		got, err := r.book.plays[0].Next(s)
		if err != nil {
			return err
		}
		want := a.Action
		if got[0].Kind != want.Kind || want.Kind == Call && callKey(got[0].Tool, got[0].Args) != callKey(want.Tool, want.Args) || want.Value == nil && got[0].Text != want.Text {
			return fmt.Errorf("the draft of task %s does not do what the episode did: %s %s%s instead of %s %s%s; write it by hand", d.task.ID, got[0].Kind, got[0].Tool, got[0].Args, want.Kind, want.Tool, want.Args)
		}
		switch want.Kind {
		case Call:
			a.Result.Tool, a.Result.Args = want.Tool, want.Args
			for range defaultRetry + 1 {
				s.Results = append(s.Results, a.Result)
				if a.Result.Code == "" {
					break
				}
			}
		case Ask:
			s.Replies = append(s.Replies, a.Reply)
		}
	}
	return nil
}

// Add returns the text of a playbook with an entry that Draft wrote. It does not change other
// entries. From an empty text it makes a playbook.
func Add(text, entry []byte) ([]byte, error) {
	if len(text) == 0 {
		return slices.Concat([]byte("playbook:\n"), entry), nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	refused := errors.New("its solutions are written in a way that cannot be added to; add this one yourself")
	if len(doc.Content) == 0 {
		return nil, refused
	}
	root, at := doc.Content[0], 0
	for root.Kind == yaml.MappingNode && at < len(root.Content) && root.Content[at].Value != "playbook" {
		at += 2
	}
	if root.Style&yaml.FlowStyle != 0 || at+1 >= len(root.Content) {
		return nil, refused
	}
	plays := root.Content[at+1]
	if plays.Kind != yaml.MappingNode || plays.Style&yaml.FlowStyle != 0 || len(plays.Content) == 0 {
		return nil, refused
	}
	lines := strings.SplitAfter(string(text), "\n")
	end := len(lines)
	if at+2 < len(root.Content) { // before the next key and its comments
		for end = root.Content[at+2].Line - 1; end > 0 && (strings.TrimSpace(lines[end-1]) == "" || lines[end-1][0] == '#'); end-- {
		}
	}
	indent := strings.Repeat(" ", plays.Content[0].Column-1)
	added := indent + strings.ReplaceAll(strings.TrimPrefix(strings.TrimSuffix(string(entry), "\n"), "  "), "\n  ", "\n"+indent) + "\n"
	if before := strings.Join(lines[:end], ""); !strings.HasSuffix(before, "\n") {
		added = "\n" + added
	}
	if strings.Contains(string(text), "\r\n") {
		added = strings.ReplaceAll(added, "\n", "\r\n")
	}
	return []byte(strings.Join(slices.Insert(lines, end, added), "")), nil
}
