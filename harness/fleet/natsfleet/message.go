package natsfleet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// runKey is the key of the run in progress.
const runKey = "run"

// announcement is the run in progress. It has no more of the manifest than its digests and names.
type announcement struct {
	Manifest manifest.Manifest `json:"manifest"`
	Lanes    []string          `json:"lanes"`
	Lease    time.Duration     `json:"lease"`
	Attempts int               `json:"attempts"`
	// Build is that of fleet.CoordinateOptions.
	Build string `json:"build,omitempty"`
}

// workMessage is a unit to execute.
type workMessage struct {
	fleet.Unit
	Done [][]byte `json:"done,omitempty"`
}

// storedMessage takes the place of a message that is too large for the queue: the data of the unit
// has it.
type storedMessage struct {
	Stored *blob `json:"stored,omitempty"`
}

// doneMessage is the result of a unit.
type doneMessage struct {
	Worker string        `json:"worker"`
	Rows   [][]byte      `json:"rows"`
	Days   manifest.Days `json:"days,omitzero"`
	// Cassettes are the recorded ones, by path.
	Cassettes map[string]blob `json:"cassettes,omitempty"`
	// Deliveries is how many workers began the unit. Resumed and Repeated are as in fleet.RunStatus.
	Deliveries uint64 `json:"deliveries"`
	Resumed    int    `json:"resumed,omitempty"`
	Repeated   int    `json:"repeated,omitempty"`
}

// token identifies a unit in subjects.
func token(episodes []string) string {
	sum := sha256.Sum256([]byte(strings.Join(episodes, "\n")))
	return hex.EncodeToString(sum[:16])
}

func (q *queue) workSubject(run, lane, token string) string {
	return fmt.Sprintf("%s.%s.%s.%s", q.stream("work"), run, lane, token)
}

func (q *queue) doneSubject(run, token string) string {
	return fmt.Sprintf("%s.%s.%s", q.stream("done"), run, token)
}

// logSubject is that of the messages which say that a worker began a unit, or handed it back.
func (q *queue) logSubject(run, token, what string) string {
	return fmt.Sprintf("%s.%s.%s.%s", q.stream("log"), run, token, what)
}

// dataSubject is that of the journals (j) or cassettes (c) of a unit, or of all its data.
func (q *queue) dataSubject(run, token, rest string) string {
	return fmt.Sprintf("%s.%s.%s.%s", q.stream("data"), run, token, rest)
}

// laneConsumer is the name of the consumer of a lane's units, doneConsumer that of a run's results.
func laneConsumer(run string, lane int) string { return fmt.Sprintf("%s-%d", run, lane) }

func encodeUnit(u fleet.Unit) ([]byte, error) {
	done, err := encodeRows(u.Done)
	if err != nil {
		return nil, err
	}
	return json.Marshal(workMessage{u, done})
}

func decodeUnit(data []byte) (fleet.Unit, error) {
	var m workMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return m.Unit, err
	}
	if len(m.Episodes) == 0 {
		return m.Unit, errors.New("the unit has no episode")
	}
	var err error
	m.Unit.Done, err = decodeRows(m.Done)
	return m.Unit, err
}

func encodeRows(list []ledger.EpisodeRows) (out [][]byte, err error) {
	for _, rows := range list {
		data, err := rows.MarshalBinary()
		if err != nil {
			return nil, err
		}
		out = append(out, data)
	}
	return out, nil
}

func decodeRows(list [][]byte) (out []ledger.EpisodeRows, err error) {
	for _, data := range list {
		var rows ledger.EpisodeRows
		if err := rows.UnmarshalBinary(data); err != nil {
			return nil, err
		}
		out = append(out, rows)
	}
	return out, nil
}

// isThere reports whether a message was refused because its subject has one.
func isThere(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == 10077 && strings.Contains(api.Description, "per subject")
}
