package console

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExactJSON(t *testing.T) {
	const payload = "##[error]x ### ##vso[a.b] #[c] \n::error::x"
	doc, err := json.Marshal(map[string]string{"##teamcity[x]": payload})
	require.NoError(t, err)
	for _, size := range []int{1, 2, 3, len(doc)} {
		out := new(strings.Builder)
		w := &exactJSON{Writer: out}
		for part := range slices.Chunk(doc, size) {
			n, err := w.Write(part)
			require.NoError(t, err)
			require.Equal(t, len(part), n)
		}
		require.NotContains(t, out.String(), "##")
		var back map[string]string
		require.NoError(t, json.Unmarshal([]byte(out.String()), &back))
		require.Equal(t, map[string]string{"##teamcity[x]": payload}, back)
	}
}
