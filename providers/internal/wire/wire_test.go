package wire

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers/fault"
)

func TestReadFault(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       Fault
	}{
		{"empty", "", Fault{}},
		{"object", `{"error":{"type":"t","code":"c","message":"m"},"request_id":"r"}`, Fault{Type: "t", Code: "c", Message: "m", RequestID: "r"}},
		{"number as code", `{"error":{"code":503,"message":"m"}}`, Fault{Code: "503", Message: "m"}},
		{"code outside", `{"code":7,"message":"outer","error":{"type":"t"}}`, Fault{Type: "t", Code: "7", Message: "outer"}},
		{"nested text", `{"error":{"error":"deep"}}`, Fault{Message: "deep"}},
		{"errors", `{"success":false,"errors":[{"code":10000,"message":"Authentication error"}]}`, Fault{Code: "10000", Message: "Authentication error"}},
		{"no envelope", `{"type":"t","message":"m"}`, Fault{Type: "t", Message: "m"}},
		{"wrong types", `{"error":{"type":[1],"code":{},"message":false}}`, Fault{Message: `{"error":{"type":[1],"code":{},"message":false}}`}},
		{"too deep", strings.Repeat(`{"error":`, 20) + `"x"` + strings.Repeat("}", 20), Fault{Message: strings.Repeat(`{"error":`, 20) + `"x"` + strings.Repeat("}", 20)}},
		{"unknown object", `{"oops":true}`, Fault{Message: `{"oops":true}`}},
		{"type beside", `{"error":"m","error_type":"t","type":"x"}`, Fault{Type: "t", Message: "m"}},
		{"text", "  no healthy upstream\n", Fault{Message: "no healthy upstream"}},
		{"page with a title", "<html><head><TITLE lang=en> 502 Bad Gateway </TITLE>", Fault{Message: "a web page titled 502 Bad Gateway"}},
		{"page without", "<html><title", Fault{Message: "a web page"}},
		{"page whose lower case is longer", "<p>İ<title>x</title>", Fault{Message: "<p>İ<title>x</title>"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, ReadFault([]byte(c.body)))
		})
	}
}

func FuzzReadFault(f *testing.F) {
	f.Add([]byte(`{"error":{"type":"t","code":1,"message":"m"}}`))
	f.Add([]byte("<html><title>x</title>"))
	f.Add([]byte(`[{"detail":[{"msg":"x"}]}]`))
	c := Client{dialect: Dialect{Kind: func(Fault) fault.Kind { return "" }}, provider: "p", key: "sk-secret-1"}
	f.Fuzz(func(t *testing.T, body []byte) {
		text := c.fault(response{Status: 500, Header: http.Header{"Retry-After": {string(body)}}}, "m", ReadFault(body)).Error()
		require.NotContains(t, text, c.key)
		require.LessOrEqual(t, utf8.RuneCountInString(text), maxMessage+maxCode+100)
		require.Equal(t, -1, strings.IndexFunc(text, unicode.IsControl))
	})
}

func TestCount(t *testing.T) {
	for text, want := range map[string]Count{"0": 0, "7": 7, "7.0": 7, "1e3": 1000, "null": 0} {
		var c Count
		require.NoError(t, json.Unmarshal([]byte(text), &c))
		require.Equal(t, want, c)
	}
	for _, text := range []string{"-1", "0.5", `"7"`, "true", "{}", "1e40", "1e999"} {
		var c Count
		require.Error(t, json.Unmarshal([]byte(text), &c), text)
	}
}

func TestKindOfStatus(t *testing.T) {
	for status, want := range map[int]fault.Kind{
		200: fault.Malformed, 301: fault.InvalidRequest, 400: fault.InvalidRequest, 407: fault.Auth, 410: fault.NotFound,
		418: fault.InvalidRequest, 500: fault.Overloaded, 504: fault.TimedOut, 520: fault.Overloaded, 599: fault.Overloaded,
	} {
		require.Equal(t, want, KindOfStatus(status), status)
	}
}

func TestBoundedCutsAtRunes(t *testing.T) {
	c := Client{}
	require.Equal(t, strings.Repeat("日", 299)+"…", c.bounded(strings.Repeat("日", 301), 300))
	require.Equal(t, strings.Repeat("日", 300), c.bounded(strings.Repeat("日", 300), 300))
	require.Equal(t, "a b", c.bounded("\n a\x00\t\u200b\u202e b \r\n", 300))
	require.True(t, utf8.ValidString(c.bounded("a\xff\xfeb", 300)))
}

func TestKeyIsCutFromTheCauseAndTheChainStays(t *testing.T) {
	c := Client{key: "a k e+y!"}
	cause := errors.New("proxy said a k e+y! and a+k+e%2By%21")
	e := c.Error(response{}, "m", fault.Transport, "", cause)
	require.ErrorIs(t, e, cause)
	require.Equal(t, ": model m: transport: proxy said [key] and [key]", e.Error())
	harmless := errors.New("nothing here")
	require.Same(t, harmless, c.Error(response{}, "m", fault.Transport, "", harmless).Err)
	require.NoError(t, c.Error(response{}, "m", fault.Transport, "", nil).Err)
}
