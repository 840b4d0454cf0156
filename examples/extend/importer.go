package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"strconv"

	"github.com/cupel-eval/cupel/harness/imports"
)

// tickets is a format for the verb import: a table of questions, answers and verdicts.
type tickets struct{}

// Suffixes implements imports.Format.
func (tickets) Suffixes() []string { return []string{".csv"} }

// Read implements imports.Format. The columns are question, answer, agent and solved.
func (tickets) Read(ctx context.Context, files []imports.File, o imports.Options, add func(*imports.Episode) error) (imports.Result, error) {
	r := imports.NewRows(o, add)
	r.Files(ctx, files, func(in *bufio.Reader) error {
		table := csv.NewReader(in)
		table.FieldsPerRecord = 4
		for {
			row, err := table.Read()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			line, _ := table.FieldPos(0)
			err = r.Row(ctx, ":"+strconv.Itoa(line), func() error {
				solved, err := strconv.ParseBool(row[3])
				if err != nil {
					return errors.New("solved must be true or false")
				}
				e := &imports.Episode{ID: row[0], Candidate: row[2], Verdict: &imports.Verdict{Solved: solved}}
				e.Chat([]imports.Message{{Role: imports.RoleUser, Text: row[0]}, {Role: imports.RoleAssistant, Text: row[1]}})
				r.Add(e)
				return nil
			})
			if err != nil {
				return err
			}
		}
	})
	return r.Result("tickets")
}
