package testkit

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// Quote is a text as a JSON string.
func Quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// DecodeFloor is the floor of a benchmark that decodes JSON: encoding/json on the same
// bytes, into a map.
func DecodeFloor(b *testing.B, body []byte) {
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		var v map[string]any
		if err := json.Unmarshal(body, &v); err != nil {
			b.Fatal(err)
		}
	}
}

// EachField makes copies of a struct: in each, one field is set to something. Their keys
// are the fields' names.
func EachField[T any](base T) map[string]T {
	copies := map[string]T{}
	for i := range reflect.TypeFor[T]().NumField() {
		with := base
		fill(reflect.ValueOf(&with).Elem().Field(i))
		copies[reflect.TypeFor[T]().Field(i).Name] = with
	}
	return copies
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

// AppendsJSON holds that a value which writes itself gives the bytes of encoding/json, or
// says that it cannot.
func AppendsJSON(t *testing.T, name string, v interface {
	AppendJSON(b []byte) ([]byte, bool)
}, must bool) {
	t.Run(name, func(t *testing.T) {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		require.NoError(t, enc.Encode(v))
		got, ok := v.AppendJSON(nil)
		require.True(t, ok || !must)
		if ok {
			require.Equal(t, want.String(), string(got)+"\n")
		}
	})
}
