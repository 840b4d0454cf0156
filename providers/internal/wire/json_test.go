package wire

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// odd is a type with every kind of field that decoders use.
type odd struct {
	Name   string          `json:"name"`
	Count  *Count          `json:"count"`
	Raw    json.RawMessage `json:"raw"`
	List   []odd           `json:"list"`
	Any    any             `json:"any"`
	Flag   bool            `json:"flag"`
	Number float64         `json:"number"`
}

// FuzzUnmarshal compares the fast reader with encoding/json, including the errors.
func FuzzUnmarshal(f *testing.F) {
	for _, seed := range []string{
		`{"name":"a","count":7,"raw":{"x":[1]},"list":[{"name":"b"},null],"any":{"k":1.5},"flag":true,"number":1e3}`,
		`{"NAME":"a","name":7,"list":{},"flag":true}`, `{"name":"a","name":"b"}`, "{\"name\":\"\xff\\ud800\"}", `{"count":-1}`, `{"count":1.0}`,
		`{"n_ame":"a","FL-AG":true}`, `{"name":`, `[]`, `null`, `{} x`, ``, `{"number":1e999}`, `{"list":[1,{"name":"kept"}],"number":2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want odd
		gotErr, wantErr := Unmarshal(text, &got), json.Unmarshal(text, &want)
		require.Equal(t, wantErr == nil, gotErr == nil, "%v\n%v", wantErr, gotErr)
		if wantErr == nil {
			a, err := json.Marshal(got)
			require.NoError(t, err)
			b, err := json.Marshal(want)
			require.NoError(t, err)
			require.JSONEq(t, string(b), string(a))
		} else {
			require.Equal(t, wantErr.Error(), gotErr.Error())
		}
	})
}

func TestUnquote(t *testing.T) {
	for raw, want := range map[string]string{
		`"a"`: "a", `""`: "", `"a\nb\u00e9\ud83d\ude42"`: "a\nbé🙂", "\"\xff\"": "\ufffd", `"\ud800"`: "\ufffd",
	} {
		got, err := Unquote([]byte(raw))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, raw := range []string{``, `"`, `7`, `"a`, `a"`, `{}`} {
		_, err := Unquote([]byte(raw))
		require.Error(t, err, raw)
	}
}
