package goldens

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSchemaOfExpect checks the fields and words of the schema against those that
// outcomes are read by.
func TestSchemaOfExpect(t *testing.T) {
	var doc struct {
		Defs map[string]struct {
			Properties map[string]struct {
				Enum       []any
				Properties map[string]any
			}
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(Schema(), &doc))
	expect := doc.Defs["expect"].Properties
	require.ElementsMatch(t, expectFields, slices.Collect(maps.Keys(expect)))
	require.ElementsMatch(t, signalNames(), slices.Collect(maps.Keys(doc.Defs["signals"].Properties)))
	require.ElementsMatch(t, AtMostFields, slices.Collect(maps.Keys(expect["at_most"].Properties)))
	for words, enum := range map[*[]string][]any{&expectStatuses: expect["status"].Enum, &stopReasons: expect["stop_reason"].Enum, &orders: expect["order"].Enum} {
		var want []any
		for _, w := range *words {
			want = append(want, w)
		}
		require.ElementsMatch(t, want, slices.DeleteFunc(enum, func(v any) bool { return v == nil }))
	}
}
