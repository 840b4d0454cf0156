package formats

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/go-json-experiment/json/jsontext"
	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/regular"
)

// Messages reads conversations as JSON lines or an array, in which a mapping says where a row has what.
type Messages struct{}

// Suffixes implements imports.Format.
func (Messages) Suffixes() []string { return jsonFiles }

// mapping names the members of a row; a dot leads into a member. An empty name is not read.
type mapping struct {
	ID        string `yaml:"id"`
	Messages  string `yaml:"messages"`
	Task      string `yaml:"task"`
	Candidate string `yaml:"candidate"`
	Trial     string `yaml:"trial"`
	Provider  string `yaml:"provider"`
	Model     string `yaml:"model"`
	Cluster   string `yaml:"cluster"`
	// Solved is true or false, or a number that is at least Min.
	Solved  string   `yaml:"solved"`
	Min     *float64 `yaml:"min"`
	Crashed string   `yaml:"crashed"`
	Failed  string   `yaml:"failed"`
	Harm    string   `yaml:"harm"`
	// Injection names the attack, whose task without attack is Cluster.
	Injection       string `yaml:"injection"`
	AttackSucceeded string `yaml:"attack_succeeded"`
	// Seconds is the duration, CostUSD the cost, In and Out are the tokens.
	Seconds string `yaml:"seconds"`
	CostUSD string `yaml:"cost_usd"`
	In      string `yaml:"tokens_in"`
	Out     string `yaml:"tokens_out"`
}

// plain is the mapping without a file.
var plain = mapping{ID: "id", Messages: "messages", Task: "task", Candidate: "candidate", Trial: "trial", Model: "model", Solved: "solved", Crashed: "crashed"}

// readMapping reads a mapping file.
func readMapping(path string) (m mapping, err error) {
	if path == "" {
		return plain, nil
	}
	text, err := regular.ReadFile(path)
	if err == nil {
		dec := yaml.NewDecoder(bytes.NewReader(text))
		dec.KnownFields(true)
		if err = dec.Decode(&m); errors.Is(err, io.EOF) {
			err = errors.New("empty")
		}
	}
	if err == nil && m.Messages == "" {
		m.Messages = plain.Messages
	}
	if err != nil {
		return m, fmt.Errorf("mapping %s: %w", path, err)
	}
	return m, nil
}

// Read implements imports.Format.
func (Messages) Read(ctx context.Context, files []imports.File, o imports.Options, add func(*imports.Episode) error) (imports.Result, error) {
	m, err := readMapping(o.Map)
	if err != nil {
		return imports.Result{}, err
	}
	r := imports.NewRows(o, add)
	r.Each(ctx, files, func(line []byte) error {
		row := mapped{}
		if err := imports.Decode(line, &row.members); err != nil {
			return err
		}
		e, err := m.episode(&row, r)
		if err == nil {
			r.Add(e)
		}
		return err
	})
	return r.Result("messages")
}

// mapped is a row, of which members are taken by their names.
type mapped struct {
	members members
	err     error
}

// take removes the member of a dotted name and returns it; nil if there is none. What else is in the
// objects on the way keeps its name, with dots.
func (row *mapped) take(name string) jsontext.Value {
	if name == "" {
		return nil
	}
	for i, c := range name {
		if c != '.' {
			continue
		}
		outer := row.members[name[:i]]
		var inner members
		if outer.Kind() != '{' || imports.Decode(outer, &inner) != nil {
			continue
		}
		delete(row.members, name[:i])
		for k, v := range inner {
			row.members[name[:i+1]+k] = v
		}
	}
	v := row.members[name]
	delete(row.members, name)
	if v.Kind() == 'n' {
		return nil
	}
	return v
}

// text takes a member as text.
func (row *mapped) text(name string) string { return scalar(row.take(name)) }

// number takes a member as a number from 0 to limit; nil if there is none.
func (row *mapped) number(name string, limit float64) *float64 {
	v := row.take(name)
	if v == nil {
		return nil
	}
	var n float64
	if imports.Decode(v, &n) != nil || n < 0 || n > limit {
		row.err = errors.Join(row.err, fmt.Errorf("%s is %.40s, must be a number from 0 to %v", name, v, limit))
		return nil
	}
	return &n
}

// whole takes a member as a whole number.
func (row *mapped) whole(name string) *int64 {
	n := row.number(name, 1<<53)
	if n == nil {
		return nil
	}
	return new(int64(math.Round(*n)))
}

// yes takes a member as true or false, or as a number that is at least least.
func (row *mapped) yes(name string, least *float64) *bool {
	v := row.take(name)
	switch v.Kind() {
	case 0:
		return nil
	case 't', 'f':
		return new(v.Kind() == 't')
	case '0':
		var n float64
		if least != nil && imports.Decode(v, &n) == nil {
			return new(n >= *least)
		}
		row.err = errors.Join(row.err, fmt.Errorf("%s is the number %.40s; a mapping with min says from which one on it is solved", name, v))
		return nil
	}
	row.err = errors.Join(row.err, fmt.Errorf("%s is %.40s, must be true or false, or a number", name, v))
	return nil
}

func (m *mapping) episode(row *mapped, r *imports.Rows) (*imports.Episode, error) {
	var list []chatMessage
	v := row.take(m.Messages)
	if v == nil {
		return nil, fmt.Errorf("the row has no member %.60q with messages", m.Messages)
	}
	if err := imports.Decode(v, &list); err != nil {
		return nil, fmt.Errorf("%s%w", m.Messages, err)
	}
	said, err := messages(list, r, m.Messages+"[].")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Messages, err)
	}
	e := &imports.Episode{
		ID: row.text(m.ID), Task: row.text(m.Task), Candidate: row.text(m.Candidate), Provider: row.text(m.Provider), Model: row.text(m.Model),
		Cluster: row.text(m.Cluster), Injection: row.text(m.Injection), Crashed: failure(row.take(m.Crashed)), Failed: failure(row.take(m.Failed)),
	}
	e.Candidate = cmp.Or(e.Candidate, e.Model)
	e.In, e.Out = row.whole(m.In), row.whole(m.Out)
	if n := row.number(m.Trial, maxTrial); n != nil {
		e.Trial = int(*n)
	}
	if n := row.number(m.Seconds, maxSeconds); n != nil {
		e.End = int64(*n * 1e6)
	}
	if n := row.number(m.CostUSD, 1e6); n != nil {
		e.CostNanoUSD = new(int64(math.Round(*n * 1e9)))
	}
	if solved := row.yes(m.Solved, m.Min); solved != nil {
		e.Verdict = &imports.Verdict{Solved: *solved, Checks: []ledger.Check{{Name: m.Solved, Passed: *solved}}}
	}
	if harm := row.yes(m.Harm, nil); harm != nil && e.Verdict != nil {
		e.Verdict.Harm = harm
		if *harm {
			e.Verdict.HarmReason = m.Harm
		}
	}
	if attacked := row.yes(m.AttackSucceeded, nil); e.Verdict != nil {
		e.Verdict.AttackSucceeded = attacked
	}
	if row.err != nil {
		return nil, row.err
	}
	e.Chat(said)
	r.Unknown("", row.members)
	return e, nil
}
