package harness_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/recorder"
)

// TestForeignAgentBedrock: requests in the form of Bedrock, also streamed, reach the provider as
// those of other APIs do.
func TestForeignAgentBedrock(t *testing.T) {
	o := foreignOptions(t, foreignService(t, func(ctx context.Context, s foreignStart) (string, error) {
		var text []byte
		for _, path := range []string{"converse-stream", "converse"} {
			body := `{"messages":[{"role":"user","content":[{"text":"Hello"}]}],"inferenceConfig":{"maxTokens":50}}`
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Base+"/model/eu.amazon.nova-v1%3A0/"+path, strings.NewReader(body))
			if err != nil {
				return "", err
			}
			resp, err := s.RoundTrip(req)
			if err != nil {
				return "", err
			}
			text, err = io.ReadAll(resp.Body)
			if _ = resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
				return "", fmt.Errorf("%s: %s: %w", resp.Status, text, err)
			}
		}
		return string(text), nil
	}), "G01")
	o.Candidates[0].Provider = "sim-bedrock"
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, recorded)
	require.Equal(t, "answered", rows.Episodes[0].Status, rows.Episodes[0].ErrorText)
	require.Contains(t, rows.Episodes[0].Answer, `"outputTokens"`)
	require.Len(t, rows.Turns, 2)
	for _, turn := range rows.Turns {
		require.Positive(t, *turn.Out)
		require.Empty(t, turn.ErrorKind)
	}
	require.NotNil(t, rows.Turns[0].TTFTUs, "it is streamed")
	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
	for _, o.WithAgent = range []bool{false, true} {
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		require.Equal(t, withoutRun(rows), withoutRun(rowsOf(t, res)))
	}
}
