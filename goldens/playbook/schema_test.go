package playbook

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The schema has the same fields of steps as the reader.
func TestSchemaHasTheFieldsOfTheReader(t *testing.T) {
	var doc struct {
		Defs map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(Schema(), &doc))
	for _, fields := range stepFields {
		var named []string
		for name := range doc.Defs[fields[0]].Properties {
			named = append(named, name)
		}
		require.ElementsMatch(t, slices.Clone(fields), named)
	}
}
