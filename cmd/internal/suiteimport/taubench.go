package suiteimport

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/internal/child"
)

const tauHelp = `Reads a domain of tau-bench: the folder tau_bench/envs/airline or tau_bench/envs/retail
of a checkout, with data, tools, tasks_test.py and wiki.md; or a folder with data,
tools.json, tasks.jsonl, wiki.md and a world of its own in score.py.

The suite has a copy of these files. Its world is a process that runs their Python code,
as this verb does to compute the goal states, so import only what you trust. It needs
python3 and no package. The policy is the constraints of each task, the customer is
played by a model, and the final state decides, with what the agent must say. The
reference solutions become the playbook. Details: docs/published.md.`

//go:embed taubench/*.py
var tauPrograms embed.FS

// tauTimeout bounds the program that computes the goal states.
const tauTimeout = 5 * time.Minute

// tauDomain is what the program of the world prints of a domain.
type tauDomain struct {
	Tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"schema"`
	} `json:"tools"`
	Tasks []tauTask `json:"tasks"`
}

type tauTask struct {
	ID          json.RawMessage `json:"id"`
	UserID      string          `json:"user_id"`
	Instruction string          `json:"instruction"`
	Actions     []struct {
		Name   string          `json:"name"`
		Kwargs json.RawMessage `json:"kwargs"`
	} `json:"actions"`
	Outputs []string `json:"outputs"`
	Hash    string   `json:"hash"`
}

// tauRow is a task as the suite has it.
type tauRow struct {
	ID      string   `json:"id"`
	Request string   `json:"request"`
	Goal    string   `json:"goal"`
	Hash    string   `json:"hash"`
	Says    []string `json:"says,omitempty"`
}

func readTauBench(from source) (*suite, error) {
	s := newSuite()
	policy, err := from.content("wiki.md")
	if err != nil {
		return nil, fmt.Errorf("no policy; name the folder of a domain, such as tau_bench/envs/airline: %w", err)
	}
	dir, err := filepath.Abs(from.dir)
	if err != nil {
		return nil, err
	}
	name := strings.ToLower(filepath.Base(dir))
	if !regexp.MustCompile(`^[a-z][a-z0-9_-]*$`).MatchString(name) {
		name = "domain"
	}
	if err := s.copyTauBench(from, name); err != nil {
		return nil, err
	}
	domain, err := s.exportTauBench(name)
	if err != nil {
		return nil, err
	}
	if err := s.writeTauTasks(domain); err != nil {
		return nil, err
	}
	text, err := s.tauSuite(name, string(policy), domain)
	if err != nil {
		return nil, err
	}
	s.files["suite.yaml"] = text
	return s, s.licence(from)
}

// copyTauBench takes over the files of the domain and the programs, and lists the former with their
// digests: the digest of the suite covers the list.
func (s *suite) copyTauBench(from source, name string) error {
	prepared := from.find("score.py") == "score.py"
	total := 0
	var listed strings.Builder
	err := fs.WalkDir(from.fsys, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		top, _, below := strings.Cut(file, "/")
		if d.IsDir() {
			if file != "." && !below && top != "data" && top != "tools" || d.Name() == "__pycache__" {
				return fs.SkipDir
			}
			return nil
		}
		wanted := below && slices.Contains([]string{".py", ".json"}, path.Ext(file)) || file == "tasks_test.py"
		if prepared {
			wanted = top == "data" || slices.Contains([]string{"score.py", "tools.json", "tasks.jsonl"}, file)
		}
		if !wanted {
			return nil
		}
		text, err := fs.ReadFile(from.fsys, file)
		if total += len(text); total > maxFile {
			return fmt.Errorf("the files are larger than %d MiB together", maxFile>>20)
		}
		s.files[name+"/"+file] = text
		fmt.Fprintf(&listed, "%s  %s/%s\n", digest(text), name, file)
		return err
	})
	if err != nil {
		return err
	}
	s.files[name+".sha256"] = []byte(listed.String())
	for _, program := range []string{"cupel_world.py", "tau_world.py"} {
		if s.files[program], err = tauPrograms.ReadFile("taubench/" + program); err != nil {
			return err
		}
	}
	return nil
}

// exportTauBench runs the program of the world for the tools, the tasks and their goal states.
func (s *suite) exportTauBench(name string) (d tauDomain, err error) {
	dir, err := os.MkdirTemp("", "cupel-tau-")
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := s.writeTo(dir); err != nil {
		return d, err
	}
	out, complaint := &child.Bounded{Max: maxFile}, &child.Tail{Max: 2000}
	args := append(tauCommand(name), "export")
	p, err := child.Start(child.Command{Args: args, Dir: dir, Env: child.Environ(os.LookupEnv), Stdin: strings.NewReader(""), Stdout: out, Stderr: complaint})
	if err != nil {
		return d, fmt.Errorf("start %s: %w", strings.Join(args, " "), err)
	}
	late := time.AfterFunc(tauTimeout, p.Kill)
	p.Wait()
	inTime := late.Stop()
	text, refused := out.Bytes()
	switch {
	case !inTime:
		return d, fmt.Errorf("%s: took more than %v", strings.Join(args, " "), tauTimeout)
	case refused:
		return d, fmt.Errorf("%s: prints more than %d MiB", strings.Join(args, " "), maxFile>>20)
	case !p.State().Success():
		return d, fmt.Errorf("%s: %v: %s", strings.Join(args, " "), p.State(), strings.TrimSpace(complaint.String()))
	}
	if err := decode(text, &d); err != nil {
		return d, fmt.Errorf("%s: its output %w", strings.Join(args, " "), err)
	}
	if len(d.Tools) == 0 || len(d.Tasks) == 0 {
		return d, errors.New("the domain has no tools or no tasks")
	}
	return d, nil
}

func tauCommand(name string) []string {
	return []string{"python3", "-B", "tau_world.py", name + ".sha256"}
}

// writeTauTasks writes the tasks and their reference solutions. Requests must differ, because
// simulated models find a solution by its request.
func (s *suite) writeTauTasks(d tauDomain) error {
	users := map[string]int{}
	for _, t := range d.Tasks {
		users[t.UserID]++
	}
	var plain, says, book bytes.Buffer
	book.WriteString("# The reference solutions of the benchmark.\nplaybook:\n")
	ids := map[string]bool{}
	for _, t := range d.Tasks {
		row := tauRow{ID: "t" + strings.Trim(string(t.ID), `"`), Goal: t.Instruction, Hash: t.Hash, Request: "Hello, I need your help. My user id is " + t.UserID + "."}
		if ids[row.ID] {
			return fmt.Errorf("two tasks have the id %s", quote(row.ID))
		}
		ids[row.ID] = true
		if users[t.UserID] > 1 {
			row.Request += " My case has the number " + strconv.Itoa(len(ids)) + "."
		}
		into := &plain
		if len(t.Outputs) > 0 {
			into = &says
			for _, o := range t.Outputs {
				row.Says = append(row.Says, said(o))
			}
		}
		if err := json.NewEncoder(into).Encode(row); err != nil {
			return err
		}
		key, _ := json.Marshal(row.ID) // a text encodes
		fmt.Fprintf(&book, "  %s:\n", key)
		for _, a := range t.Actions {
			if a.Name == "respond" {
				continue
			}
			called, _ := json.Marshal(a.Name)
			args, err := json.Marshal(a.Kwargs)
			if err != nil {
				return fmt.Errorf("task %s, action %s: %w", quote(row.ID), quote(a.Name), err)
			}
			fmt.Fprintf(&book, "    - {call: %s, args: %s}\n", called, args)
		}
		answer, _ := json.Marshal(strings.TrimSpace("Done. " + strings.Join(t.Outputs, ", "))) // a text encodes
		fmt.Fprintf(&book, "    - {answer: %s}\n", answer)
	}
	for name, text := range map[string]*bytes.Buffer{"tasks.jsonl": &plain, "tasks_says.jsonl": &says, "playbook.yaml": &book} {
		if text.Len() > 0 {
			s.files[name] = text.Bytes()
		}
	}
	return nil
}

// said is the expression that a text of the benchmark is looked for by: upstream ignores case, and
// commas of the answer.
func said(text string) string {
	var b strings.Builder
	b.WriteString("(?i)")
	for i, r := range text {
		if i > 0 {
			b.WriteString(",*")
		}
		b.WriteString(regexp.QuoteMeta(string(r)))
	}
	return b.String()
}

const tauHead = `# Written by "cupel suite import tau-bench". The data, tools and tasks are those of tau-bench,
# https://github.com/sierra-research/tau-bench (MIT, copyright Sierra); %[1]s.sha256 lists them.
# Choose the candidate and the model of the customer: the published tables used gpt-4o for both.
name: tau-bench-%[1]s
title: tau-bench, %[1]s
candidates:
  - {name: gpt-4o, agent: tools, provider: openai, model: gpt-4o, max_iterations: 30}
worlds:
  %[1]s:
    kind: process
    now: 2024-05-15T20:00:00Z
    process: {command: [%[2]s], timeout: 60s}
defaults:
  world: %[1]s
  budgets: {max_steps: 30, max_tool_calls: 30}
  constraints: |2
%[3]stools:
`

const tauTasks = `  - from: %s
    id: "{id}"
    request: "{request}"
    user:
      persona: A customer who writes to the support. Tells only what the current step needs, and invents nothing.
      goal: "{goal}"
      turns: 30
      model: {provider: openai, model: gpt-4o}
    expect: {status: answered, state: [{path: hash, is: "{hash}"}]%s}
    also_accept: [{status: answered_after_clarify}, {status: clarify}]
`

// tauSuite writes suite.yaml.
func (s *suite) tauSuite(name, policy string, d tauDomain) ([]byte, error) {
	var b, indented bytes.Buffer
	for line := range strings.Lines(strings.ReplaceAll(strings.TrimRight(policy, " \r\n")+"\n", "\r\n", "\n")) {
		if line != "\n" {
			indented.WriteString("    ")
		}
		indented.WriteString(line)
	}
	fmt.Fprintf(&b, tauHead, name, strings.Join(tauCommand(name), ", "), indented.String())
	for _, t := range d.Tools {
		line, err := json.Marshal(struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"schema"`
			Repeatable  bool            `json:"repeatable"`
			Uncacheable bool            `json:"uncacheable"`
		}{t.Name, t.Description, t.Schema, true, true})
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", quote(t.Name), err)
		}
		fmt.Fprintf(&b, "  - %s\n", line)
	}
	b.WriteString("tasks:\n")
	for _, part := range [][2]string{{"tasks.jsonl", ""}, {"tasks_says.jsonl", `, matches: "{says}"`}} {
		if s.files[part[0]] != nil {
			fmt.Fprintf(&b, tauTasks, part[0], part[1])
		}
	}
	return b.Bytes(), nil
}
