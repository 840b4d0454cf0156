package draft

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// newSuite is the suite.yaml of a folder that has none.
func (a *adding) newSuite() ([]byte, error) {
	doc := yamlfile.Fields(0, "name", yamlfile.Name(folderName(a.path)), "candidates", filled(sequence(a.Candidates, candidateNode)),
		"tasks", yamlfile.Sequence(0, yamlfile.Word("tasks/*.yaml")))
	doc.Content[0].HeadComment = "# Begun by cupel suite add; cupel suite lint checks it."
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
func candidateNode(c goldens.Candidate) *yaml.Node {
	var all yaml.Node
	if all.Encode(c) != nil {
		return yamlfile.Plain("null") // what is loaded encodes; a draft that reads back otherwise is refused
	}
	out := yamlfile.Mapping(yaml.FlowStyle)
	for i := 0; i < len(all.Content); i += 2 {
		if v := all.Content[i+1]; v.Kind == yaml.ScalarNode && v.Value != "" && v.Value != "false" && v.Value != "null" || len(v.Content) > 0 {
			out.Content = append(out.Content, all.Content[i], v)
		}
	}
	return out
}

// toolNode writes a tool of the world.
func toolNode(s tool.Spec, a goldens.Approval, fixed json.RawMessage) *yaml.Node {
	approve := yamlfile.Given(yamlfile.Name(a))
	if a == goldens.ApproveAlways {
		approve = nil
	}
	var never any
	if fixed != nil {
		never = yamlfile.Name("never")
	}
	return yamlfile.Fields(yaml.FlowStyle, "name", yamlfile.Name(s.Name), "description", s.Description, "repeatable", yamlfile.Given(s.Repeatable),
		"uncacheable", yamlfile.Given(s.Uncacheable), "hint", yamlfile.Given(s.Hint), "run", never, "result", fixed, "approve", approve, "schema", s.Schema)
}

// Tools writes tools as the field tools of a suite.yaml.
func Tools(specs []tool.Spec) ([]byte, error) {
	list := yamlfile.Sequence(0)
	for _, s := range specs {
		list.Content = append(list.Content, yamlfile.Fields(0, "name", yamlfile.Name(s.Name), "description", s.Description, "schema", s.Schema))
	}
	return yamlfile.Write(yamlfile.Fields(0, "tools", list))
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
	root, list, next := topLevel(text, key)
	if root == nil || list == nil && root.Style&yaml.FlowStyle != 0 || list != nil && list.Kind != yaml.SequenceNode {
		return nil, errShape
	}
	eol, lines := "\n", splitLines(string(text))
	if bytes.Contains(text, []byte("\r\n")) {
		eol = "\r\n"
	}
	end, indent, before := len(lines), "  ", key+":"+eol
	switch {
	case list == nil:
	case list.Style&yaml.FlowStyle != 0:
		line, at := &lines[list.Line-1], 0
		for range list.Column - 1 {
			_, size := utf8.DecodeRuneInString((*line)[at:])
			at += size
		}
		if !strings.HasPrefix((*line)[at:], "[") {
			return nil, errShape
		}
		if len(list.Content) > 0 {
			item += ", "
		}
		*line = (*line)[:at+1] + item + (*line)[at+1:]
		return []byte(strings.Join(lines, "")), nil
	default:
		first := lines[list.Content[0].Line-1]
		bare := strings.TrimLeft(first, " ")
		if !strings.HasPrefix(bare, "- ") {
			return nil, errShape
		}
		if next > 0 {
			end = next - 1
		}
		for end > 0 && (strings.TrimSpace(lines[end-1]) == "" || lines[end-1][0] == '#') {
			end--
		}
		indent, before = strings.TrimSuffix(first, bare), ""
	}
	if end > 0 && !strings.HasSuffix(lines[end-1], "\n") {
		before = eol + before
	}
	return []byte(strings.Join(slices.Insert(lines, end, before+indent+"- "+item+eol), "")), nil
}

// splitLines splits a text into lines with their ends, as the YAML reader counts them.
func splitLines(text string) (lines []string) {
	from := 0
	for _, m := range yamlfile.YamlBreak.FindAllStringIndex(text, -1) {
		lines = append(lines, text[from:m[1]])
		from = m[1]
	}
	if from < len(text) {
		lines = append(lines, text[from:])
	}
	return lines
}
