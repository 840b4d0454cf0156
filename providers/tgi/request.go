package tgi

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/providers"
)

// request is the body sent. Field order is fixed: equal calls give equal bytes.
type request struct {
	Inputs     string     `json:"inputs"`
	Parameters parameters `json:"parameters"`
	// Stream is read by endpoints that reply both ways.
	Stream bool `json:"stream,omitempty"`
}

type parameters struct {
	// Details asks for the reason of the ending and the count of tokens.
	Details bool `json:"details"`
	// ReturnFullText is sent since Hugging Face's inference repeats the prompt
	// by default.
	ReturnFullText bool     `json:"return_full_text"`
	DoSample       *bool    `json:"do_sample,omitempty"`
	MaxNewTokens   int      `json:"max_new_tokens,omitempty"`
	Temperature    *float64 `json:"temperature,omitempty"`
	Seed           *int64   `json:"seed,omitempty"`
	Stop           []string `json:"stop,omitempty"`
	Grammar        *grammar `json:"grammar,omitempty"`
}

type grammar struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// newRequest says what to send and which settings are left out; problem says why
// nothing can be sent.
func newRequest(call providers.Call) (r request, warnings []string, problem string) {
	if len(call.Tools) > 0 {
		return r, nil, "tools are not part of the generate API: ask the chat endpoint by the wire openai"
	}
	if r.Inputs, problem = newPrompt(call); problem != "" {
		return r, nil, problem
	}
	r.Parameters = parameters{Details: true, MaxNewTokens: call.MaxTokens, Temperature: call.Temperature, Seed: call.Seed, Stop: call.Stop}
	if t := call.Temperature; t != nil {
		sample := *t > 0 // the server refuses a temperature of 0
		r.Parameters.DoSample = &sample
		if !sample {
			r.Parameters.Temperature = nil
		}
	}
	if call.Seed != nil && *call.Seed < 0 {
		r.Parameters.Seed = nil
		warnings = append(warnings, "seed: a negative one is not taken, not sent")
	}
	if call.Format != nil {
		r.Parameters.Grammar = &grammar{Type: "json", Value: call.Format.Schema}
	}
	return r, warnings, ""
}

// speakers are the names of the roles in a prompt.
var speakers = map[string]string{providers.RoleUser: "User", providers.RoleAssistant: "Assistant"}

// newPrompt makes one text of a call. A user's message that is alone is the
// prompt as it is. Otherwise each message is a paragraph that begins with who
// speaks, the system's first, and the last is the assistant's, to be completed:
//
//	System: Be brief.
//
//	User: Hi
//
//	Assistant:
//
// An image is before its text as Markdown, which is how the server's vision
// models take it.
func newPrompt(call providers.Call) (prompt, problem string) {
	var parts []string
	for i, m := range call.Messages {
		if speakers[m.Role] == "" || len(m.Calls) > 0 {
			return "", fmt.Sprintf("message %d: tools are not part of the generate API: ask the chat endpoint by the wire openai", i+1)
		}
		var text strings.Builder
		for _, image := range m.Images {
			url := image.URL
			if len(image.Data) > 0 {
				url = "data:" + cmp.Or(image.MediaType, "image/png") + ";base64," + base64.StdEncoding.EncodeToString(image.Data)
			}
			text.WriteString("![](" + url + ")")
		}
		text.WriteString(m.Text)
		if len(call.Messages) == 1 && call.System == "" && m.Role == providers.RoleUser {
			return text.String(), ""
		}
		parts = append(parts, speakers[m.Role]+": "+text.String())
	}
	if call.System != "" {
		parts = append([]string{"System: " + call.System}, parts...)
	}
	if n := len(call.Messages); n == 0 || call.Messages[n-1].Role != providers.RoleAssistant {
		parts = append(parts, "Assistant:")
	}
	return strings.Join(parts, "\n\n"), ""
}
