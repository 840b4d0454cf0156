package external

import "github.com/cupel-eval/cupel/internal/lazyregexp"

// SDK says where the SDKs of one provider read its address and key.
type SDK struct {
	// Provider is the public provider by its name in cupel.
	Provider string
	// Bases are the environment variables of the address, Keys those of the key; the first that
	// is set counts.
	Bases, Keys []string
	// Public is the address without any; empty if there is no single one.
	Public string
}

// SDKs are those whose variables programs get, with the address of a proxy and a token.
var SDKs = []SDK{
	{"openai", []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}, []string{"OPENAI_API_KEY"}, "https://api.openai.com/v1"},
	{"anthropic", []string{"ANTHROPIC_BASE_URL"}, []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}, "https://api.anthropic.com"},
	{"gemini", []string{"GOOGLE_GEMINI_BASE_URL"}, []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, "https://generativelanguage.googleapis.com"},
	{"ollama", []string{"OLLAMA_HOST"}, []string{"OLLAMA_API_KEY"}, "http://127.0.0.1:11434"},
	{"cohere", []string{"CO_API_URL"}, []string{"CO_API_KEY", "COHERE_API_KEY"}, "https://api.cohere.com"},
	{"bedrock", []string{"AWS_ENDPOINT_URL_BEDROCK_RUNTIME"}, []string{"AWS_BEARER_TOKEN_BEDROCK"}, ""},
}

// versionEnd is the version segment that ends an address.
var versionEnd = lazyregexp.New(`/v\d[0-9a-z]*$`)

// Address is a proxy's address as the SDKs take it in place of another one: with the version
// segment that the other one ends with.
func Address(proxy, of string) string { return proxy + versionEnd.FindString(of) }

// OwnVariables are the environment variables of a command that cupel sets itself, so that no
// setting may.
var OwnVariables = ownVariables()

func ownVariables() []string {
	names := []string{
		"MCP_URL", "CUPEL_MCP_CONFIG", "CUPEL_NOW", "TRACEPARENT", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL", "OPENAI_AGENTS_DISABLE_TRACING",
		"HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "NODE_USE_ENV_PROXY", "TZ",
	}
	for _, sdk := range SDKs {
		names = append(append(names, sdk.Bases...), sdk.Keys...)
	}
	return names
}
