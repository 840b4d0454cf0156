package reports

import (
	"encoding/json"
	"fmt"
	"io"
)

// JSON writes the report as indented JSON with the field names documented on
// Report, followed by a newline.
func JSON(w io.Writer, r Report) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("reports: JSON: %w", err)
	}
	return nil
}
