package anthropic

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// A request that writes itself gives the bytes of encoding/json, whatever field is
// set, a new one included.
func TestAppendJSONIsEncodingJSON(t *testing.T) {
	temperature := 0.2
	plain := request{Model: "m\"1", MaxTokens: 7, System: "s\n", Temperature: &temperature, Messages: []message{{Role: "user", Content: "ü\u2028<b>"}, {Role: "assistant", Content: ""}}}
	bare := plain
	bare.Temperature = nil
	tiny, small := plain, 1e-9
	tiny.Temperature = &small
	cases := map[string]request{"plain": plain, "bare": bare, "tiny": tiny, "empty": {}}
	for i := range reflect.TypeFor[request]().NumField() {
		for name, base := range map[string]request{"with ": plain, "only ": {}} {
			fill(reflect.ValueOf(&base).Elem().Field(i))
			cases[name+reflect.TypeFor[request]().Field(i).Name] = base
		}
	}
	parts := plain
	parts.Messages = []message{{Role: "user", Content: []any{part{Type: "text", Text: "x"}}}}
	cases["parts"] = parts
	for name, r := range cases {
		t.Run(name, func(t *testing.T) {
			var want bytes.Buffer
			enc := json.NewEncoder(&want)
			enc.SetEscapeHTML(false)
			require.NoError(t, enc.Encode(r))
			got, ok := r.AppendJSON(nil)
			if name == "plain" || name == "bare" {
				require.True(t, ok)
			}
			if ok {
				require.Equal(t, want.String(), string(got)+"\n")
			}
		})
	}
}

// fill sets a field to something.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int:
		v.SetInt(3)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte("{}"))
		} else if v.Type() == reflect.TypeFor[[]json.RawMessage]() {
			v.Index(0).SetBytes([]byte("{}"))
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf([]int{1}))
	default:
		panic("no value for " + v.Type().String())
	}
}
