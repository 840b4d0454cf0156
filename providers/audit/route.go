package audit

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"github.com/cupel-eval/cupel/providers/openai"
)

// hosts are parts of host names that identify the dialect of a wire, where
// the public address of the OpenAI dialects does not.
var hosts = []struct{ part, name string }{
	{"azure.com", "azure"}, {"azuredatabricks.net", "databricks"}, {"databricks.com", "databricks"}, {"snowflakecomputing.com", "snowflake"},
	{"api.cloudflare.com", "cloudflare"}, {"bedrock-mantle.", "bedrock-mantle"}, {"api.together.", "together"}, {"ollama.com", "ollama-compat"},
	{"cohere", "cohere-compat"}, {"generativelanguage.googleapis.com", "google-compat"},
}

// paths map the path of a request to its wire; the first match counts.
var paths = []struct {
	fits *regexp.Regexp
	wire string
}{
	{regexp.MustCompile(`/(chat/)?completions$`), "openai"},
	{regexp.MustCompile(`/responses$`), "openai-responses"},
	{regexp.MustCompile(`/(messages|complete)$|/publishers/anthropic/.*:(stream)?[rR]awPredict$`), "anthropic"},
	{regexp.MustCompile(`:(g|streamG)enerateContent$`), "gemini"},
	{regexp.MustCompile(`/model/.*(/converse|/converse-stream|/invoke|/invoke-with-response-stream)$`), "bedrock"},
	{regexp.MustCompile(`/api/(chat|generate)$`), "ollama"},
	{regexp.MustCompile(`/v[12]/chat$`), "cohere"},
	{regexp.MustCompile(`/generate(_stream)?$|api-inference\.huggingface\.co/models/`), "tgi"},
}

// route is whom a request asks, and how.
type route struct {
	provider string // empty if it is not of any wire
	model    string
	stream   bool
	path     string // for people, without what identifies an account
}

// modelInPath is the model where the path names it.
var modelInPath = regexp.MustCompile(`/(?:models?|deployments)/([^/:]+(?:(?:%3A|:)\d+[^/]*)?)(?:[/:]|$)`)

// routeOf reads the address and the body of a request. provider, if it is not empty,
// is the name that the recording gives.
func routeOf(provider, method, address string, body []byte) route {
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
	r := route{model: asked.Model, stream: asked.Stream || strings.Contains(path, "stream") || strings.Contains(query, "alt=sse"), path: method + " /" + lastParts(path)}
	if m := modelInPath.FindStringSubmatch("/" + path); m != nil && r.model == "" {
		if r.model = m[1]; strings.Contains(r.model, "%") {
			r.model, _ = url.PathUnescape(r.model)
		}
	}
	if method != "POST" || strings.Contains(r.model, "-embed-") {
		return r
	}
	wire := ""
	for _, p := range paths {
		if p.fits.MatchString(host + "/" + path) {
			wire = p.wire
			break
		}
	}
	if wire == "" && asked.Inputs != nil && strings.Trim(path, "/") == "" {
		wire = "tgi" // a server that answers at its root
	}
	r.provider = dialect(wire, provider, host)
	if strings.Contains(where, "aiplatform.googleapis.com") && (wire == "gemini" || wire == "anthropic") {
		r.provider = map[string]string{"gemini": "vertex", "anthropic": "vertex-anthropic"}[wire]
	}
	return r
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
