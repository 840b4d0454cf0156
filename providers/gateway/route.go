package gateway

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/cupel-eval/cupel/internal/lazyregexp"
	"github.com/cupel-eval/cupel/providers/openai"
)

// hosts are parts of host names that identify the dialect of a wire, where
// the public address of the OpenAI dialects does not.
var hosts = []struct{ part, name string }{
	{"azure.com", "azure"}, {"azuredatabricks.net", "databricks"}, {"databricks.com", "databricks"}, {"snowflakecomputing.com", "snowflake"},
	{"api.cloudflare.com", "cloudflare"}, {"bedrock-mantle.", "bedrock-mantle"}, {"api.together.", "together"}, {"ollama.com", "ollama-compat"},
	{"cohere", "cohere-compat"}, {"generativelanguage.googleapis.com", "google-compat"},
}

// Route is whom a recorded request asks for an answer, and how.
type Route struct {
	// Provider is empty if the request is not one that a wire makes.
	Provider string
	Model    string
	Stream   bool
	// Path is for people, without what identifies an account.
	Path string
}

// modelInPath is the model where the path names it.
var modelInPath = lazyregexp.New(`/(?:models?|deployments)/([^/:]+(?:(?:%3A|:)\d+[^/]*)?)(?:[/:]|$)`)

// RouteOf reads the address and the body of a request. provider, if it is not empty,
// is the name that the recording gives.
func RouteOf(provider, method, address string, body []byte) Route {
	where, query, _ := strings.Cut(address, "?")
	_, rest, ok := strings.Cut(where, "://")
	if !ok {
		rest = where // a placeholder represents the host
	}
	host, path, _ := strings.Cut(rest, "/")
	var asked struct {
		Model  string
		Stream bool
		Inputs json.RawMessage
	}
	_ = json.Unmarshal(body, &asked) // what is not there is empty
	r := Route{Model: asked.Model, Stream: asked.Stream || strings.Contains(path, "stream") || strings.Contains(query, "alt=sse"), Path: method + " /" + lastParts(path)}
	if r.Model == "" {
		r.Model = modelOf("/" + path)
	}
	if method != "POST" || strings.Contains(r.Model, "-embed-") {
		return r
	}
	wire := ""
	for _, e := range endpoints {
		if m := e.fits.FindStringSubmatch("/" + path); m != nil && e.kind == Chat && (e.provider != "cohere" || m[2] != "") {
			wire = e.provider
			break
		}
	}
	if wire == "" && asked.Inputs != nil && (strings.Trim(path, "/") == "" || host == "api-inference.huggingface.co") {
		wire = "tgi" // a server that answers at its root, or at the name of a model
	}
	r.Provider = dialect(wire, provider, host)
	if strings.Contains(where, "aiplatform.googleapis.com") && (wire == "gemini" || wire == "anthropic") {
		r.Provider = map[string]string{"gemini": "vertex", "anthropic": "vertex-anthropic"}[wire]
	}
	return r
}

// modelOf is the model that an escaped path names; empty if it names none.
func modelOf(path string) string {
	m := modelInPath.FindStringSubmatch(path)
	if m == nil {
		return ""
	}
	name, _ := url.PathUnescape(m[1]) // of a broken escape it is empty
	return name
}

// dialect is the provider of a wire that a host, or the recording's own name for it,
// tells.
func dialect(wire, provider, host string) string {
	if wire != "openai" && wire != "openai-responses" {
		return wire
	}
	known := ""
	for _, d := range openai.Dialects() {
		base, _ := url.Parse(d.Base)
		if d.Name == provider || d.Name == provider+"-compat" || base != nil && base.Hostname() == host && host != "" {
			known = d.Name
			break
		}
	}
	for _, h := range hosts {
		if known == "" && strings.Contains(host, h.part) {
			known = h.name
		}
	}
	switch {
	case wire == "openai-responses" && known != "" && known != "openai":
		return known + "-responses"
	case wire == "openai-responses" || known == "":
		return wire
	}
	return known
}

// lastParts are the last two parts of a path, ids of any kind left out.
func lastParts(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}
