package canonical

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxHeaderName bounds the names of stored headers, because YAML allows keys of at most 1,024
// bytes.
const maxHeaderName = 256

// KeptHeaders returns a copy of the headers on the allow-list of cassettes. It is not a list of
// forbidden headers, because an unknown header could contain a credential.
func KeptHeaders(h http.Header) http.Header {
	kept := http.Header{}
	for name, values := range h {
		name = http.CanonicalHeaderKey(name)
		if !HeaderKept(strings.ToLower(name)) || len(values) == 0 {
			continue
		}
		kept[name] = slices.Clone(values)
		if name == "Location" {
			for i, v := range values {
				kept[name][i] = keptLocation(v)
			}
		}
	}
	return kept
}

// Batched is the header, in lower case, of a reply to a request that was sent in a batch. The
// time of such a request is not its provider's.
const Batched = "x-cupel-batched"

// HeaderKept reports whether a header may be stored, by its name in lower case.
func HeaderKept(name string) bool {
	switch name {
	case "accept", "content-type", "content-encoding", "location",
		"anthropic-version", "anthropic-beta", "openai-version", "openai-beta", "openai-processing-ms",
		"retry-after", "retry-after-ms", "x-should-retry", "x-amzn-errortype",
		Batched, "request-id", "x-request-id", "x-client-request-id", "x-amzn-requestid", "x-goog-request-id", "apim-request-id":
		return true
	}
	if len(name) > maxHeaderName {
		return false
	}
	for _, prefix := range []string{"x-ratelimit-", "ratelimit-", "anthropic-ratelimit-", "x-amzn-bedrock-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// keptLocation removes credentials from the target of a redirect. The following request is
// matched without them, too.
func keptLocation(v string) string {
	u, err := url.Parse(v)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery = nil, query(u.RawQuery)
	return u.String()
}
