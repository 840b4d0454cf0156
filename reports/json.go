package reports

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "github.com/go-json-experiment/json/v1"
)

// JSON writes the report as indented JSON with the field names documented on
// Report, followed by a newline. It writes as it goes: a large run's report.json
// is larger than all else of it.
func JSON(w io.Writer, r Report) error {
	if err := json.MarshalWrite(w, r, v1.DefaultOptionsV1(), jsontext.WithIndent("  ")); err != nil {
		return fmt.Errorf("reports: JSON: %w", err)
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return fmt.Errorf("reports: JSON: %w", err)
	}
	return nil
}
