// Package formats reads the results of other harnesses, each of which is a Format of package imports:
// tau-bench, AgentDojo, promptfoo, Inspect, and messages as JSON lines with a mapping.
package formats

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/harness/ledger"
)

// members are the fields of an object that a format does not read.
type members map[string]jsontext.Value

// jsonFiles are the suffixes of JSON.
var jsonFiles = []string{".json", ".jsonl", ".ndjson", ".gz"}

// TauBench reads results of tau-bench: arrays or lines of conversations with their rewards.
type TauBench struct{}

// Suffixes implements imports.Format.
func (TauBench) Suffixes() []string { return jsonFiles }

// tauRow is a conversation.
type tauRow struct {
	TaskID *jsontext.Value `json:"task_id"`
	Trial  int             `json:"trial"`
	Reward *float64        `json:"reward"`
	Traj   []chatMessage   `json:"traj"`
	Info   struct {
		RewardInfo *struct {
			Info struct {
				StateReward   *float64 `json:"r_actions"`
				OutputsReward *float64 `json:"r_outputs"`
				Others        members  `json:",embed"`
			} `json:"info"`
			Others members `json:",embed"`
		} `json:"reward_info"`
		Error     string  `json:"error"`
		Traceback string  `json:"traceback"`
		Others    members `json:",embed"`
	} `json:"info"`
	Others members `json:",embed"`
}

// Read implements imports.Format. A candidate is a file, because its rows do not name the model.
func (TauBench) Read(ctx context.Context, files []imports.File, o imports.Options, add func(*imports.Episode) error) (imports.Result, error) {
	r := imports.NewRows(o, add)
	for _, f := range files {
		candidate := stem(f.Source.Name)
		r.Each(ctx, []imports.File{f}, func(line []byte) error {
			var row tauRow
			if err := imports.Decode(line, &row); err != nil {
				return err
			}
			e, err := row.episode(r)
			if err != nil {
				return err
			}
			e.Candidate = candidate
			r.Add(e)
			return nil
		})
	}
	return r.Result("tau-bench")
}

func (row *tauRow) episode(r *imports.Rows) (*imports.Episode, error) {
	if row.TaskID == nil || row.Reward == nil {
		return nil, errors.New("a conversation of tau-bench has task_id, reward and traj")
	}
	id := scalar(*row.TaskID)
	if row.Trial < 0 || row.Trial > maxTrial {
		return nil, fmt.Errorf("trial is %d, must be 0 to %d", row.Trial, maxTrial)
	}
	list, err := messages(row.Traj, r, "traj[].")
	if err != nil {
		return nil, err
	}
	e := &imports.Episode{ID: id + "/" + strconv.Itoa(row.Trial), Task: "task-" + padded(id), Trial: row.Trial + 1, Model: "unknown"}
	e.Chat(list)
	e.Verdict = &imports.Verdict{Solved: *row.Reward >= 1-1e-6} // as tau-bench does
	check := func(name string, reward *float64) {
		if reward != nil {
			e.Verdict.Checks = append(e.Verdict.Checks, ledger.Check{Name: name, Passed: *reward >= 1-1e-6, Detail: fmt.Sprintf("reward %v", *reward)})
		}
	}
	check("reward", row.Reward)
	switch info := row.Info.RewardInfo; {
	case row.Info.Error != "":
		e.Crashed = row.Info.Error
	case info == nil:
		e.Failed = "the conversation was cut off: it has no reward_info"
	default:
		check("r_actions", info.Info.StateReward)
		check("r_outputs", info.Info.OutputsReward)
		r.Unknown("info.reward_info.", info.Others)
		r.Unknown("info.reward_info.info.", info.Info.Others)
	}
	r.Unknown("info.", row.Info.Others)
	r.Unknown("", row.Others)
	return e, nil
}
