package draft

import (
	"bytes"
	"errors"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// newSuite is the suite.yaml of a folder that has none.
func (a *adding) newSuite() ([]byte, error) {
	doc := yamlfile.Mapping(0)
	yamlfile.Add(doc, "name", yamlfile.Word(folderName(a.path)), "# Begun by cupel suite add; cupel suite lint checks it.")
	if len(a.Candidates) > 0 {
		list := yamlfile.Sequence(0)
		for _, c := range a.Candidates {
			node, err := candidateNode(c)
			if err != nil {
				return nil, err
			}
			list.Content = append(list.Content, node)
		}
		yamlfile.Add(doc, "candidates", list, "")
	}
	yamlfile.Add(doc, "tasks", yamlfile.Sequence(0, yamlfile.Word("tasks/*.yaml")), "")
	return yamlfile.Write(doc)
}

var notInName = regexp.MustCompile(`[^a-z0-9_-]+`)

// folderName makes a suite's name of its folder's.
func folderName(folder string) string {
	name := strings.Trim(notInName.ReplaceAllString(strings.ToLower(path.Base(strings.ReplaceAll(folder, `\`, "/"))), "-"), "-")
	if name == "" || yamlfile.LowerName.Fault(name) != "" {
		return "suite"
	}
	return name
}

// candidateNode writes what a candidate says.
func candidateNode(c goldens.Candidate) (*yaml.Node, error) {
	var all yaml.Node
	if err := all.Encode(c); err != nil {
		return nil, err
	}
	out := yamlfile.Mapping(yaml.FlowStyle)
	for i := 0; i < len(all.Content); i += 2 {
		if v := all.Content[i+1]; v.Kind == yaml.ScalarNode && v.Value != "" && v.Value != "false" && v.Value != "null" || len(v.Content) > 0 {
			out.Content = append(out.Content, all.Content[i], v)
		}
	}
	return out, nil
}

// toolNode writes a tool of the world.
func toolNode(s tool.Spec, a goldens.Approval) *yaml.Node {
	approve := yamlfile.Given(yamlfile.Name(a))
	if a == goldens.ApproveAlways {
		approve = nil
	}
	return yamlfile.Fields(yaml.FlowStyle, "name", yamlfile.Name(s.Name), "description", s.Description, "repeatable", yamlfile.Given(s.Repeatable),
		"uncacheable", yamlfile.Given(s.Uncacheable), "approve", approve, "schema", s.Schema)
}

// taskPatterns are the task files that suite.yaml names.
func taskPatterns(text []byte) (out []string) {
	_, list, _ := topLevel(text, "tasks")
	if list == nil {
		return nil
	}
	for _, n := range list.Content {
		if n.Kind == yaml.ScalarNode {
			out = append(out, n.Value)
		}
	}
	return out
}

// topLevel finds a list of a document's mapping, and the line of what follows it,
// 0 at the end of the document.
func topLevel(text []byte, key string) (root, list *yaml.Node, next int) {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return nil, nil, 0
	}
	root = doc.Content[0]
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != key {
			continue
		}
		if i+2 < len(root.Content) {
			next = root.Content[i+2].Line
		}
		return root, root.Content[i+1], next
	}
	return root, nil, 0
}

var errShape = errors.New("its lists are written in a way that cannot be added to")

// insertItem adds an item, a line of YAML, to a list of suite.yaml and leaves every
// other byte alone: to the end of a list in lines, to the beginning of one in
// brackets. A list that is not there is appended.
func insertItem(text []byte, key, item string) ([]byte, error) {
	eol := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		eol = "\r\n"
	}
	root, list, next := topLevel(text, key)
	starts := lineStarts(text)
	switch {
	case root == nil || list == nil && root.Style&yaml.FlowStyle != 0:
		return nil, errShape
	case list == nil:
		return splice(text, len(text), eol, key+":"+eol+"  - "+item+eol), nil
	case list.Kind != yaml.SequenceNode:
		return nil, errShape
	case list.Style&yaml.FlowStyle != 0:
		at := column(text[starts[list.Line-1]:], list.Column) + starts[list.Line-1]
		if at >= len(text) || text[at] != '[' {
			return nil, errShape
		}
		if len(list.Content) > 0 {
			item += ", "
		}
		return splice(text, at+1, "", item), nil
	}
	first := text[starts[list.Content[0].Line-1]:]
	indent := first[:len(first)-len(bytes.TrimLeft(first, " "))]
	if !bytes.HasPrefix(first[len(indent):], []byte("- ")) {
		return nil, errShape
	}
	end := len(starts) // the line after the last of the list, counted from 0
	if next > 0 {
		end = next - 1
	}
	for end > 0 {
		line := text[starts[end-1]:]
		if end < len(starts) {
			line = text[starts[end-1]:starts[end]]
		}
		if len(bytes.TrimSpace(line)) > 0 && line[0] != '#' {
			break
		}
		end--
	}
	at := len(text)
	if end < len(starts) {
		at = starts[end]
	}
	return splice(text, at, eol, string(indent)+"- "+item+eol), nil
}

// splice puts a text in at a place; one in lines begins on a line of its own.
func splice(text []byte, at int, eol, in string) []byte {
	if eol != "" && at > 0 && text[at-1] != '\n' {
		in = eol + in
	}
	return append(append(append([]byte(nil), text[:at]...), in...), text[at:]...)
}

// lineStarts are the offsets of the lines as the YAML reader counts them.
func lineStarts(text []byte) []int {
	starts := []int{0}
	for _, m := range yamlfile.YamlBreak.FindAllIndex(text, -1) {
		starts = append(starts, m[1])
	}
	return starts
}

// column is the offset of the n-th character of a line, from 1.
func column(line []byte, n int) int {
	at := 0
	for ; n > 1 && at < len(line); n-- {
		_, size := utf8.DecodeRune(line[at:])
		at += size
	}
	return at
}
