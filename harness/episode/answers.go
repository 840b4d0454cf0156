package episode

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/sealed"
)

// answersFile is where a run folder keeps what its human said.
const answersFile = "replies.yaml"

// SaveAnswers writes the file, unless the run asked no questions.
func SaveAnswers(dir string, list []Answers) error {
	if len(list) == 0 {
		return nil
	}
	err := sealed.Write(filepath.Join(dir, answersFile), func(w io.Writer) error { return WriteAnswers(w, list) })
	if err != nil {
		return fmt.Errorf("write answers: %w", err)
	}
	return nil
}

// maxAnswers bounds the file, in bytes, where it is read again.
const maxAnswers = 64 << 20

// ReadAnswers reads the file of SaveAnswers. It returns nothing if there is no file.
func ReadAnswers(dir string) ([]Answers, error) {
	text, err := sealed.Read(filepath.Join(dir, answersFile), maxAnswers)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var entries []answersEntry
	if err == nil {
		err = yaml.Unmarshal(text, &entries)
	}
	if err != nil {
		return nil, fmt.Errorf("read answers: %w", err)
	}
	var list []Answers
	for _, e := range entries {
		a := Answers{Task: e.Task, Candidate: e.Candidate, Trial: e.Trial, Replies: e.Replies}
		for _, word := range e.Approvals {
			a.Approvals = append(a.Approvals, word == approveWord)
		}
		list = append(list, a)
	}
	return list, nil
}

// CopyAnswers takes the answers of other runs over into a run folder, in ledger
// order.
func CopyAnswers(to string, from ...string) error {
	var all []Answers
	for _, dir := range from {
		list, err := ReadAnswers(dir)
		if err != nil {
			return err
		}
		all = append(all, list...)
	}
	slices.SortStableFunc(all, func(a, b Answers) int { return a.key().Compare(b.key()) })
	return SaveAnswers(to, all)
}

func (a Answers) key() ledger.Key {
	return ledger.Key{TaskID: a.Task, Candidate: a.Candidate, Trial: int32(a.Trial)}
}

// answersEntry is an item of the file.
type answersEntry struct {
	Task      string   `yaml:"task"`
	Candidate string   `yaml:"candidate"`
	Trial     int      `yaml:"trial"`
	Replies   []string `yaml:"replies,omitempty"`
	Approvals []string `yaml:"approvals,omitempty,flow"`
}

const approveWord = "approve"

// WriteAnswers writes what the human of a run said as YAML whose replies and
// approvals are the approvals of a task. With them in the suite, a replay asks no questions.
func WriteAnswers(w io.Writer, list []Answers) error {
	var entries []answersEntry
	for _, a := range list {
		e := answersEntry{Task: a.Task, Candidate: a.Candidate, Trial: a.Trial, Replies: a.Replies}
		for _, approved := range a.Approvals {
			word := "deny"
			if approved {
				word = approveWord
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
