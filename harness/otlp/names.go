// Package otlp reads traces of agents as episodes to import, and writes the episodes of a run as
// traces. It knows the vocabularies of the GenAI semantic conventions (old and new names), the AI
// SDK, the Claude Agent SDK, n8n and the OpenAI Agents SDK, whose files are not OTLP.
package otlp

// Version names the vocabularies in the manifest of an imported run.
const Version = "OTLP 1.11, GenAI conventions 384d6616, AI SDK 6, Claude Agent SDK 0.3, n8n 2, OpenAI Agents 0.20"

// Names of the GenAI conventions, status Development, from the registry of
// open-telemetry/semantic-conventions at commit 384d66161cb18704c729645fa8136a148df9571c, which
// names open-telemetry/semantic-conventions-genai as their new home. They are constants of our
// own because no released module is promised to keep them.
const (
	attrOperation    = "gen_ai.operation.name"
	attrProvider     = "gen_ai.provider.name"
	attrModel        = "gen_ai.request.model"
	attrServed       = "gen_ai.response.model"
	attrResponseID   = "gen_ai.response.id"
	attrFinish       = "gen_ai.response.finish_reasons"
	attrFirstChunk   = "gen_ai.response.time_to_first_chunk" // seconds
	attrConversation = "gen_ai.conversation.id"
	attrAgentName    = "gen_ai.agent.name"
	attrIn           = "gen_ai.usage.input_tokens" // with cached ones
	attrOut          = "gen_ai.usage.output_tokens"
	attrCacheRead    = "gen_ai.usage.cache_read.input_tokens"
	attrCacheWrite   = "gen_ai.usage.cache_creation.input_tokens"
	attrReasoning    = "gen_ai.usage.reasoning.output_tokens"
	attrSystem       = "gen_ai.system_instructions"
	attrInput        = "gen_ai.input.messages"
	attrOutput       = "gen_ai.output.messages"
	attrToolName     = "gen_ai.tool.name"
	attrToolID       = "gen_ai.tool.call.id"
	attrToolArgs     = "gen_ai.tool.call.arguments"
	attrToolResult   = "gen_ai.tool.call.result"
	attrError        = "error.type"

	eventDetails    = "gen_ai.client.inference.operation.details"
	eventEvaluation = "gen_ai.evaluation.result"
	attrEvalName    = "gen_ai.evaluation.name"
	attrEvalLabel   = "gen_ai.evaluation.score.label"
	attrEvalValue   = "gen_ai.evaluation.score.value"
	attrEvalWhy     = "gen_ai.evaluation.explanation"

	opChat        = "chat"
	opInvokeAgent = "invoke_agent"
	opTool        = "execute_tool"
)

// Attributes of cupel's own, which an import of an exported run reads back.
const (
	attrRun       = "cupel.run.id"
	attrTask      = "cupel.task.id"
	attrCandidate = "cupel.candidate"
	attrTrial     = "cupel.trial"
	attrStrategy  = "cupel.agent"
	attrStatus    = "cupel.status"
	attrTurn      = "cupel.turn"
	attrProposed  = "cupel.tool.proposed"
	attrRole      = "cupel.turn.role"
	attrCost      = "cupel.cost.nano_usd"
	attrReported  = "cupel.cost.reported_nano_usd"
)

// Names of other vocabularies and of older conventions, in the order in which they are looked up.
var (
	namesModel      = []string{attrModel, "ai.model.id", "model"}
	namesServed     = []string{attrServed, "ai.response.model"}
	namesProvider   = []string{attrProvider, "gen_ai.system", "ai.model.provider"}
	namesResponseID = []string{attrResponseID, "request_id", "ai.response.id"}
	namesIn         = []string{attrIn, "gen_ai.usage.prompt_tokens", "ai.usage.inputTokens", "ai.usage.promptTokens", "input_tokens"}
	namesOut        = []string{attrOut, "gen_ai.usage.completion_tokens", "ai.usage.outputTokens", "ai.usage.completionTokens", "output_tokens"}
	namesCacheRead  = []string{attrCacheRead, "gen_ai.usage.cache_read_input_tokens", "ai.usage.inputTokenDetails.cacheReadTokens", "ai.usage.cachedInputTokens", "cache_read_tokens"}
	namesCacheWrite = []string{attrCacheWrite, "gen_ai.usage.cache_creation_input_tokens", "ai.usage.inputTokenDetails.cacheWriteTokens", "cache_creation_tokens"}
	namesReasoning  = []string{attrReasoning, "ai.usage.outputTokenDetails.reasoningTokens", "ai.usage.reasoningTokens"}
	namesFinish     = []string{attrFinish, "ai.response.finishReason", "stop_reason"}
	namesMillis     = []string{"ttft_ms", "ai.response.msToFirstChunk"}
	namesInput      = []string{attrInput, "gen_ai.prompt", "ai.prompt.messages", "ai.prompt"}
	namesOutput     = []string{attrOutput, "gen_ai.completion"}
	namesText       = []string{"ai.response.text", "ai.response.object", "response"}
	namesTool       = []string{attrToolName, "ai.toolCall.name", "tool_name", "n8n.node.name"}
	namesToolID     = []string{attrToolID, "ai.toolCall.id", "tool_use_id"}
	namesArgs       = []string{attrToolArgs, "ai.toolCall.args", "ai.toolCall.input", "tool_input"}
	namesResult     = []string{attrToolResult, "ai.toolCall.result", "ai.toolCall.output"}
	namesError      = []string{"error", "error.message", attrError}
)

// kind says what a span stands for.
type kind int

const (
	other kind = iota
	agentSpan
	chatSpan
	toolSpan
)

// kindOf reads the kind of a span by its name or its operation.
func kindOf(s *span) kind {
	switch s.name {
	case "ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject", "claude_code.interaction", "workflow.execute":
		return agentSpan
	case "ai.generateText.doGenerate", "ai.streamText.doStream", "ai.generateObject.doGenerate", "ai.streamObject.doStream", "claude_code.llm_request":
		return chatSpan
	case "ai.toolCall", "claude_code.tool":
		return toolSpan
	case "node.execute":
		return n8nKind(s.text("n8n.node.type"))
	}
	op := s.text(attrOperation)
	if op == "" {
		op = s.text("llm.request.type") // of instrumentations before there was a convention
	}
	switch op {
	case opChat, "text_completion", "generate_content", "completion":
		return chatSpan
	case opTool:
		return toolSpan
	case opInvokeAgent, "invoke_workflow":
		return agentSpan
	}
	return other
}
