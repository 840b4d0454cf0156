package bedrock

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// This is the key pair of AWS's published test suite for Signature Version 4.
const (
	exampleID     = "AKIDEXAMPLE"
	exampleSecret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
)

func hmacOf(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// signatureOf is a second, simple implementation. path is as sent.
func signatureOf(method, path, headers, signed, body, date, region, service string) string {
	escaped := strings.ReplaceAll(path, "%", "%25") // each segment is escaped again
	digest := sha256.Sum256([]byte(body))
	canonical := strings.Join([]string{method, escaped, "", headers, signed, hex.EncodeToString(digest[:])}, "\n")
	scope := date[:8] + "/" + region + "/" + service + "/aws4_request"
	whole := sha256.Sum256([]byte(canonical))
	key := []byte("AWS4" + exampleSecret)
	for part := range strings.SplitSeq(scope, "/") {
		key = hmacOf(key, part)
	}
	return hex.EncodeToString(hmacOf(key, "AWS4-HMAC-SHA256\n"+date+"\n"+scope+"\n"+hex.EncodeToString(whole[:])))
}

// The second implementation is checked with the case get-vanilla of the published
// suite.
func TestPublishedSignature(t *testing.T) {
	got := signatureOf("GET", "/", "host:example.amazonaws.com\nx-amz-date:20150830T123600Z\n", "host;x-amz-date", "", "20150830T123600Z", "us-east-1", "service")
	require.Equal(t, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31", got)
}

func TestSignature(t *testing.T) {
	withoutAWS(t)
	t.Setenv("AWS_ACCESS_KEY_ID", exampleID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", exampleSecret)
	for _, token := range []string{"", "session-1"} {
		t.Run("token "+token, func(t *testing.T) {
			t.Setenv("AWS_SESSION_TOKEN", token)
			seen := &declared{live: true}
			at := time.Date(2015, 8, 30, 14, 36, 0, 0, time.FixedZone("", 2*3600))
			m, err := New(providers.Options{Region: "us-east-1", HTTP: &http.Client{Transport: seen}, Now: func() time.Time { return at }})
			require.NoError(t, err)
			_, err = m.Call(context.Background(), providers.Call{Model: "amazon.nova-lite-v1:0", System: "a <b>", RequestID: "r-1"})
			require.Error(t, err)
			r := seen.seen
			body, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			require.Equal(t, `{"messages":[],"system":[{"text":"a <b>"}]}`, string(body))
			lines := []string{
				"accept:application/json", fmt.Sprintf("content-length:%d", len(body)), "content-type:application/json",
				"host:bedrock-runtime.us-east-1.amazonaws.com", "x-amz-date:20150830T123600Z", "x-client-request-id:r-1",
			}
			if token != "" {
				lines = append(lines, "x-amz-security-token:"+token)
			}
			slices.Sort(lines)
			var names []string
			for _, l := range lines {
				name, _, _ := strings.Cut(l, ":")
				names = append(names, name)
			}
			signed := strings.Join(names, ";")
			want := signatureOf("POST", "/model/amazon.nova-lite-v1%3A0/converse", strings.Join(lines, "\n")+"\n", signed, string(body), "20150830T123600Z", "us-east-1", "bedrock")
			require.Equal(t, "AWS4-HMAC-SHA256 Credential="+exampleID+"/20150830/us-east-1/bedrock/aws4_request, SignedHeaders="+signed+", Signature="+want, r.Header.Get("Authorization"))
			require.NotContains(t, fmt.Sprint(r.Header), exampleSecret)
		})
	}
}

// Credentials are looked up only when a request is sent.
func TestNoSignatureInReplay(t *testing.T) {
	withoutAWS(t)
	t.Setenv("AWS_CONFIG_FILE", "/does/not/exist")
	t.Setenv("AWS_ACCESS_KEY_ID", exampleID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", exampleSecret)
	for name, transport := range map[string]http.RoundTripper{"does not tell": &silent{}, "tells": &declared{}} {
		t.Run(name, func(t *testing.T) {
			m, err := New(providers.Options{Region: "us-east-1", HTTP: &http.Client{Transport: transport}})
			require.NoError(t, err)
			_, err = m.Call(context.Background(), providers.Call{Model: "m"})
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			seen, ok := transport.(*silent)
			if !ok {
				seen = &transport.(*declared).silent
			}
			require.Empty(t, seen.seen.Header.Get("Authorization"))
			require.Empty(t, seen.seen.Header.Get("X-Amz-Date"))
		})
	}
}

func TestNoCredentials(t *testing.T) {
	withoutAWS(t)
	seen := &declared{live: true}
	for name, o := range map[string]providers.Options{
		"none":      {Region: "us-east-1"},
		"no region": {BaseURL: "https://gateway.test"},
	} {
		t.Run(name, func(t *testing.T) {
			o.HTTP = &http.Client{Transport: seen}
			m, err := New(o)
			require.NoError(t, err)
			_, err = m.Call(context.Background(), providers.Call{Model: "m"})
			var e *fault.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, fault.Auth, e.Kind)
			require.Contains(t, e.Error(), "sign request")
			require.Contains(t, e.Error(), "AWS_")
			require.Nil(t, seen.seen, "nothing may be sent unsigned")
		})
	}
}

func TestCancelledWhileSigning(t *testing.T) {
	withoutAWS(t)
	m, err := New(providers.Options{Region: "us-east-1", HTTP: &http.Client{Transport: &declared{live: true}}})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = m.Call(ctx, providers.Call{Model: "m"})
	var e *fault.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, fault.Transport, e.Kind)
}
