package sim

import "github.com/cupel-eval/cupel/providers/sim/internal/model"

// conversation is a request as the models read it.
func (q modelRequest) conversation(d draws, limit int) model.Conversation {
	c := model.Conversation{
		System: q.system, Tools: q.tools, Schemas: q.schemas, Serial: q.serial, Limit: limit, Seed: d.digest,
		None: q.choice == choiceNone, Any: q.choice == choiceAny, JSON: q.mode == jsonText, Arguments: q.mode == toolCall,
	}
	if q.choice == choiceAny || q.choice == choiceNamed {
		c.Must = q.tool
	}
	for _, m := range q.messages {
		said := model.Message{Own: m.own, Text: m.text}
		for _, t := range m.calls {
			said.Calls = append(said.Calls, model.Call{ID: t.id, Name: t.name, Args: t.args})
		}
		for _, r := range m.results {
			said.Results = append(said.Results, model.Result{ID: r.id, Name: r.name, Text: r.text, Failed: r.failed})
		}
		c.Messages = append(c.Messages, said)
	}
	return c
}
