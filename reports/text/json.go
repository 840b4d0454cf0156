package text

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "github.com/go-json-experiment/json/v1"

	"github.com/cupel-eval/cupel/reports/model"
)

// JSON writes the report as indented JSON with the field names documented on
// Report, followed by a newline; docs/schema/report.json is its schema. It writes
// as it goes: a large run's report.json is larger than all else of it.
func JSON(w io.Writer, r model.Report) error {
	if err := writeJSON(w, r); err != nil {
		return fmt.Errorf("reports: JSON: %w", err)
	}
	return nil
}

// writeJSON writes v as published JSON is written: a null is unknown, and an empty
// list is none.
func writeJSON(w io.Writer, v any) error {
	if err := json.MarshalWrite(w, v, v1.DefaultOptionsV1(), json.FormatNilSliceAsNull(false), jsontext.WithIndent("  ")); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
