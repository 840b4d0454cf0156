package suiteimport

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const bfclHelp = `Reads the questions of the Berkeley Function Calling Leaderboard: the categories simple,
multiple_function, parallel_function, parallel_multiple_function and relevance, as
CATEGORY.jsonl with the accepted answers in ground_truth, or as upstream's
gorilla_openfunctions_v1_test_CATEGORY.json with the folder possible_answer. Files may
have gzip.

Each question is a task with functions of its own, which are judged and not run. The rules
of the leaderboard decide. Details: docs/functions.md.`

// bfclCategories are the categories in the order of the suite. The others run functions, or are
// in other languages than Python.
var bfclCategories = []string{"simple", "multiple_function", "parallel_function", "parallel_multiple_function", "relevance"}

const (
	bfclNoCall   = "relevance"
	bfclUpstream = "gorilla_openfunctions_v1_test_"
)

// bfclRow is a question.
type bfclRow struct {
	ID       string          `json:"id"`
	Question jsontext.Value  `json:"question"`
	Function jsontext.Value  `json:"function"`
	Accepted *jsontext.Value `json:"ground_truth"`
	Others   members         `json:",embed"`
}

func readBFCL(from source) (*suite, error) {
	s := newSuite()
	var tasks, provenance strings.Builder
	var errs []error
	for _, category := range bfclCategories {
		name := from.find(category+".jsonl", bfclUpstream+category+".json")
		if name == "" {
			s.leftOut["category "+category+": file not found"]++
			continue
		}
		text, err := from.content(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprintf(&provenance, "#   %s, sha256 %s\n", name, digest(text))
		answers := map[string]jsontext.Value{}
		if path := from.find("possible_answer/" + bfclUpstream + category + ".json"); path != "" && strings.HasPrefix(name, bfclUpstream) {
			errs = append(errs, s.answers(from, path, answers))
			fmt.Fprintf(&provenance, "#   %s\n", path)
		}
		var out bytes.Buffer
		errs = append(errs, lines(name, text, func(line []byte) error { return s.question(line, category, answers, &out) }))
		for range answers { // which no question has taken
			s.leftOut["accepted answer of a question that there is not"]++
		}
		s.files[category+".jsonl"] = out.Bytes()
		accepted := `"{ground_truth}"`
		if category == bfclNoCall {
			accepted = "[]"
		}
		fmt.Fprintf(&tasks, "  - {from: %[1]s.jsonl, id: \"{id}\", tags: [%[1]s], request: \"{question}\", functions: \"{function}\", expect: {status: answered, bfcl: %[2]s}}\n", category, accepted)
	}
	if len(s.files) == 0 {
		return nil, fmt.Errorf("no file of BFCL; its names are such as %s.jsonl or %s%s.json", bfclCategories[0], bfclUpstream, bfclCategories[0])
	}
	s.files["suite.yaml"] = []byte(`# Written by "cupel suite import bfcl" from:
` + provenance.String() + `# The data are those of the Berkeley Function Calling Leaderboard (Apache-2.0),
# https://github.com/ShishirPatil/gorilla. docs/functions.md says how answers are judged.
name: bfcl
title: Berkeley Function Calling Leaderboard
candidates:
  - {name: mine, agent: tools, provider: openai, model: gpt-5-mini}
tasks:
` + tasks.String())
	errs = append(errs, s.licence(from))
	return s, errors.Join(errs...)
}

// answers reads a file of accepted answers, by the ids of their questions.
func (s *suite) answers(from source, name string, into map[string]jsontext.Value) error {
	text, err := from.content(name)
	if err != nil {
		return err
	}
	return lines(name, text, func(line []byte) error {
		var row bfclRow
		if err := decode(line, &row); err != nil {
			return err
		}
		if row.ID == "" || row.Accepted == nil {
			return errors.New("must have an id and ground_truth")
		}
		if _, twice := into[row.ID]; twice {
			return fmt.Errorf("id %s has an accepted answer already", quote(row.ID))
		}
		into[row.ID] = *row.Accepted
		s.unknown(row.Others)
		return nil
	})
}

// question writes a question as a row of the suite.
func (s *suite) question(line []byte, category string, answers map[string]jsontext.Value, out *bytes.Buffer) error {
	var row bfclRow
	if err := decode(line, &row); err != nil {
		return err
	}
	if answer, ok := answers[row.ID]; ok && row.Accepted == nil {
		row.Accepted = &answer
		delete(answers, row.ID)
	}
	id, _ := json.Marshal(row.ID) // a string encodes
	switch {
	case row.ID == "":
		return errors.New("must have an id")
	case row.Question.Kind() != '"':
		return fmt.Errorf("id %s: question must be a text; conversations of several turns cannot be imported", quote(row.ID))
	case row.Function.Kind() != '{' && row.Function.Kind() != '[':
		return fmt.Errorf("id %s: function must be a declaration, or a list of them", quote(row.ID))
	case (row.Accepted == nil) != (category == bfclNoCall):
		return fmt.Errorf("id %s: a question of %s must %s ground_truth", quote(row.ID), category, map[bool]string{true: "not have", false: "have"}[category == bfclNoCall])
	}
	s.unknown(row.Others)
	fmt.Fprintf(out, `{"id": %s, "question": %s, "function": %s`, id, row.Question, row.Function)
	if row.Accepted != nil {
		fmt.Fprintf(out, `, "ground_truth": %s`, *row.Accepted)
	}
	out.WriteString("}\n")
	return nil
}
