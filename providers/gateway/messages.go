package gateway

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/providers"
)

// object is a JSON object of unknown form.
type object map[string]any

func (o object) text(names ...string) string {
	for _, name := range names {
		if text, _ := o[name].(string); text != "" {
			return text
		}
	}
	return ""
}

func (o object) object(name string) object {
	inside, _ := o[name].(map[string]any)
	return inside
}

// objects are the objects of a list.
func (o object) objects(name string) (list []object) {
	items, _ := o[name].([]any)
	for _, item := range items {
		if inside, ok := item.(map[string]any); ok {
			list = append(list, inside)
		}
	}
	return list
}

// Messages returns the system prompt and the conversation that a request contains, for
// people: in any of the APIs, as far as they are text, calls and results. Images are the
// word [image]; what is not understood is left out.
func (r Request) Messages() (system string, list []providers.Message) {
	var body object
	if json.Unmarshal(r.Body, &body) != nil {
		return "", nil
	}
	var said conversation
	said.instruct(blocks(body["system"]), blocks(body["instructions"]), blocks(body["systemInstruction"]), blocks(body["system_instruction"]), blocks(body["preamble"]))
	for _, name := range []string{"messages", "contents", "input"} {
		for _, m := range body.objects(name) {
			said.add(m)
		}
	}
	for _, name := range []string{"prompt", "input", "inputs", "message"} {
		if text := body.text(name); text != "" && (name != "input" || r.Kind == Chat) {
			said.list = append(said.list, providers.Message{Role: providers.RoleUser, Text: text})
		}
	}
	return strings.Join(said.system, "\n\n"), said.list
}

// conversation is what was read so far.
type conversation struct {
	system []string
	list   []providers.Message
	open   bool // the last message continues
}

// instruct adds texts to the system prompt.
func (c *conversation) instruct(lists ...[]object) {
	for _, list := range lists {
		for _, b := range list {
			if text := b.text("text"); text != "" {
				c.system = append(c.system, text)
			}
		}
	}
}

// add reads a message, or an item of the Responses API.
func (c *conversation) add(m object) {
	switch m.text("type") {
	case "function_call":
		c.say(providers.RoleAssistant, func(to *providers.Message) { to.Calls = append(to.Calls, call(m)) })
		return
	case "function_call_output":
		c.result(m.text("call_id"), "", plain(m["output"]), false)
		return
	case "reasoning":
		return
	}
	role, content := m.text("role"), blocks(m["content"])
	if parts := blocks(m["parts"]); parts != nil {
		content = parts
	}
	switch role {
	case "system", "developer":
		c.instruct(content)
		return
	case "tool", "function":
		c.result(m.text("tool_call_id"), m.text("name", "tool_name"), plain(m["content"]), false)
		return
	case "assistant", "model", "chatbot":
		role = providers.RoleAssistant
	default:
		role = providers.RoleUser
	}
	n := len(c.list)
	c.open = false
	for _, b := range content {
		c.block(role, b)
	}
	for _, b := range m.objects("tool_calls") {
		c.say(role, func(to *providers.Message) { to.Calls = append(to.Calls, call(b)) })
	}
	if len(c.list) == n { // an empty message is one nevertheless
		c.list = append(c.list, providers.Message{Role: role})
	}
}

// block reads a part of a message.
func (c *conversation) block(role string, b object) {
	use := b
	for _, name := range []string{"functionCall", "function_call", "toolUse"} {
		if inside := b.object(name); inside != nil {
			use = inside
			use["type"] = "tool_use"
		}
	}
	for _, name := range []string{"functionResponse", "function_response", "toolResult"} {
		if inside := b.object(name); inside != nil {
			use = inside
			use["type"] = "tool_result"
		}
	}
	switch kind := use.text("type"); {
	case kind == "tool_use":
		c.say(role, func(to *providers.Message) { to.Calls = append(to.Calls, call(use)) })
	case kind == "tool_result":
		content := use["content"]
		if use["response"] != nil {
			content = use["response"]
		}
		failed, _ := use["is_error"].(bool)
		c.result(use.text("tool_use_id", "toolUseId", "id"), use.text("name"), plain(content), failed || use.text("status") == "error")
	case strings.Contains(kind, "image"), b["inlineData"] != nil, b["image"] != nil:
		c.say(role, func(to *providers.Message) { to.Text = lines(to.Text, "[image]") })
	case b.text("text") != "":
		c.say(role, func(to *providers.Message) { to.Text = lines(to.Text, b.text("text")) })
	}
}

// say adds to the last message if it continues and is of the role, or else to a new one.
func (c *conversation) say(role string, add func(*providers.Message)) {
	if n := len(c.list); !c.open || c.list[n-1].Role != role {
		c.list = append(c.list, providers.Message{Role: role})
	}
	c.open = true
	add(&c.list[len(c.list)-1])
}

// lines are two texts, each on lines of its own.
func lines(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}

// result adds the result of a call.
func (c *conversation) result(id, name, text string, failed bool) {
	for _, m := range slices.Backward(c.list) {
		for _, made := range m.Calls {
			if name == "" && id != "" && made.ID == id {
				name = made.Name
			}
		}
	}
	c.open = false
	c.list = append(c.list, providers.Message{Role: providers.RoleTool, CallID: id, Name: name, Text: text, Failed: failed})
}

// call reads a call in any form.
func call(b object) providers.ToolCall {
	made := providers.ToolCall{ID: b.text("call_id", "tool_call_id", "toolUseId", "id")}
	if f := b.object("function"); f != nil {
		b = f
	}
	made.Name = b.text("name")
	for _, name := range []string{"arguments", "input", "args"} {
		if b[name] != nil {
			made.Args = plain(b[name])
		}
	}
	return made
}

// blocks are the parts of a content: a text, a list, or an object with parts.
func blocks(content any) []object {
	switch content := content.(type) {
	case string:
		return []object{{"text": content}}
	case []any:
		return object{"list": content}.objects("list")
	case map[string]any:
		if parts := object(content).objects("parts"); parts != nil {
			return parts
		}
		return []object{content}
	}
	return nil
}

// plain is a text, the texts of a list of blocks, or JSON of any other value.
func plain(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	if list, ok := value.([]any); ok {
		var texts []string
		for _, b := range (object{"list": list}).objects("list") {
			if text := b.text("text"); text != "" {
				texts = append(texts, text)
			}
		}
		if len(texts) == len(list) {
			return strings.Join(texts, "\n")
		}
	}
	text, _ := json.Marshal(value) // it was JSON
	return string(text)
}
