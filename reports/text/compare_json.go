package text

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "github.com/go-json-experiment/json/v1"

	"github.com/cupel-eval/cupel/reports/compare"
)

// CompareJSON writes a comparison as indented JSON with the field names documented
// on compare.Comparison, followed by a newline.
func CompareJSON(w io.Writer, c compare.Comparison) error {
	if err := json.MarshalWrite(w, c, v1.DefaultOptionsV1(), jsontext.WithIndent("  ")); err != nil {
		return fmt.Errorf("reports: comparison as JSON: %w", err)
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return fmt.Errorf("reports: comparison as JSON: %w", err)
	}
	return nil
}
