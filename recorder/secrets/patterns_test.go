package secrets

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// TestNoFalseAlarmInRecordings searches recordings of real providers, if they are available.
func TestNoFalseAlarmInRecordings(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "recordings", "*.json*"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("no recordings available")
	}
	s := New("canary-0123456789")
	for _, file := range files {
		f, err := os.Open(file)
		require.NoError(t, err)
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 64<<20)
		for n := 1; lines.Scan(); n++ {
			if n%testkit.SlowN(4, 1) != 0 {
				continue
			}
			require.Empty(t, s.Find(lines.Text()), "%s:%d", filepath.Base(file), n)
		}
		require.NoError(t, lines.Err())
		require.NoError(t, f.Close())
	}
}

// Texts that are similar to a credential are not reported.
func TestWordsAreNotCredentials(t *testing.T) {
	for _, text := range []string{
		"sk-learn-compatible-estimators-version-2", "Set api_key: YOUR_API_KEY_GOES_HERE_PLEASE", "api-key=$OPENAI_API_KEY",
		"Basic understanding of internationalization", "Basic QWxhZGRpbg", "the secret key is under the doormat of the neighbour", "access token: none",
		"Bearer of good news 1", "eyJhbGciOiJIUzI1NiJ9 is a header", "fw_something_else_entirely", "secret_key_base_for_development_only",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "AKIA is a prefix", "1//0 is a division",
		"idempotency_key 01KRFQWQ40M6B5X1RZ5W9X6M9Q", "max_tokens: 400, input_tokens: 12345678901234567890",
	} {
		require.Empty(t, New().Find(text), text)
	}
}

func TestKeysOfEveryProviderAreKnown(t *testing.T) {
	const tail = "Zx81bGq0aWv7Rt5Yu3Io2Pk9Lm4Nb6VcQw1Zx81bGq0aWv7Rt5Yu3Io2"
	hexes := strings.Repeat("0a1b2c3d", 8)
	for text, kind := range map[string]string{
		"sk-or-v1-" + hexes:                                 "an API key (sk-…)",
		"sk-svcacct-" + tail + "-_" + tail:                  "an API key (sk-…)",
		"IQoJb3JpZ2luX2Vj" + tail + "/+" + tail + "==":      "an AWS session token",
		"ABSKQmVkcm9ja0FQSUtleS" + tail + tail:              "an Amazon Bedrock key (ABSK…)",
		"bedrock-api-key-" + tail + tail:                    "an Amazon Bedrock key (bedrock-api-key-…)",
		tail[:52] + "JQQJ99BAACYeBjFXJ3w3AAABACOG" + "Wxyz": "an Azure key",
		"GOCSPX-" + tail[:28]:                               "a Google client secret (GOCSPX-…)",
		"1//0" + tail:                                       "a Google refresh token (1//…)",
		"xai-" + tail + tail[:20]:                           "an xAI key (xai-…)",
		"pplx-" + tail[:48]:                                 "a Perplexity key (pplx-…)",
		"csk-" + hexes[:48]:                                 "a Cerebras key (csk-…)",
		"tgp_v1_" + tail:                                    "a Together key (tgp_v1_…)",
		"nvapi-" + tail:                                     "an NVIDIA key (nvapi-…)",
		"fw_" + tail[:24]:                                   "a Fireworks key (fw_…)",
		"dapi" + hexes[:32]:                                 "a Databricks token (dapi…)",
		"glpat-" + tail[:20]:                                "a GitLab token (glpat-…)",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + tail:         "a JSON web token",
		"Authorization: Basic dXNlcjpwYXNzd29yZDE=":                        "a user's password (Basic)",
		`"api_key": "` + hexes[:32] + `"`:                                  "a named credential",
		"MISTRAL_API_KEY=" + tail[:32]:                                     "a named credential",
		"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG5bPxRfiCYEXAMPLEKEY": "a named credential",
		`{"secretAccessKey":"wJalrXUtnFEMI7K7MDENG5bPxRfiCYEXAMPLEKEY"}`:   "a named credential",
		`\"access_token\":\"` + tail + `\"`:                                "a named credential",
	} {
		s := New()
		require.Equal(t, kind, s.Find("x "+text+" y"), text)
		require.NotContains(t, s.Redact("f", "x "+text+" y"), text[len(text)-12:], text)
	}
}
