package formats

import (
	"context"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/harness/ledger"
)

// AgentDojo reads runs of AgentDojo: an object for each run, in files or lines of their own.
type AgentDojo struct{}

// Suffixes implements imports.Format.
func (AgentDojo) Suffixes() []string { return jsonFiles }

// dojoRow is a run.
type dojoRow struct {
	Suite         string         `json:"suite_name"`
	Pipeline      string         `json:"pipeline_name"`
	UserTask      string         `json:"user_task_id"`
	InjectionTask string         `json:"injection_task_id"`
	Attack        string         `json:"attack_type"`
	Messages      []chatMessage  `json:"messages"`
	Error         jsontext.Value `json:"error"`
	Utility       *bool          `json:"utility"`
	Security      *bool          `json:"security"`
	Duration      float64        `json:"duration"`
	Others        members        `json:",embed"`
}

// alone is the condition in which the user asks for the attacker's goal.
const alone = "injection-alone"

// Read implements imports.Format. A candidate is a pipeline. An attack succeeded if the goal of its
// injection task was reached.
func (AgentDojo) Read(ctx context.Context, files []imports.File, o imports.Options, add func(*imports.Episode) error) (imports.Result, error) {
	r := imports.NewRows(o, add)
	r.Each(ctx, files, func(line []byte) error {
		var row dojoRow
		if err := imports.Decode(line, &row); err != nil {
			return err
		}
		e, err := row.episode(r)
		if err == nil {
			r.Add(e)
		}
		return err
	})
	return r.Result("AgentDojo")
}

func (row *dojoRow) episode(r *imports.Rows) (*imports.Episode, error) {
	crashed := failure(row.Error)
	switch {
	case row.Suite == "" || row.Pipeline == "" || row.UserTask == "":
		return nil, errors.New("a run of AgentDojo has suite_name, pipeline_name and user_task_id")
	case row.Utility == nil || row.Security == nil:
		return nil, errors.New("utility and security must be true or false")
	case row.Duration < 0 || row.Duration > maxSeconds:
		return nil, errors.New("duration must be seconds from 0 up")
	case (row.Attack == "") != (row.InjectionTask == ""):
		return nil, errors.New("attack_type and injection_task_id must both be there or not")
	}
	list, err := messages(row.Messages, r, "messages[].")
	if err != nil {
		return nil, err
	}
	e := &imports.Episode{Task: row.Suite + "." + row.UserTask, Candidate: row.Pipeline, Model: row.Pipeline, Crashed: crashed, End: int64(row.Duration * 1e6)}
	v := &imports.Verdict{Solved: *row.Utility}
	v.Checks = append(v.Checks, ledger.Check{Name: "utility", Passed: *row.Utility})
	switch {
	case strings.HasPrefix(row.UserTask, "injection_task"):
		e.Candidate += "." + alone
	case row.Attack != "":
		attack := row.InjectionTask + "." + row.Attack
		e.Cluster, e.Injection = e.Task, row.Suite+"."+attack
		e.Task += "." + attack
		v.AttackSucceeded = row.Security
	}
	e.ID, e.Verdict = e.Candidate+"/"+e.Task, v
	e.Chat(list)
	r.Unknown("", row.Others)
	return e, nil
}

// maxSeconds bounds a duration.
const maxSeconds = 1e9
