package all

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// quirks lists the anomalies of real traffic, each with the fixtures that cover it:
// package, test and, in a table test, the case.
func quirks() map[string][]string {
	return map[string][]string{
		// Text and parts.
		"delta-content-null":               {"openai TestStreamForms/content null"},
		"delta-content-is-list":            {"openai TestStreamForms/content parts"},
		"message-content-is-list":          {"openai TestReplyForms/text parts", "openai TestReplyForms/thinking parts"},
		"content-empty-string-with-tools":  {"openai TestNothingSaid/empty text beside calls", "openai TestNothingSaid/empty text beside calls, streamed"},
		"think-tags-in-text":               {"openai TestStreamForms/tags stay in the text", "anthropic TestReplyForms/the model's own think tags are text", "bedrock TestReplyForms/tags of thinking are text"},
		"refusal-with-finish-stop":         {"openai TestReplyForms/refusal", "openai TestStreamForms/refusal", "responses TestReplies/refused with status completed"},
		"anthropic-redacted_thinking":      {"anthropic TestStreamedBlocks/redacted thinking", "anthropic TestReplyForms/thinking is not the answer"},
		"gemini-candidate-without-parts":   {"gemini TestReplies/enums as integers, no parts", "gemini TestReplies/no content"},
		"gemini-blockReason-no-candidates": {"gemini TestReplies/a blocked prompt", "gemini TestABlockedPromptEndsAStream"},
		"gemini-enum-as-int":               {"gemini TestReplies/enums as integers, no parts", "gemini TestFinishes"},

		// Replies that are empty and state a reason.
		"empty-success:stop":              {"openai TestNothingSaid/an empty completion"},
		"empty-success:length":            {"openai TestNothingSaid/cut before the first word", "openai TestNothingSaid/cut before the first word, streamed"},
		"empty-success:end_turn":          {"anthropic TestReplyForms/empty content", "anthropic TestNothingSaidInAStream/end_turn"},
		"empty-success:stop_sequence":     {"anthropic TestReplyForms/nothing but a stop sequence", "anthropic TestNothingSaidInAStream/stop_sequence", "bedrock TestInvokedStreams/Anthropic Text Completions, nothing said"},
		"empty-success:STOP":              {"gemini TestNothingSaid/STOP"},
		"empty-success:SAFETY":            {"gemini TestNothingSaid/SAFETY"},
		"empty-success:MAX_TOKENS":        {"gemini TestNothingSaid/MAX_TOKENS", "gemini TestReplies/thoughts alone, cut"},
		"empty-success:MODEL_ARMOR":       {"gemini TestNothingSaid/MODEL_ARMOR"},
		"empty-success:2":                 {"gemini TestNothingSaid/a number"},
		"empty-success:None":              {"gemini TestNothingSaid/a blocked prompt", "responses TestErrorsAsServersTellThem/an empty body"},
		"empty-success:queued":            {"responses TestReplies/queued", "responses TestReplies/queued without output"},
		"empty-success:max_output_tokens": {"responses TestNothingSaid/max_output_tokens", "responses TestNothingSaid/max_output_tokens, streamed"},

		// Tool calls.
		"tool-call-without-id":         {"gemini TestCallsGetIDsAndKeepSignatures", "openai TestStreamsOfCalls/neither index nor id", "internal/wire TestIDsAreMadeUnique/none"},
		"tool-calls-but-finish-STOP":   {"gemini TestStreams", "internal/wire TestFinishOfAReply/stop with calls"},
		"tool-calls-but-finish-stop":   {"openai TestNothingSaid/calls with the reason stop", "ollama TestQuirks/calls with the reason stop", "ollama TestQuirks/calls before the line that says stop"},
		"tool-args-cut-mid-json":       {"openai TestStreamsOfCalls/cut", "anthropic TestStreamedCalls/cut", "responses TestReplies/cut"},
		"tool-delta-no-index":          {"openai TestStreamsOfCalls/no index", "openai TestStreamsOfCalls/no index, in pieces by id"},
		"tool-delta-empty-id":          {"openai TestStreamsOfCalls/empty ids", "openai TestStreamsOfCalls/name in every piece, an object for a list"},
		"parallel-calls-share-index":   {"openai TestStreamsOfCalls/one index for parallel calls", "openai TestStreamsOfCalls/one index and no ids", "openai TestStreamsOfCalls/one index and one id"},
		"anthropic-empty-partial_json": {"anthropic TestStreamedCalls/without arguments", "anthropic TestStreamedCalls/in pieces"},

		// Ends.
		"finish_reason-empty-string": {"openai TestReplyForms/empty finish reason", "openai TestStreamForms/no finish reason but an end"},
		"finish_reason-twice":        {"openai TestStreamForms/finish reason twice"},
		"chat-stream-no-[DONE]":      {"openai TestStreamForms/no end but a finish reason", "openai TestLinesOfAStream/no end"},
		"[DONE]-on-other-apis": {
			"responses TestStreams/a word of another wire", "anthropic TestDoneIsNotTheEnd", "gemini TestDoneIsNotTheEnd", "cohere TestErrors/DONE is not the end", "tgi TestErrors/DONE is not the end",
		},
		"stream-cut-off":                        {"responses TestCutOffStreams/after text", "openai TestBrokenStream/no end", "gemini TestStreamsWithoutTheirEnd/events", "internal/wire TestFailures/stream that ends early"},
		"bedrock-no-contentBlockStart-for-text": {"bedrock TestStreamForms/text has no start"},

		// Usage.
		"usage-in-finish-chunk":                           {"openai TestStreamUsage/in the last chunk"},
		"usage-in-many-chunks":                            {"openai TestStreamUsage/in many", "gemini TestStreams"},
		"usage-as-float":                                  {"bedrock TestUsageClasses/floats", "bedrock TestInvokedStreams/blocked, counted in floats, without metrics", "openai TestUsageClasses/floats"},
		"chat-stream-without-usage":                       {"openai TestStreamUsage/absent"},
		"chat-empty-choices-chunk":                        {"openai TestStreamUsage/in a chunk of its own", "openai TestStreamForms/comments and a keep-alive"},
		"cached_tokens>prompt_tokens":                     {"openai TestUsageClasses/never negative", "gemini TestUsage/more cached than asked"},
		"reasoning_tokens>completion_tokens":              {"openai TestUsageClasses/the total shows that reasoning is apart", "openai TestUsageClasses/reasoning over completion, no total"},
		"anthropic-input_tokens-changes-in-message_delta": {"anthropic TestStreamedUsage/the input changes"},

		// Errors.
		"error-in-200":                {"openai TestErrorsAsServersTellThem/in a 200", "gemini TestErrors/in a 200", "tgi TestErrors/in a 200", "responses TestErrorsAsServersTellThem/failed in a 200", "cohere TestErrors/told in a 200"},
		"error-mid-stream-after-text": {"openai TestBrokenStream/fault midway", "anthropic TestAnErrorAfterText", "responses TestStreamsThatFail/failed", "gemini TestErrors/in a stream", "cohere TestErrors/an error event"},
		"error-code-int":              {"gemini TestErrors/a bad request", "openai TestErrorsAsServersTellThem/in a 200", "internal/wire TestReadFault/number as code"},
		"error-is-string":             {"openai TestErrorsAsServersTellThem/error is text", "responses TestErrorsAsServersTellThem/model, the error is text"},
		"error-no-error-key":          {"openai TestErrorsAsServersTellThem/no envelope", "cohere TestErrors/key"},
		"error-not-json":              {"openai TestErrorsAsServersTellThem/text", "tgi TestErrors/not JSON", "internal/wire TestReadFault/page with a title"},
		"429-not-worth-retrying":      {"anthropic TestAdviceOnComingBack/larger than the limit", "responses TestErrorsAsServersTellThem/quota", "gemini TestErrors/a daily quota", "openai TestARequestOverItsLimitIsNotTriedAgain"},
		"429-without-retry-after":     {"openai TestRetryAfter/none", "anthropic TestAdviceOnComingBack/nothing but resets"},
		"retry-after-zero":            {"openai TestRetryAfter/zero"},
		"retry-after-ms-only":         {"openai TestRetryAfter/milliseconds alone"},
		"retry-after-ms-disagrees":    {"openai TestRetryAfter/zero milliseconds say nothing", "openai TestRetryAfter/milliseconds come first"},
		"retry-after-on-2xx":          {"internal/wire TestHeadersThatMislead/time to wait beside a reply", "internal/wire TestHeadersThatMislead/time to wait beside a stream"},
		"google-retryDelay-in-body":   {"gemini TestErrors/a rate limit", "gemini TestErrors/no details that can be read"},

		// Framing.
		"sse-crlf":                    {"internal/wire TestEventsAreCut/CRLF", "gemini TestStreams/events of CRLF", "anthropic TestOlderCompletions/streamed, by CRLF", "openai TestLinesOfAStream/CRLF"},
		"sse-comment-lines":           {"internal/wire TestEventsAreCut/comments", "openai TestLinesOfAStream/comments"},
		"sse-data-no-space":           {"internal/wire TestEventsAreCut/no space after the colon", "openai TestLinesOfAStream/no space after data", "anthropic TestLinesOfAStream/no space after data", "responses TestDataWithoutASpace"},
		"sse-data-before-event":       {"internal/wire TestEventsAreCut/the name comes late", "responses TestEventLines/data before the event"},
		"sse-with-wrong-content-type": {"internal/wire TestABodyIsReadByWhatItIs/stream", "internal/wire TestHeadersThatMislead/a stream as JSON"},
		"error-with-sse-content-type": {"internal/wire TestHeadersThatMislead/an error as an event stream", "gemini TestErrors/as an event"},
		"gemini-stream-as-json-array": {"gemini TestStreams/an array", "gemini TestReplies/an array, unasked"},
		"was-compressed:gzip":         {"internal/wire TestCompressedReplies/document", "internal/wire TestCompressedReplies/stream", "internal/wire TestHeadersThatMislead/unpacked on the way, gzip"},
		"was-compressed:br":           {"internal/wire TestHeadersThatMislead/unpacked on the way, br"},
	}
}

// TestEveryQuirkHasAFixture checks that the listed tests and cases exist.
func TestEveryQuirkHasAFixture(t *testing.T) {
	sources := map[string]map[string][]string{} // string literals by package and test
	for _, quirk := range slices.Sorted(maps.Keys(quirks())) {
		require.NotEmpty(t, quirks()[quirk], quirk)
		for _, held := range quirks()[quirk] {
			pkg, name, ok := strings.Cut(held, " ")
			require.True(t, ok, held)
			if sources[pkg] == nil {
				sources[pkg] = textsOfTests(t, filepath.Join("..", filepath.FromSlash(pkg)))
			}
			test, row, isRow := strings.Cut(name, "/")
			require.Contains(t, sources[pkg], test, "%s: package %s has no such test", quirk, pkg)
			if isRow {
				require.Contains(t, sources[pkg][test], row, "%s: %s %s has no such case", quirk, pkg, test)
			}
		}
	}
}

// TestEveryQuirkIsKnown checks that every anomaly in the recordings is in the table.
func TestEveryQuirkIsKnown(t *testing.T) {
	var seen map[string][]string
	require.NoError(t, json.Unmarshal(testkit.Shared(t, "recordings", "quirks.json"), &seen))
	require.NotEmpty(t, seen)
	for quirk := range seen {
		require.NotEmpty(t, quirks()[quirk], "no fixture is named for %s", quirk)
	}
}

// textsOfTests returns the string literals of each test function in a folder.
func textsOfTests(t *testing.T, dir string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files, dir)
	texts := map[string][]string{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			texts[f.Name.Name] = []string{}
			ast.Inspect(f, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					s, err := strconv.Unquote(lit.Value)
					require.NoError(t, err)
					texts[f.Name.Name] = append(texts[f.Name.Name], s)
				}
				return true
			})
		}
	}
	return texts
}
