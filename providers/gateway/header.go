package gateway

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/internal/credential"
)

// requestHeaders are what a provider gets of a program's request, replyHeaders what the
// program gets of the provider's reply, in lower case. A header that is not listed
// stays off.
var (
	requestHeaders = []string{
		"accept", "content-type", "user-agent", "anthropic-version", "anthropic-beta", "openai-beta", "openai-version",
		"openai-organization", "openai-project", "idempotency-key", "x-client-request-id",
	}
	replyHeaders = []string{
		"content-type", "retry-after", "retry-after-ms", "x-should-retry", "x-amzn-errortype", "openai-version", "openai-processing-ms",
		"request-id", "x-request-id", "x-client-request-id", "x-amzn-requestid", "x-goog-request-id", "apim-request-id",
	}
	replyPrefixes = []string{"x-ratelimit-", "ratelimit-", "anthropic-ratelimit-", "x-amzn-bedrock-"}
)

// KeptHeaders returns the headers of a request that a provider gets.
func KeptHeaders(h http.Header) http.Header {
	return kept(h, func(name string) bool { return slices.Contains(requestHeaders, name) })
}

// ReplyHeaders returns the headers of a reply that a program gets.
func ReplyHeaders(h http.Header) http.Header {
	return kept(h, func(name string) bool {
		return slices.Contains(replyHeaders, name) || slices.ContainsFunc(replyPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	})
}

func kept(h http.Header, keep func(string) bool) http.Header {
	out := make(http.Header, 4)
	for name, values := range h {
		if keep(strings.ToLower(name)) {
			out[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
	}
	return out
}

// plainQuery drops the parts of a query that carry a credential.
func plainQuery(raw string) string {
	if raw == "" {
		return ""
	}
	parts := slices.DeleteFunc(strings.Split(raw, "&"), func(part string) bool {
		name, _, _ := strings.Cut(part, "=")
		plain, err := url.QueryUnescape(name)
		return err != nil || plain == "" || credential.Param(plain)
	})
	return strings.Join(parts, "&")
}
