package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// gemini is the batches of the Gemini API, with the requests and the results inline. The key is
// the batch's display name.
type gemini struct{}

// limits are those of inline requests: "suitable for smaller batches that keep the total request
// size under 20MB".
func (gemini) limits() Limits { return Limits{Items: 10_000, Bytes: 18 << 20} }

// suffix is what follows the version: /models/NAME:generateContent.
func (gemini) suffix(path string) string {
	if at := strings.LastIndex(path, "/models/"); at >= 0 && strings.HasSuffix(path, ":generateContent") {
		return path[at:]
	}
	return ""
}

// operation is what is read of a batch.
type operation struct {
	Name     string        `json:"name"`
	Done     bool          `json:"done"`
	Metadata batchMetadata `json:"metadata"`
	Error    *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Response struct {
		Inlined json.RawMessage `json:"inlinedResponses"`
	} `json:"response"`
}

type batchMetadata struct {
	State       string    `json:"state"`
	DisplayName string    `json:"displayName"`
	CreateTime  time.Time `json:"createTime"`
	Output      struct {
		Inlined json.RawMessage `json:"inlinedResponses"`
	} `json:"output"`
}

func (gemini) submit(ctx context.Context, c *Client, key string, items []Item) (string, error) {
	var body segments
	body.add(`{"batch":{"displayName":` + quoted(key) + `,"inputConfig":{"requests":{"requests":[`)
	for i, it := range items {
		if i > 0 {
			body.add(",")
		}
		body.add(`{"request":`, it.Body, `,"metadata":{"key":`+quoted(it.ID)+"}}")
	}
	body.add("]}}}}")
	var made operation
	const op = "create a batch"
	path := strings.TrimSuffix(c.path, ":generateContent") + ":batchGenerateContent"
	resp, err := c.open(ctx, op, http.MethodPost, path, nil, body.reader(), body.length, "application/json")
	if err == nil {
		err = decode(op, resp, maxReply, &made)
	}
	return made.Name, err
}

func (gemini) find(ctx context.Context, c *Client, lost Lost) (string, error) {
	query := url.Values{"pageSize": {"100"}}
	for {
		var page struct {
			Operations []operation `json:"operations"`
			Next       string      `json:"nextPageToken"`
		}
		if err := c.ask(ctx, "list batches", http.MethodGet, "/batches", query, nil, &page); err != nil {
			return "", err
		}
		for _, o := range page.Operations {
			if o.Metadata.DisplayName == lost.Key {
				return o.Name, nil
			}
		}
		if len(page.Operations) == 0 || page.Next == "" {
			return "", nil
		}
		query.Set("pageToken", page.Next)
	}
}

// maxInline bounds the reply that has the results.
const maxInline = 512 << 20

func (gemini) state(ctx context.Context, c *Client, id string) (State, error) {
	op := "ask for batch " + id
	resp, err := c.open(ctx, op, http.MethodGet, "/"+id, nil, nil, 0, "")
	if err != nil {
		return State{}, err
	}
	var o operation
	if err := decode(op, resp, maxInline, &o); err != nil {
		return State{}, err
	}
	s := State{embedded: o.Response.Inlined}
	if len(s.embedded) == 0 {
		s.embedded = o.Metadata.Output.Inlined
	}
	switch name := o.Metadata.State[strings.LastIndexByte(o.Metadata.State, '_')+1:]; {
	case name == "EXPIRED" || name == "CANCELLED":
		s.Ended, s.Cut = true, strings.ToLower(name)
	case name == "FAILED" || o.Done && o.Error != nil:
		s.Ended, s.Rejected = true, "the batch failed without a reason"
		if o.Error != nil {
			s.Rejected = o.Error.Message
		}
	case name == "SUCCEEDED" || o.Done:
		s.Ended = true
	}
	return s, nil
}

// grpcStatus has the HTTP status of each code of google.rpc.Code.
var grpcStatus = map[int]int{
	1: 499, 3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409, 11: 400, 12: 501, 13: 500, 14: 503, 15: 500, 16: 401,
}

func (g gemini) results(_ context.Context, _ *Client, id string, s State, yield func(Result)) error {
	raw := s.embedded
	var envelope struct {
		List json.RawMessage `json:"inlinedResponses"`
	}
	if json.Unmarshal(raw, &envelope) == nil && len(envelope.List) > 0 {
		raw = envelope.List
	}
	if len(raw) == 0 {
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return &Error{Op: "read the results of batch " + id, Err: fmt.Errorf("%w: %w", errUnreadable, err)}
	}
	for _, one := range list {
		g.item(one, yield)
	}
	return nil
}

// item reads one result. An item whose result is not the expected JSON has none.
func (g gemini) item(raw json.RawMessage, yield func(Result)) {
	var one struct {
		Metadata struct {
			Key string `json:"key"`
		} `json:"metadata"`
		Response json.RawMessage `json:"response"`
		Error    *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(raw, &one) != nil {
		return
	}
	if one.Error == nil && len(one.Response) > 0 {
		yield(result(one.Metadata.Key, http.StatusOK, one.Response))
		return
	}
	code, message := 13, "the batch has an empty result for this request"
	if one.Error != nil {
		code, message = one.Error.Code, one.Error.Message
	}
	status := grpcStatus[code]
	if status == 0 {
		status = code // some are HTTP's already
	}
	if status < 400 || status > 599 {
		status = http.StatusInternalServerError
	}
	yield(result(one.Metadata.Key, status, g.failure(status, "", message)))
}

func (gemini) failure(status int, kind, message string) []byte {
	if kind != "" {
		message = kind + ": " + message
	}
	text, _ := json.Marshal(map[string]any{"error": map[string]any{"code": status, "message": message, "status": statusWord(status)}})
	return text
}

// statusWord is Google's word for a status.
func statusWord(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "INVALID_ARGUMENT"
	case http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case http.StatusForbidden:
		return "PERMISSION_DENIED"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case http.StatusServiceUnavailable:
		return "UNAVAILABLE"
	}
	return "INTERNAL"
}
