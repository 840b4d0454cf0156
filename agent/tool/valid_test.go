package tool

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A repeated call gets the same judgement. Only valid calls are kept, and their number
// and length are bounded.
func TestValidCallsAreBounded(t *testing.T) {
	s, err := NewSet([]Spec{
		{Name: "f", Schema: json.RawMessage(`{"properties":{"n":{"type":"integer"},"s":{"type":"string"}},"additionalProperties":false}`)},
		{Name: "g", Schema: json.RawMessage(`{"maxProperties":0}`)},
	})
	require.NoError(t, err)
	call := func(name, args string) Call { return Call{Name: name, Args: json.RawMessage(args)} }
	for range 2 {
		require.Empty(t, s.Validate(call("f", `{"n":1}`)))
		require.Equal(t, []string{"args:maxProperties"}, s.Validate(call("g", `{"n":1}`)), "valid for another tool")
		require.Equal(t, []string{"args.n:type"}, s.Validate(call("f", `{"n":"1"}`)))
		require.Empty(t, s.Validate(call("f", `{"s":"`+strings.Repeat("x", maxValidArgs)+`"}`)))
	}
	require.Equal(t, 1, s.valid.count)
	for i := range maxValid + 10 {
		require.Empty(t, s.Validate(call("f", `{"n":`+strconv.Itoa(i)+`}`)))
	}
	require.Equal(t, maxValid, s.valid.count)
	require.Len(t, s.valid.calls["f"], maxValid)
	require.Empty(t, s.Validate(call("f", `{"n":-1}`)))
	require.Equal(t, []string{"args.n:type"}, s.Validate(call("f", `{"n":-1.5}`)))
}

// Sets are shared by the episodes of a run.
func TestValidCallsAreShared(t *testing.T) {
	s, err := NewSet([]Spec{{Name: "f", Schema: json.RawMessage(`{"properties":{"n":{"type":"integer"}}}`)}})
	require.NoError(t, err)
	done := make(chan []string)
	for k := range 4 {
		go func() {
			for i := range 200 {
				if faults := s.Validate(Call{Name: "f", Args: json.RawMessage(`{"n":` + strconv.Itoa(i+k) + `}`)}); faults != nil {
					done <- faults
					return
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		require.Empty(t, <-done)
	}
}
