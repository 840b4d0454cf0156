package text

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "github.com/go-json-experiment/json/v1"

	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/model"
)

// JSON writes the report as indented JSON with the field names documented on
// Report, followed by a newline; docs/schema/report.json is its schema. It writes
// as it goes: a large run's report.json is larger than all else of it.
func JSON(w io.Writer, r model.Report) error {
	return writeJSON(w, "JSON", r, json.FormatNilSliceAsNull(false)) // a null is unknown
}

// CompareJSON writes a comparison as indented JSON with the field names documented
// on compare.Comparison, followed by a newline.
func CompareJSON(w io.Writer, c compare.Comparison) error {
	return writeJSON(w, "comparison as JSON", c)
}

func writeJSON(w io.Writer, what string, v any, options ...json.Options) error {
	err := json.MarshalWrite(w, v, v1.DefaultOptionsV1(), jsontext.WithIndent("  "), json.JoinOptions(options...))
	if err == nil {
		_, err = io.WriteString(w, "\n")
	}
	if err != nil {
		return fmt.Errorf("reports: %s: %w", what, err)
	}
	return nil
}
