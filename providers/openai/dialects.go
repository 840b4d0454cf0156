package openai

import (
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/providers/fault"
)

// Dialects returns the services that are known by name, sorted, in a fresh slice.
// Each line follows the service's own reference of its chat completions.
func Dialects() []Dialect {
	all := slices.Concat(makers(), platforms(), placed())
	slices.SortFunc(all, func(a, b Dialect) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// makers are the services of those who make the models.
func makers() []Dialect {
	return []Dialect{
		{ // api-docs.deepseek.com/api/create-chat-completion, /guides/thinking_mode
			Name: "deepseek", Base: "https://api.deepseek.com/v1", Key: "DEEPSEEK_API_KEY",
			Lacks:     []Feature{SeedNumber, Serial, Images, SchemaMode},
			Reasoning: []Family{{Prefix: "deepseek-reasoner", Lacks: []Feature{Temperature}}}, // taken and without effect
			Keeps:     []string{keepContent},
		},
		{ // docs.mistral.ai/api, which refuses fields it does not know
			Name: "mistral", Base: "https://api.mistral.ai/v1", Key: "MISTRAL_API_KEY", RequestID: []string{"Mistral-Correlation-Id"},
			Seed: "random_seed", Lacks: []Feature{StreamUsage}, ShortIDs: true,
			Codes: map[string]fault.Kind{"3505": fault.Overloaded},
		},
		{ // platform.moonshot.ai/docs/api/chat
			Name: "moonshot", Base: "https://api.moonshot.ai/v1", Key: "MOONSHOT_API_KEY",
			Lacks: []Feature{SeedNumber, ToolChoice, NamedChoice, Serial, SchemaMode, ImageURLs}, Keeps: []string{keepContent},
			Codes: map[string]fault.Kind{"exceeded_current_quota_error": fault.Quota, "content_filter": fault.Refused},
		},
		{ // docs.perplexity.ai/api-reference/chat-completions-post, /guides/pricing
			Name: "perplexity", Base: "https://api.perplexity.ai", Key: "PERPLEXITY_API_KEY", Alternate: true, ReasoningApart: true,
			Lacks: []Feature{SeedNumber, Stop, Tools, ToolChoice, Serial, ObjectMode, StreamUsage},
		},
		{ // docs.x.ai/docs/api-reference#chat-completions, /guides/reasoning
			Name: "xai", Base: "https://api.x.ai/v1", Key: "XAI_API_KEY", MaxTokens: "max_completion_tokens", ReasoningApart: true,
			Reasoning: []Family{
				{Prefix: "grok-4", Except: "non-reasoning", Lacks: []Feature{Stop}},
				{Prefix: "grok-3-mini", Lacks: []Feature{Stop}},
				{Prefix: "grok-code", Lacks: []Feature{Stop}},
			},
		},
		{ // docs.z.ai/api-reference/llm/chat-completion, /api-reference/api-code
			Name: "zai", Base: "https://api.z.ai/api/paas/v4", Key: "ZAI_API_KEY",
			Lacks: []Feature{SeedNumber, ToolChoice, NamedChoice, Serial, SchemaMode}, Keeps: []string{keepContent},
			Codes: map[string]fault.Kind{
				"1113": fault.Quota, "1211": fault.NotFound, "1220": fault.Auth, "1261": fault.ContextLength,
				"1301": fault.Refused, "1302": fault.RateLimit, "1303": fault.RateLimit, "1304": fault.Quota,
				"1305": fault.Overloaded, "1308": fault.Quota, "1309": fault.Quota, "1310": fault.Quota, "1312": fault.Overloaded,
			},
		},
	}
}

// platforms are the services that run the models of others.
func platforms() []Dialect {
	return []Dialect{
		{ // docs.aws.amazon.com/bedrock/latest/userguide/bedrock-mantle.html
			Name: "bedrock-mantle", Base: "https://bedrock-mantle." + region + ".api.aws/v1", Key: "AWS_BEARER_TOKEN_BEDROCK",
		},
		{ // inference-docs.cerebras.ai/api-reference/chat-completions
			Name: "cerebras", Base: "https://api.cerebras.ai/v1", Key: "CEREBRAS_API_KEY", MaxTokens: "max_completion_tokens",
			Lacks: []Feature{Images},
			Codes: map[string]fault.Kind{"queue_exceeded": fault.Overloaded, "wrong_api_key": fault.Auth, "payment_required": fault.Quota},
		},
		{ // docs.cohere.com/docs/compatibility-api
			Name: "cohere-compat", Base: "https://api.cohere.ai/compatibility/v1", Key: "COHERE_API_KEY", RequestID: []string{"X-Debug-Trace-Id"},
			Lacks: []Feature{Serial, NamedChoice},
		},
		{ // fireworks.ai/docs/api-reference/post-chatcompletions
			Name: "fireworks", Base: "https://api.fireworks.ai/inference/v1", Key: "FIREWORKS_API_KEY", Lacks: []Feature{StreamUsage},
		},
		{ // ai.google.dev/gemini-api/docs/openai
			Name: "google-compat", Base: "https://generativelanguage.googleapis.com/v1beta/openai", Key: "GEMINI_API_KEY",
			Lacks: []Feature{SeedNumber, Serial, ImageURLs}, Keeps: []string{keepExtra},
		},
		{ // console.groq.com/docs/api-reference#chat
			Name: "groq", Base: "https://api.groq.com/openai/v1", Key: "GROQ_API_KEY", MaxTokens: "max_completion_tokens",
			Codes: map[string]fault.Kind{"capacity_exceeded": fault.Overloaded, "model_decommissioned": fault.NotFound},
		},
		{ // huggingface.co/docs/inference-providers
			Name: "huggingface", Base: "https://router.huggingface.co/v1", Key: "HF_TOKEN", RequestID: []string{"X-Inference-Id"},
			Lacks: []Feature{Serial},
		},
		{ // docs.api.nvidia.com/nim/reference
			Name: "nvidia", Base: "https://integrate.api.nvidia.com/v1", Key: "NVIDIA_API_KEY", RequestID: []string{"Nvcf-Reqid"}, Lacks: []Feature{Serial},
		},
		{ // openrouter.ai/docs/api-reference, /use-cases/reasoning-tokens
			Name: "openrouter", Base: "https://openrouter.ai/api/v1", Key: "OPENROUTER_API_KEY", Keeps: []string{keepDetails},
		},
		{ // docs.sambanova.ai/docs/en/api-reference
			Name: "sambanova", Base: "https://api.sambanova.ai/v1", Key: "SAMBANOVA_API_KEY", Lacks: []Feature{SeedNumber, ImageURLs},
		},
		{ // docs.together.ai/reference/chat-completions-1
			Name: "together", Base: "https://api.together.xyz/v1", Key: "TOGETHER_API_KEY", Lacks: []Feature{Serial},
		},
		{ // vercel.com/docs/ai-gateway/openai-compat
			Name: "vercel-gateway", Base: "https://ai-gateway.vercel.sh/v1", Key: "AI_GATEWAY_API_KEY", RequestID: []string{"X-Vercel-Id"},
			Keeps: []string{keepDetails},
		},
	}
}

// placed are the servers without one public address: of an account, or self-hosted.
func placed() []Dialect {
	return []Dialect{
		{ // learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle: base_url is https://NAME.openai.azure.com/openai/v1
			Name: "azure", Key: "AZURE_OPENAI_API_KEY", KeyHeader: "Api-Key", RequestID: []string{"Apim-Request-Id"}, Searches: true,
		},
		{ // developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility: base_url is https://api.cloudflare.com/client/v4/accounts/ID/ai/v1
			Name: "cloudflare", Key: "CLOUDFLARE_API_TOKEN", RequestID: []string{"Cf-Ray"}, Lacks: []Feature{Serial},
		},
		{ // docs.databricks.com/machine-learning/foundation-model-apis/api-reference: base_url is https://WORKSPACE/serving-endpoints
			Name: "databricks", Key: "DATABRICKS_TOKEN", Lacks: []Feature{SeedNumber, Serial, StreamUsage},
		},
		{ // docs.gpustack.ai: base_url is http://SERVER/v1
			Name: "gpustack", Key: "GPUSTACK_API_KEY",
		},
		{ // github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md; its tool_choice is a word
			Name: "llamacpp", Base: "http://127.0.0.1:8080/v1", Key: "LLAMA_API_KEY", Keyless: true, Lacks: []Feature{NamedChoice},
		},
		{ // lmstudio.ai/docs/app/api/endpoints/openai; its tool_choice is a word
			Name: "lmstudio", Base: "http://127.0.0.1:1234/v1", Key: "LMSTUDIO_API_KEY", Keyless: true,
			Lacks: []Feature{NamedChoice, ObjectMode, Serial, ImageURLs},
		},
		{ // github.com/ollama/ollama/blob/main/docs/api/openai-compatibility.mdx
			Name: "ollama-compat", Base: "http://127.0.0.1:11434/v1", Key: "OLLAMA_API_KEY", Keyless: true,
			Lacks: []Feature{ToolChoice, NamedChoice, Serial, ImageURLs},
		},
		{ // docs.snowflake.com/user-guide/snowflake-cortex/open_ai_sdk: base_url is https://ACCOUNT.snowflakecomputing.com/api/v2/cortex/v1
			Name: "snowflake", Key: "SNOWFLAKE_TOKEN", MaxTokens: "max_completion_tokens", RequestID: []string{"X-Snowflake-Request-Id"},
			Keeps: []string{keepDetails},
		},
		{ // huggingface.co/docs/text-generation-inference: base_url is http://SERVER/v1
			Name: "tgi-compat", Key: "HF_TOKEN", Lacks: []Feature{Serial, SchemaMode},
		},
		{ // docs.vllm.ai/serving/openai_compatible_server.html
			Name: "vllm", Base: "http://127.0.0.1:8000/v1", Key: "VLLM_API_KEY", Keyless: true,
		},
	}
}
