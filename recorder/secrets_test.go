package recorder

import (
	"encoding/base64"
	"encoding/json"
	"math/rand"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestARandomSecretIsFoundInAnyWrapping wraps random secrets in random layers;
// whatever the neighbours and the alignment, they are found.
func TestARandomSecretIsFoundInAnyWrapping(t *testing.T) {
	rng := rand.New(rand.NewSource(7))
	noise := func(n int) string {
		b := make([]byte, rng.Intn(n))
		for i := range b {
			b[i] = byte(' ' + rng.Intn(95))
		}
		return string(b)
	}
	inner := map[string]func(string) string{
		"raw":        func(s string) string { return s },
		"std":        func(s string) string { return base64.StdEncoding.EncodeToString([]byte(noise(9) + s + noise(9))) },
		"url":        func(s string) string { return base64.URLEncoding.EncodeToString([]byte(noise(9) + s + noise(9))) },
		"raw url":    func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(noise(9) + s + noise(9))) },
		"query":      func(s string) string { return url.QueryEscape(noise(9) + s + noise(9)) },
		"lower case": func(s string) string { return "?q=" + lowerHex(url.QueryEscape(s)) },
	}
	for name, wrap := range inner {
		t.Run(name, func(t *testing.T) {
			for range 2000 {
				secret := ""
				for len(secret) < minSecret {
					secret += noise(30)
				}
				text := wrap(secret)
				for range rng.Intn(3) {
					quoted, err := json.Marshal(noise(9) + text + noise(9))
					require.NoError(t, err)
					text = string(quoted)
				}
				require.NotEmpty(t, newDetector([]string{secret}).find(text), "%q in %q", secret, text)
			}
		})
	}
}

// lowerHex makes the digits of percent escapes small.
func lowerHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i:], strings.ToLower(string(b[i:i+3])))
		}
	}
	return string(b)
}

func TestBase64FormsAreWhatEncodersWrite(t *testing.T) {
	// "secret:1" with 0, 1 and 2 bytes before it and any after: by hand from
	// `printf 'xsecret:1' | base64` and so on, without the letters that change.
	require.Equal(t, []string{"c2VjcmV0OjE"[:10], "c2VjcmV0OjE"[:10]}, base64Forms("secret:1")[:2])
	require.Contains(t, base64.StdEncoding.EncodeToString([]byte("xsecret:1")), base64Forms("secret:1")[2])
	require.Contains(t, base64.StdEncoding.EncodeToString([]byte("xysecret:1")), base64Forms("secret:1")[4])
	for _, form := range base64Forms("secret:1") {
		require.GreaterOrEqual(t, len(form), 9, "too short to be sure of")
	}
}

func TestUnescaping(t *testing.T) {
	jsonCases := map[string]string{
		`a`: "a", `\`: `\`, `\n\t\r\b\f`: "\n\t\r\b\f", `\"\\\/`: `"\/`, `\u0041b`: "Ab", `\u00`: "u00", `\uzzzz`: "uzzzz", `\q`: "q",
	}
	for in, want := range jsonCases {
		require.Equal(t, want, unescapeJSON(in), in)
	}
	percentCases := map[string]string{"a": "a", "%41%2f": "A/", "%": "%", "%4": "%4", "%zz": "%zz", "100%25": "100%"}
	for in, want := range percentCases {
		require.Equal(t, want, unescapePercent(in), in)
	}
}

func TestStreamedJoinsOnlyValuesAtOnePlace(t *testing.T) {
	body := "event: x\ndata: {\"a\":\"1\",\"b\":{\"a\":\"x\"},\"n\":5}\n\ndata:{\"a\":\"2\",\"b\":{\"a\":\"y\"}}\r\n\r\n{\"a\":\"3\"}\ndata: [DONE]\ndata: {\"a\":\"4\", broken"
	require.Equal(t, []string{"1234", "xy"}, streamed(body))
	require.Empty(t, streamed(""))
}
