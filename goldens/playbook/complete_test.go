package playbook_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/playbook"
)

func TestCompleteJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}`:                        `{"a":1}`,
		`{"a":1,"b":"xy…`:                `{"a":1}`,
		`{"a":12…`:                       `{}`, // the number can continue
		`{"a":[{"id":"x"},{"id":"y…`:     `{"a":[{"id":"x"},{}]}`,
		`{"a":[{"id":"x"},{"id":"y"},{…`: `{"a":[{"id":"x"},{"id":"y"}]}`,
		`[1,2,3…`:                        `[1,2]`,
		`{"a":{"b":[true,nu…`:            `{"a":{"b":[]}}`,
		`"abc…`:                          "",
		``:                               "",
		`oops`:                           "",
	} {
		got, ok := playbook.CompleteJSON(text)
		require.Equal(t, want != "", ok, text)
		if ok {
			require.JSONEq(t, want, got, text)
		}
	}
}

// FuzzCompleteJSON checks that every prefix of a JSON value is repaired to JSON or
// refused.
func FuzzCompleteJSON(f *testing.F) {
	f.Add(`{"a":[{"id":"x","n":1.5},{"id":"y"}],"b":null,"c":{"d":[[],{}]}}`, 20)
	f.Fuzz(func(t *testing.T, text string, at int) {
		if got, ok := playbook.CompleteJSON(text[:min(max(at, 0), len(text))] + "…"); ok {
			require.True(t, json.Valid([]byte(got)), got)
		}
	})
}
