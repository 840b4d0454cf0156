package world

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Results are checked as encoding/json would.
func FuzzIsJSON(f *testing.F) {
	for _, text := range []string{``, ` {"a":1,"a":[null, -0.5e+3]} `, "\"\xff\"", `{"a":1}x`, `01`, `"\ud800"`, "\"\t\"", strings.Repeat("[", 10001), strings.Repeat("[", 9000) + strings.Repeat("]", 9000)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { require.Equal(t, json.Valid(text), valid(text), "%q", text) })
}
