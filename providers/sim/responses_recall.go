package sim

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/cupel-eval/cupel/internal/clip"
)

// recallItems puts items in the place of references to them, and those of the previous response before all.
func recallItems(s *service, _ *http.Request, body []byte) []byte {
	var members map[string]json.RawMessage
	var r struct {
		PreviousResponseID *string         `json:"previous_response_id"`
		Conversation       json.RawMessage `json:"conversation"`
	}
	if json.Unmarshal(body, &members) != nil || json.Unmarshal(body, &r) != nil {
		return body // it is refused where it is read
	}
	reject(given(r.Conversation), http.StatusNotFound, "", "conversation", "Conversation not found: the simulation holds no conversations; send the items, or previous_response_id.")
	s.mu.Lock()
	defer s.mu.Unlock()
	items := inputItems(members["input"])
	size, recalled := len(body), r.PreviousResponseID != nil
	for i, raw := range items {
		id, ok := referred(raw)
		if !ok {
			continue
		}
		recalled = true
		items[i], ok = s.items.get(id)
		reject(!ok, http.StatusNotFound, "", "input", "Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", clip.Runes(id, 80))
		if size += len(items[i]); size > maxBody {
			panic(tooLarge())
		}
	}
	if r.PreviousResponseID != nil {
		before, ok := s.items.get(*r.PreviousResponseID)
		reject(!ok, http.StatusBadRequest, "previous_response_not_found", "previous_response_id", "Previous response with id '%s' not found.", clip.Runes(*r.PreviousResponseID, 80))
		if size+len(before) > maxBody {
			panic(tooLarge())
		}
		items = append(inputItems(before), items...)
	}
	if !recalled {
		return body
	}
	members["input"] = encodeJSON(items)
	return encodeJSON(members)
}

// inputItems are the items of an input; a text is a message. An input that is neither has none.
func inputItems(input json.RawMessage) []json.RawMessage {
	var items []json.RawMessage
	var text string
	if json.Unmarshal(input, &items) != nil && json.Unmarshal(input, &text) == nil {
		items = []json.RawMessage{encodeJSON(obj{"role": "user", "content": text})}
	}
	return items
}

// referred is the id of the item that an item refers to; ok is false if it refers
// to none. A reference may leave out its type.
func referred(item json.RawMessage) (id string, ok bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(item, &m) != nil {
		return "", false
	}
	_ = json.Unmarshal(m["id"], &id) // another type is the id of nothing
	bare := len(m) == 1 && id != ""
	return id, bare || bytes.Equal(m["type"], []byte(`"item_reference"`))
}

// keepItems remembers the items of a reply, and under the id of the response all items up to its end.
func keepItems(s *service, body []byte, q modelRequest, c completion) {
	if !q.stored {
		return
	}
	var r struct {
		Input json.RawMessage `json:"input"`
	}
	_ = json.Unmarshal(body, &r) // has been parsed
	all := inputItems(r.Input)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, item := range c.responsesOutput() {
		raw := encodeJSON(item)
		id, _ := item["id"].(string)
		s.items.put(id, raw, len(raw))
		all = append(all, raw)
	}
	raw := encodeJSON(all)
	s.items.put(c.draws.id("resp_sim"), raw, len(raw))
}

// Bounds of an archive; beyond them the oldest entries are forgotten.
const (
	maxArchived      = 4096
	maxArchivedBytes = 32 << 20
)

// archive remembers values by id, within bounds. The zero value is empty. It is not safe for concurrent use.
type archive[V any] struct {
	entries map[string]archived[V]
	order   []string // ids, oldest first
	bytes   int
}

type archived[V any] struct {
	value V
	bytes int
}

func (a *archive[V]) get(id string) (V, bool) {
	e, ok := a.entries[id]
	return e.value, ok
}

// put stores a value of a size in bytes; an id that is known keeps its place.
func (a *archive[V]) put(id string, value V, bytes int) {
	if a.entries == nil {
		a.entries = map[string]archived[V]{}
	}
	old, known := a.entries[id]
	if !known {
		a.order = append(a.order, id)
	}
	a.entries[id] = archived[V]{value, bytes}
	a.bytes += bytes - old.bytes
	for len(a.order) > maxArchived || a.bytes > maxArchivedBytes {
		a.bytes -= a.entries[a.order[0]].bytes
		delete(a.entries, a.order[0])
		a.order = a.order[1:]
	}
}
