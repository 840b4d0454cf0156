package imports_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cupel-eval/cupel/harness/imports"
)

// answers is a format of JSON lines with a question, an answer and a verdict.
type answers struct{}

func (answers) Suffixes() []string { return []string{".jsonl"} }

func (answers) Read(ctx context.Context, files []imports.File, o imports.Options, add func(*imports.Episode) error) (imports.Result, error) {
	r := imports.NewRows(o, add)
	r.Each(ctx, files, func(line []byte) error {
		var row struct {
			Question, Answer string
			Right            bool
		}
		if err := imports.Decode(line, &row); err != nil {
			return err
		}
		e := &imports.Episode{ID: row.Question, Candidate: "mine", Verdict: &imports.Verdict{Solved: row.Right}}
		e.Chat([]imports.Message{{Role: imports.RoleUser, Text: row.Question}, {Role: imports.RoleAssistant, Text: row.Answer}})
		r.Add(e)
		return nil
	})
	return r.Result("answers 1")
}

// A program registers a format of its own in cmd.App.Importers; Write is what the verb import does.
func ExampleFormat() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "answers.jsonl")
	err = os.WriteFile(path, []byte(`{"Question": "2+2?", "Answer": "4", "Right": true}
{"Question": "3+3?", "Answer": "7", "Right": false}
`), 0o600)
	if err != nil {
		panic(err)
	}
	files, err := imports.Files([]string{dir}, answers{}.Suffixes())
	if err != nil {
		panic(err)
	}
	target := imports.Target{Runs: filepath.Join(dir, "runs"), Format: "answers", Files: files}
	_, m, _, err := imports.Write(target, func(add func(*imports.Episode) error) (imports.Result, error) {
		return answers{}.Read(context.Background(), files, imports.Options{}, add)
	})
	fmt.Println(m.Mode, m.Outcomes.Solved, m.Outcomes.Failed, err)
	// Output: imported 1 1 <nil>
}
