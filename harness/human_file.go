package harness

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"
)

// answersFile is where a run folder keeps what its human said.
const answersFile = "replies.yaml"

// saveAnswers writes the file; a run that asked nobody has none.
func saveAnswers(dir string, list []Answers) error {
	if len(list) == 0 {
		return nil
	}
	var text bytes.Buffer
	if err := WriteAnswers(&text, list); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, answersFile), text.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write answers: %w", err)
	}
	return nil
}

// WriteAnswers writes what the human of a run said as YAML whose replies and
// approvals are those of a task: with them in the suite, a replay asks nobody.
func WriteAnswers(w io.Writer, list []Answers) error {
	type entry struct {
		Task      string   `yaml:"task"`
		Candidate string   `yaml:"candidate"`
		Trial     int      `yaml:"trial"`
		Replies   []string `yaml:"replies,omitempty"`
		Approvals []string `yaml:"approvals,omitempty,flow"`
	}
	var entries []entry
	for _, a := range list {
		e := entry{Task: a.Task, Candidate: a.Candidate, Trial: a.Trial, Replies: a.Replies}
		for _, approved := range a.Approvals {
			word := "deny"
			if approved {
				word = "approve"
			}
			e.Approvals = append(e.Approvals, word)
		}
		entries = append(entries, e)
	}
	if _, err := io.WriteString(w, "# What the human said. Copy replies and approvals into the tasks, and a replay\n# reproduces this run.\n"); err != nil {
		return fmt.Errorf("write answers: %w", err)
	}
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(entries); err != nil {
		return fmt.Errorf("write answers: %w", err)
	}
	return enc.Close()
}
