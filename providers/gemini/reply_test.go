package gemini

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

func decode(body string, asked bool) (providers.Reply, bool, error) {
	return wire.Decode(&decoder{}, framing, []byte(body), asked, "")
}

// candidateOf returns a candidate with some parts.
func candidateOf(parts, more string) string {
	return `{"candidates":[{"content":{"role":"model","parts":[` + parts + `]}` + more + `}],"modelVersion":"gemini-x","responseId":"r1"}`
}

const stopped = `,"finishReason":"STOP","index":0`

func TestReplies(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       providers.Reply
	}{
		{"text in parts", candidateOf(`{"text":"a"},{"text":"b"}`, stopped), providers.Reply{Text: "ab", Finish: "stop", FinishRaw: "STOP"}},
		{"thoughts are no text", candidateOf(`{"text":"hm","thought":true},{"text":"so"}`, stopped), providers.Reply{Text: "so", Reasoning: "hm", Finish: "stop", FinishRaw: "STOP"}},
		{"thoughts alone, cut", candidateOf(`{"text":"hm","thought":true}`, `,"finishReason":"MAX_TOKENS"`), providers.Reply{Reasoning: "hm", Finish: "length", FinishRaw: "MAX_TOKENS"}},
		{"enums as integers, no parts", `{"candidates":[{"content":{"role":"model"},"finishReason":2}],"modelVersion":"gemini-x","responseId":"r1"}`, providers.Reply{Finish: "length", FinishRaw: "2"}},
		{"no content", `{"candidates":[{"finishReason":"MODEL_ARMOR","finishMessage":"it violates"}],"modelVersion":"gemini-x","responseId":"r1"}`, providers.Reply{Finish: "refusal", FinishRaw: "MODEL_ARMOR", Warnings: []string{"MODEL_ARMOR: it violates"}}},
		{"a blocked prompt", `{"promptFeedback":{"blockReason":"SAFETY","blockReasonMessage":"no"},"modelVersion":"gemini-x","responseId":"r1"}`, providers.Reply{Finish: "refusal", Warnings: []string{"the prompt was blocked: SAFETY: no"}}},
		{"server tools and their results", candidateOf(`{"executableCode":{"code":"1"}},{"codeExecutionResult":{"output":"1"}},{"text":"1"}`, stopped), providers.Reply{
			Text: "1", Finish: "stop", FinishRaw: "STOP",
			Continuation: []byte(`{"gemini_parts":[{"executableCode":{"code":"1"}},{"codeExecutionResult":{"output":"1"}},{"text":"1"}]}`),
		}},
		{"a picture", candidateOf(`{"inlineData":{"mimeType":"image/png","data":"AA=="}}`, stopped), providers.Reply{Finish: "stop", FinishRaw: "STOP", Warnings: []string{"the reply holds data that is no text: left out"}}},
		{"another candidate", `{"candidates":[{"index":1,"content":{"parts":[{"text":"no"}]},"finishReason":"SAFETY"},{"content":{"parts":[{"text":"yes"}]},"finishReason":"STOP"}],"modelVersion":"gemini-x","responseId":"r1"}`, providers.Reply{Text: "yes", Finish: "stop", FinishRaw: "STOP"}},
		{"no reason", candidateOf(`{"text":"a"}`, `,"finishReason":0`), providers.Reply{Text: "a", Finish: "other", Warnings: []string{"the reply does not say why it ended"}}},
		{"an array, unasked", `[` + candidateOf(`{"text":"a"}`, ``) + `,` + candidateOf(`{"text":"b"}`, stopped) + `]`, providers.Reply{Text: "ab", Finish: "stop", FinishRaw: "STOP"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := decode(c.body, false)
			require.NoError(t, err)
			c.want.Model, c.want.RequestID = "gemini-x", "r1"
			require.Equal(t, c.want, got)
		})
	}
}

// TestAReplyWithoutCandidates checks that the usage is kept, because it is paid for.
func TestAReplyWithoutCandidates(t *testing.T) {
	for name, body := range map[string]string{
		"none":             `{"usageMetadata":{"promptTokenCount":5,"totalTokenCount":5},"modelVersion":"gemini-x"}`,
		"an empty list":    `{"candidates":[],"usageMetadata":{"promptTokenCount":5,"totalTokenCount":5}}`,
		"one of no use":    `{"candidates":[{"index":1,"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5}}`,
		"praise, no block": `{"promptFeedback":{"safetyRatings":[]},"usageMetadata":{"promptTokenCount":5}}`,
		"in an array":      `[{"usageMetadata":{"promptTokenCount":5}},{"usageMetadata":{"promptTokenCount":5}}]`,
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := decode(body, false)
			require.EqualError(t, err, "decode reply: no candidates")
			require.Equal(t, providers.Usage{Reported: true, Input: 5}, got.Usage)
		})
	}
	_, complete, err := decode("data: {\"usageMetadata\":{\"promptTokenCount\":5}}\n\n", true)
	require.NoError(t, err)
	require.False(t, complete, "in a stream it can be the part before a cut")
	_, complete, err = decode("data: "+candidateOf(`{"text":"a"}`, stopped)+"\n\ndata: {\"usageMetadata\":{\"promptTokenCount\":5}}\n\n", true)
	require.NoError(t, err)
	require.True(t, complete, "after the end usage may come alone")
}

func TestFinishes(t *testing.T) {
	for raw, want := range map[string]providers.Finish{
		`"STOP"`: "stop", `1`: "stop", `"MAX_TOKENS"`: "length", `2`: "length",
		`"SAFETY"`: "refusal", `3`: "refusal", `"RECITATION"`: "refusal", `4`: "refusal", `"PROHIBITED_CONTENT"`: "refusal", `"SPII"`: "refusal", `"BLOCKLIST"`: "refusal",
		`"MALFORMED_FUNCTION_CALL"`: "other", `"UNEXPECTED_TOOL_CALL"`: "other", `"OTHER"`: "other", `5`: "other", `"A_NEW_ONE"`: "other", `99`: "other",
	} {
		got, _, err := decode(candidateOf(`{"text":"x"}`, `,"finishReason":`+raw), false)
		require.NoError(t, err)
		require.Equal(t, want, got.Finish, raw)
		require.Equal(t, strings.Trim(raw, `"`), got.FinishRaw)
	}
}

func TestCallsGetIDsAndKeepSignatures(t *testing.T) {
	got, _, err := decode(candidateOf(`{"functionCall":{"name":"f","args":{ "b":1.0, "a":2}},"thoughtSignature":"s1"},{"functionCall":{"name":"g"}},{"functionCall":{"id":"x","name":"g","args":null}}`, stopped), false)
	require.NoError(t, err)
	require.Equal(t, providers.FinishTools, got.Finish, "STOP is what the API says after calls, too")
	require.Equal(t, "STOP", got.FinishRaw)
	require.Equal(t, []providers.ToolCall{{ID: "call_1", Name: "f", Args: `{ "b":1.0, "a":2}`}, {ID: "call_2", Name: "g", Args: "{}"}, {ID: "x", Name: "g", Args: "{}"}}, got.Calls)
	require.JSONEq(t, `{"gemini_parts":[{"functionCall":{"name":"f","args":{"b":1.0,"a":2}},"thoughtSignature":"s1"},{"functionCall":{"name":"g"}},{"functionCall":{"id":"x","name":"g"}}]}`, string(got.Continuation))
}

func TestSignaturesStayOnTheirParts(t *testing.T) {
	got, _, err := decode(candidateOf(`{"text":"sum","thought":true},{"text":"a"},{"text":"b"},{"text":"c","thoughtSignature":"s"},{"text":"d"},{"text":"","thoughtSignature":"t"},{"text":""}`, stopped), false)
	require.NoError(t, err)
	require.Equal(t, "abcd", got.Text)
	require.JSONEq(t, `{"gemini_parts":[{"text":"ab"},{"text":"c","thoughtSignature":"s"},{"text":"d"},{"text":"","thoughtSignature":"t"}]}`, string(got.Continuation))
}

func TestStreams(t *testing.T) {
	chunks := []string{
		`{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]},"index":0}],"usageMetadata":{"promptTokenCount":20,"totalTokenCount":20},"modelVersion":"gemini-x","responseId":"r1"}`,
		candidateOf(`{"functionCall":{"name":"f","args":{}},"thoughtSignature":"s"}`, `,"index":0`),
		`{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":17,"candidatesTokenCount":6,"thoughtsTokenCount":3,"totalTokenCount":26}}`,
	}
	for name, body := range map[string]string{
		"events":              "data: " + strings.Join(chunks, "\n\ndata: ") + "\n\n",
		"events of CRLF":      "data: " + strings.Join(chunks, "\r\n\r\ndata: ") + "\r\n\r\n",
		"an array":            "[" + strings.Join(chunks, "\n,\n") + "\n]",
		"an array after mark": " \ufeff[" + strings.Join(chunks, ",\r\n") + "]\n",
	} {
		t.Run(name, func(t *testing.T) {
			got, complete, err := decode(body, true)
			require.NoError(t, err)
			require.True(t, complete)
			require.Equal(t, "hm", got.Reasoning)
			require.Equal(t, []providers.ToolCall{{ID: "call_1", Name: "f", Args: "{}"}}, got.Calls)
			require.Equal(t, providers.FinishTools, got.Finish)
			require.Equal(t, providers.Usage{Reported: true, Input: 17, Output: 6, Reasoning: 3}, got.Usage)
			require.Contains(t, string(got.RawUsage), `"totalTokenCount":26`)
			require.JSONEq(t, `{"gemini_parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"s"}]}`, string(got.Continuation))
		})
	}
}

func TestStreamsWithoutTheirEnd(t *testing.T) {
	begun := candidateOf(`{"text":"a"}`, ``)
	for name, body := range map[string]string{
		"events": "data: " + begun + "\n\n", "an array": "[" + begun, "an array, closed": "[" + begun + "]", "half an element": "[" + begun + `,{"candi`, "an empty array": "[]",
	} {
		_, complete, err := decode(body, true)
		require.NoError(t, err, name)
		require.False(t, complete, name)
	}
	got, complete, err := decode("data: "+candidateOf(`{"text":"a"}`, stopped)+"\n\ndata: "+candidateOf(`{"text":"b"}`, stopped)+"\n\n", true)
	require.NoError(t, err)
	require.True(t, complete)
	require.Equal(t, "ab", got.Text, "old models finish in every chunk")
	_, _, err = decode(`[{"candidates":]`, true)
	require.Error(t, err)
	_, complete, err = decode("["+begun+","+begun+"]", false)
	require.NoError(t, err)
	require.False(t, complete, "unasked")
}

func TestABlockedPromptEndsAStream(t *testing.T) {
	got, complete, err := decode(`data: {"promptFeedback":{"blockReason":7}}`+"\n\n", true)
	require.NoError(t, err)
	require.True(t, complete)
	require.Equal(t, providers.FinishRefusal, got.Finish)
}

// doubted returns a usage that is reported but not understood.
func doubted(u providers.Usage, reasons ...string) providers.Usage {
	u.Reported, u.NotUnderstood = true, reasons
	return u
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		name, usage string
		want        providers.Usage
	}{
		{"plain", `{"promptTokenCount":5,"candidatesTokenCount":3,"totalTokenCount":8}`, providers.Usage{Reported: true, Input: 5, Output: 3}},
		{"thoughts are not among candidates", `{"promptTokenCount":5,"candidatesTokenCount":3,"thoughtsTokenCount":10}`, providers.Usage{Reported: true, Input: 5, Output: 3, Reasoning: 10}},
		{"cached are among the prompt", `{"promptTokenCount":1087,"cachedContentTokenCount":1081,"candidatesTokenCount":2,"serviceTier":"standard"}`, providers.Usage{Reported: true, Input: 6, CacheRead: 1081, Output: 2, Tier: "standard"}},
		{"what server tools fed is not", `{"promptTokenCount":25,"candidatesTokenCount":49,"toolUsePromptTokenCount":1130,"thoughtsTokenCount":38}`, providers.Usage{Reported: true, Input: 1155, Output: 49, Reasoning: 38}},
		{"a zero is left out", `{"promptTokenCount":5,"thoughtsTokenCount":4,"totalTokenCount":9,"trafficType":1}`, providers.Usage{Reported: true, Input: 5, Reasoning: 4, Tier: "ON_DEMAND"}},
		{"more cached than asked", `{"promptTokenCount":5,"cachedContentTokenCount":9}`, doubted(providers.Usage{CacheRead: 9}, "cachedContentTokenCount: is more than promptTokenCount")},
		{"modalities", `{"promptTokenCount":9,"promptTokensDetails":[{"modality":"TEXT","tokenCount":4},{"modality":2,"tokenCount":5}],"candidatesTokenCount":3,"candidatesTokensDetails":[{"modality":1,"tokenCount":3}],"totalTokenCount":12,"trafficType":"TRAFFIC_TYPE_UNSPECIFIED"}`, providers.Usage{Reported: true, Input: 9, Output: 3}},
		{"audio", `{"promptTokenCount":9,"promptTokensDetails":[{"modality":"TEXT","tokenCount":4},{"modality":"AUDIO","tokenCount":5}]}`, doubted(providers.Usage{Input: 9}, "promptTokensDetails[].modality: is one with another price than text")},
		{"audio as a number", `{"promptTokenCount":9,"cachedContentTokenCount":5,"cacheTokensDetails":[{"modality":4,"tokenCount":5}]}`, doubted(providers.Usage{Input: 4, CacheRead: 5}, "cacheTokensDetails[].modality: is one with another price than text")},
		{"no audio after all", `{"promptTokenCount":9,"promptTokensDetails":[{"modality":"TEXT","tokenCount":9},{"modality":"AUDIO"}]}`, providers.Usage{Reported: true, Input: 9}},
		{"a picture as the answer", `{"promptTokenCount":9,"candidatesTokenCount":5,"candidatesTokensDetails":[{"modality":"IMAGE","tokenCount":5}]}`, doubted(providers.Usage{Input: 9, Output: 5}, "candidatesTokensDetails[].modality: is one with another price than text")},
		{"parts that are more", `{"promptTokenCount":9,"toolUsePromptTokenCount":1,"toolUsePromptTokensDetails":[{"modality":"TEXT","tokenCount":8}]}`, doubted(providers.Usage{Input: 17}, "toolUsePromptTokensDetails[].tokenCount: do not add up to the count of all")},
		{"a total that is more", `{"promptTokenCount":9,"candidatesTokenCount":5,"totalTokenCount":60}`, doubted(providers.Usage{Input: 9, Output: 5}, "totalTokenCount: is not the sum of the others")},
		{"a count to come", `{"promptTokenCount":9,"responseTokenCount":5}`, doubted(providers.Usage{Input: 9}, "responseTokenCount: not understood")},
		{"another tier", `{"promptTokenCount":9,"trafficType":2}`, providers.Usage{Reported: true, Input: 9, Tier: "PROVISIONED_THROUGHPUT"}},
		{"no prompt", `{"candidatesTokenCount":3}`, providers.Usage{Output: 3}},
		{"no counts", `{"trafficType":"ON_DEMAND"}`, providers.Usage{Tier: "ON_DEMAND"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := decode(`{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}],"usageMetadata":`+c.usage+`}`, false)
			require.NoError(t, err)
			require.Equal(t, c.want, got.Usage)
			require.Equal(t, c.usage, string(got.RawUsage))
		})
	}
	got, _, err := decode(`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":-1}}`, false)
	require.NoError(t, err)
	require.Len(t, got.Warnings, 1)
	require.False(t, got.Usage.Reported)
}
