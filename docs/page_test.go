//go:build unix

package docs_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// page is what a page shows to a reader who types it.
type page struct {
	name, text string
	steps      []step
	executed   int      // blocks of commands
	exempt     []string // blocks of commands that are not executed, with their reasons
}

// step is one command, or one file that a block shows, or output.
type step struct {
	line int
	// text is the command, the content of the file, or the output.
	text string
	// file is the file that the text becomes; add says that it is added to the file.
	file string
	add  bool
	// exit is the exit code that the page claims.
	exit int
	// address is where the command answers, which runs in the background.
	address string
	// block numbers the blocks, so that output is compared with that of the block before.
	block  int
	output bool
}

var (
	fence      = regexp.MustCompile("^( *)```+ *([a-z]*)\\s*$")
	marker     = regexp.MustCompile(`(?s)^<!-- (file|add to|background|output|not executed|setup)(?:: *(.*?))?\s*-->$`)
	exitCode   = regexp.MustCompile(`\s# exit (\d+)(?:[:,.;].*)?$`)
	lineMarker = "\x01"
)

// parse finds the steps of a page.
func parse(name, text string) (*page, error) {
	p := &page{name: name, text: text}
	lines := strings.Split(text, "\n")
	kind, value := "", "" // of the marker above
	block := 0
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		at := func(format string, args ...any) error {
			return fmt.Errorf("%s:%d: %s", name, i+1, fmt.Sprintf(format, args...))
		}
		switch m := fence.FindStringSubmatch(lines[i]); {
		case strings.HasPrefix(line, "<!--"):
			start := i
			for !strings.HasSuffix(line, "-->") {
				if i++; i == len(lines) {
					return nil, fmt.Errorf("%s:%d: the comment has no end", name, start+1)
				}
				line += "\n" + strings.TrimRight(lines[i], " \t")
			}
			found := marker.FindStringSubmatch(line)
			switch {
			case kind != "":
				return nil, at("no block follows the marker %q", kind)
			case found == nil:
				continue // a comment about something else
			case (found[2] == "") != (found[1] == "output"):
				return nil, at("write <!-- output --> without a value and all other markers with one")
			case found[1] == "setup":
				block++
				if err := p.commands(found[2], start, block); err != nil {
					return nil, err
				}
			default:
				kind, value = found[1], found[2]
			}
		case m != nil:
			start, indent, language, end := i, m[1], m[2], strings.Repeat("`", strings.Count(lines[i], "`"))
			var body strings.Builder
			for i++; i < len(lines) && strings.TrimSpace(lines[i]) != end; i++ {
				body.WriteString(strings.TrimPrefix(lines[i], indent) + "\n")
			}
			if i == len(lines) {
				return nil, fmt.Errorf("%s:%d: the block has no end", name, start+1)
			}
			runs := language == "sh" || language == "bash" || language == "console" || language == "shell"
			if kind != "output" {
				block++
			}
			switch {
			case kind == "not executed" && runs:
				p.exempt = append(p.exempt, fmt.Sprintf("%s:%d: %s", name, start+1, value))
			case kind == "not executed":
				return nil, at("the block has no commands: no need to exempt it")
			case kind == "file" || kind == "add to":
				p.steps = append(p.steps, step{line: start + 1, text: body.String(), file: value, add: kind == "add to", block: block})
			case kind == "output":
				p.steps = append(p.steps, step{line: start + 1, text: body.String(), output: true, block: block})
			case language == "" && strings.HasPrefix(body.String(), "cupel "):
				return nil, fmt.Errorf("%s:%d: a block of commands begins with ```sh", name, start+1)
			case runs:
				p.executed++
				var err error
				first := len(p.steps)
				if language == "console" {
					err = p.console(body.String(), start+1, block)
				} else {
					err = p.commands(body.String(), start+1, block)
				}
				if kind == "background" && err == nil && len(p.steps) != first+1 {
					err = at("the block must have one command: it runs in the background")
				}
				if err != nil {
					return nil, err
				}
				if kind == "background" {
					p.steps[first].address = value
				}
			}
			kind, value = "", ""
		case kind != "" && line != "":
			return nil, at("no block follows the marker %q", kind)
		}
	}
	if kind != "" {
		return nil, fmt.Errorf("%s: no block follows the marker %q", name, kind)
	}
	return p, nil
}

// commands adds the commands of a block, which starts after a line.
func (p *page) commands(text string, line, block int) error {
	command, start := "", 0
	for l := range strings.Lines(text) {
		line++
		if trimmed := strings.TrimSpace(l); command == "" {
			if trimmed == "" || strings.HasPrefix(trimmed, "#") {
				continue
			}
			start = line
		}
		if command += l; !isWhole(command) {
			continue
		}
		s := step{line: start, text: strings.TrimRight(command, "\n"), block: block}
		if m := exitCode.FindStringSubmatch(s.text); m != nil {
			s.exit, _ = strconv.Atoi(m[1])
		}
		p.steps = append(p.steps, s)
		command = ""
	}
	if command != "" {
		return fmt.Errorf("%s:%d: the command has no end: %s", p.name, start, command)
	}
	return nil
}

// isWhole says whether bash would run the lines, rather than wait for another.
func isWhole(command string) bool {
	if strings.HasSuffix(strings.TrimRight(command, "\n"), "\\") {
		return false
	}
	check := exec.Command("bash", "-n")
	check.Stdin = strings.NewReader(command)
	out, err := check.CombinedOutput()
	return err == nil && len(out) == 0 // of a here-document without an end it only warns
}

// console adds the commands of a block that shows their output, too.
func (p *page) console(text string, line, block int) error {
	var commands, output strings.Builder
	for l := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(l, "$ "); ok {
			commands.WriteString(command)
			continue
		}
		commands.WriteString("\n") // keeps the numbers of the lines
		output.WriteString(l)
	}
	if err := p.commands(commands.String(), line, block); err != nil {
		return err
	}
	p.steps = append(p.steps, step{line: line, text: output.String(), output: true, block: block})
	return nil
}

// script is a program of bash that carries out the steps and stops at the first that does not
// exit as the page claims. Files to write are in a folder as block-N.
func (p *page) script(folder string) string {
	var b strings.Builder
	b.WriteString("trap 'for job in $(jobs -p); do kill -- -$job; done 2>/dev/null' EXIT\nexec </dev/null\n")
	for i, s := range p.steps {
		fmt.Fprintf(&b, "printf '\\n%s%d\\n'\n", lineMarker, i)
		from := shellQuote(fmt.Sprintf("%s/block-%d", folder, i))
		switch {
		case s.output:
			continue
		case s.add:
			fmt.Fprintf(&b, "add-yaml %s %s\n", shellQuote(s.file), from)
		case s.file != "":
			fmt.Fprintf(&b, "mkdir -p \"$(dirname %[1]s)\" && cp %[2]s %[1]s\n", shellQuote(s.file), from)
		case s.address != "":
			answers := "(exec 3<>/dev/tcp/" + strings.ReplaceAll(s.address, ":", "/") + ") 2>/dev/null"
			fmt.Fprintf(&b, "for try in {1..300}; do %s || break; sleep 0.1; done # until other programs free the address\n", answers)
			fmt.Fprintf(&b, "set -m\n{ %s && echo 'another program has this address' || %s\n} &\nset +m\n", answers, s.text)
			fmt.Fprintf(&b, "for try in {1..200}; do %s && break; sleep 0.1; done; kill -0 $!\n", answers)
		default:
			b.WriteString(s.text + "\n")
		}
		fmt.Fprintf(&b, "code=$?; [ $code -eq %d ] || { printf '\\n%sexit %%s\\n' $code; exit 0; }\n", s.exit, lineMarker)
	}
	fmt.Fprintf(&b, "printf '\\n%send\\n'\n", lineMarker)
	return b.String()
}

func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// judge says what of the session's log is not as the page claims.
func (p *page) judge(log string, err error) error {
	printed := map[int]string{} // by block
	ended := false
	at, last := 0, ""
	for i, part := range strings.Split(log, "\n"+lineMarker) {
		head, text, _ := strings.Cut(part, "\n")
		code, failed := strings.CutPrefix(head, "exit ")
		switch {
		case i == 0:
		case failed:
			s := p.steps[at]
			return fmt.Errorf("%s:%d: exit code %s, and the page claims %d: %s\n%s", p.name, s.line, code, s.exit, s.text, tail(last))
		case head == "end":
			ended = true
		default:
			at, _ = strconv.Atoi(head)
			last = text
			printed[p.steps[at].block] += text
		}
	}
	if !ended || err != nil {
		return fmt.Errorf("%s:%d: the session ended (%w) at: %s\n%s", p.name, p.steps[at].line, err, p.steps[at].text, tail(last))
	}
	for _, s := range p.steps {
		if !s.output {
			continue
		}
		if missing, ok := shows(printed[s.block], s.text); !ok {
			return fmt.Errorf("%s:%d: the commands do not print %q, they print\n%s", p.name, s.line, missing, printed[s.block])
		}
	}
	return nil
}

// shows says whether a text has the wanted lines in their order, and otherwise which it lacks.
// In a wanted line, … stands for any text; as a line, for any lines.
func shows(text, wanted string) (missing string, ok bool) {
	have := strings.Split(text, "\n")
	for want := range strings.Lines(wanted) {
		if strings.TrimSpace(want) == "…" {
			continue // any lines may be between
		}
		parts := strings.Split(strings.TrimRight(want, " \n"), "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		like := regexp.MustCompile("^" + strings.Join(parts, ".*") + "$")
		for len(have) > 0 && !like.MatchString(strings.TrimRight(have[0], " \r")) {
			have = have[1:]
		}
		if len(have) == 0 {
			return want, false
		}
		have = have[1:]
	}
	return "", true
}

// tail returns the end of a long text.
func tail(text string) string {
	const most = 3000
	if len(text) > most {
		return "[…] " + text[len(text)-most:]
	}
	return text
}

// What is wrong on a page is found.
func TestWrongPagesAreFound(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	block := func(language, text string) string { return "```" + language + "\n" + text + "\n```\n" }
	s := newSite(t)
	for name, c := range map[string]struct{ page, wrong string }{
		"all is well": {
			page: "<!-- file: a/b.txt -->\n" + block("", "one\ntwo") + block("sh", "cat a/b.txt # shows it\n# a comment\nfalse  # exit 1: as claimed\nx=$(cat <<E\n3\nE\n)\necho \\\n  $x") +
				"<!-- output -->\n\n" + block("", "one\n…\nt…o\n3") + "<!-- setup:\ncd a\nexport Y=5\n-->\n" + block("console", "$ ls\nb.txt\n$ echo $Y\n5") +
				"<!-- not executed: why -->\n" + block("bash", "exit 7"),
		},
		"YAML is added":    {page: "<!-- file: a -->\n" + block("", "l: [1]\nm: {p: 1}") + "<!-- add to: a -->\n" + block("yaml", "l: [2]\nm: {o: 2}") + block("console", "$ cat a\nl:\n    - 1\n    - 2\nm:\n    o: 2\n    p: 1")},
		"another code":     {page: block("sh", "true\ncupel gate latest --runs none  # exit 10, rejected"), wrong: "p.md:3: exit code 2, and the page claims 10: cupel gate"},
		"no code claimed":  {page: block("sh", "cupel nonsense"), wrong: "exit code 2, and the page claims 0: cupel nonsense"},
		"no file":          {page: block("sh", "cat < suites/mine"), wrong: "exit code 1"},
		"later in a block": {page: block("sh", "false\ntrue"), wrong: "p.md:2: exit code 1"},
		"ends the session": {page: block("sh", "exit 0"), wrong: "p.md:2: the session ended"},
		"other output":     {page: block("console", "$ echo a; echo b\nb\na"), wrong: `do not print "a\n"`},
		"output elsewhere": {page: block("sh", "echo a") + block("sh", "echo b") + "<!-- output -->\n" + block("", "a"), wrong: `do not print "a\n"`},
		"no block":         {page: "<!-- file: a -->\ntext\n", wrong: `p.md:2: no block follows the marker "file"`},
		"no block at all":  {page: "<!-- file: a -->\n", wrong: `no block follows the marker "file"`},
		"two markers":      {page: "<!-- file: a -->\n<!-- output -->\n" + block("", "a"), wrong: `p.md:2: no block follows the marker "file"`},
		"a server":         {page: "<!-- background: 127.0.0.1:8179 -->\n" + block("sh", "cupel sim --addr 127.0.0.1:8179 # a comment") + block("sh", "curl -fsS http://127.0.0.1:8179/v1/models")},
		"a lost server":    {page: "<!-- background: 127.0.0.1:8179 -->\n" + block("sh", "cupel simulate"), wrong: "p.md:3: exit code 1"},
		"two servers":      {page: "<!-- background: 127.0.0.1:8179 -->\n" + block("sh", "cupel sim\ncupel sim"), wrong: "the block must have one command"},
		"no language":      {page: block("", "cupel run"), wrong: "p.md:1: a block of commands begins with ```sh"},
		"no reason":        {page: "<!-- not executed -->\n" + block("sh", "a"), wrong: "with one"},
		"nothing exempt":   {page: "<!-- not executed: x -->\n" + block("yaml", "a"), wrong: "p.md:4: the block has no commands"},
		"open command":     {page: block("sh", "echo 'a"), wrong: "p.md:2: the command has no end"},
		"open block":       {page: "```sh\ntrue\n", wrong: "p.md:1: the block has no end"},
		"open comment":     {page: "<!-- file: a\n", wrong: "p.md:1: the comment has no end"},
		"no server":        {page: block("sh", "curl -fsS http://127.0.0.1:8181/v1/models"), wrong: "p.md:2: exit code 7"},
		"no network":       {page: block("sh", "curl -fsS https://example.com/"), wrong: "p.md:2: exit code"},
		"a page of GitHub": {page: block("sh", "curl -fsSLO https://raw.githubusercontent.com/cupel-eval/cupel/main/docs/ci/nightly.sh\ntest -s nightly.sh")},
		"a lost page":      {page: block("sh", "curl -fsSLO https://raw.githubusercontent.com/cupel-eval/cupel/main/docs/ci/daily.sh"), wrong: "p.md:2: exit code"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := parse("p.md", c.page)
			if err == nil {
				err = s.run(t, p)
			}
			if c.wrong == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.wrong)
		})
	}
}
