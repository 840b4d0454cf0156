package batch

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// anthropic is Anthropic's Message Batches. A batch has no name of the caller's; the key is what
// the ids of its items begin with.
type anthropic struct{}

// limits are those of "Batch processing": 100,000 requests or 256 MB.
func (anthropic) limits() Limits { return Limits{Items: 100_000, Bytes: 240 << 20} }

func (anthropic) suffix(path string) string {
	if strings.HasSuffix(path, "/messages") {
		return "/messages"
	}
	return ""
}

// messageBatch is what is read of a batch.
type messageBatch struct {
	ID        string         `json:"id"`
	Status    string         `json:"processing_status"`
	CreatedAt time.Time      `json:"created_at"`
	Counts    map[string]int `json:"request_counts"`
}

func (b messageBatch) items() (n int) {
	for _, count := range b.Counts {
		n += count
	}
	return n
}

func (anthropic) submit(ctx context.Context, c *Client, _ string, items []Item) (string, error) {
	var body segments
	body.add(`{"requests":[`)
	for i, it := range items {
		if i > 0 {
			body.add(",")
		}
		body.add(`{"custom_id":`+quoted(it.ID)+`,"params":`, it.Body, "}")
	}
	body.add("]}")
	var made messageBatch
	const op = "create a batch"
	resp, err := c.open(ctx, op, http.MethodPost, "/messages/batches", nil, body.reader(), body.length, "application/json")
	if err == nil {
		err = decode(op, resp, maxReply, &made)
	}
	return made.ID, err
}

// find looks at the unknown batches of the time with as many items, newest first. Whose they are
// can be seen once they have ended.
func (a anthropic) find(ctx context.Context, c *Client, lost Lost) (string, error) {
	query := url.Values{"limit": {"100"}}
	for {
		var page struct {
			Data    []messageBatch `json:"data"`
			HasMore bool           `json:"has_more"`
			LastID  string         `json:"last_id"`
		}
		if err := c.ask(ctx, "list batches", http.MethodGet, "/messages/batches", query, nil, &page); err != nil {
			return "", err
		}
		for _, b := range page.Data {
			if lost.Known(b.ID) || b.items() != lost.Items || b.CreatedAt.Before(lost.Since.Add(-clockError)) || !validID(b.ID) {
				continue
			}
			if is, err := a.has(ctx, c, b, lost.Key); is || err != nil {
				return b.ID, err
			}
		}
		n := len(page.Data)
		if n == 0 || !page.HasMore || page.Data[n-1].CreatedAt.Before(lost.Since.Add(-clockError)) {
			return "", nil
		}
		query.Set("after_id", page.LastID)
	}
}

// findEvery is how often it is asked whether a batch has ended whose items are not known.
const findEvery = 10 * time.Second

// has reports whether the ids of a batch's items begin with a key. It waits until the batch has
// ended.
func (a anthropic) has(ctx context.Context, c *Client, b messageBatch, key string) (bool, error) {
	for b.Status != "ended" {
		timer := time.NewTimer(findEvery)
		select {
		case <-ctx.Done():
			timer.Stop()
			return false, ctx.Err()
		case <-timer.C:
		}
		if err := c.ask(ctx, "ask for batch "+b.ID, http.MethodGet, "/messages/batches/"+b.ID, nil, nil, &b); err != nil {
			return false, err
		}
	}
	is, stop := false, errors.New("one is enough")
	err := a.lines(ctx, c, b.ID, func(line []byte) error {
		var one struct {
			ID string `json:"custom_id"`
		}
		if json.Unmarshal(line, &one) != nil || one.ID == "" {
			return nil
		}
		is = strings.HasPrefix(one.ID, key+"_")
		return stop
	})
	if errors.Is(err, stop) {
		err = nil
	}
	return is, err
}

func (anthropic) state(ctx context.Context, c *Client, id string) (State, error) {
	var b messageBatch
	err := c.ask(ctx, "ask for batch "+id, http.MethodGet, "/messages/batches/"+id, nil, nil, &b)
	return State{Ended: err == nil && b.Status == "ended"}, err
}

// lines reads the results. Their address is made here: that in the reply might be at another
// host, which must not get the key.
func (anthropic) lines(ctx context.Context, c *Client, id string, f func([]byte) error) error {
	op := "download the results of batch " + id
	resp, err := c.open(ctx, op, http.MethodGet, "/messages/batches/"+id+"/results", nil, nil, 0, "")
	if err != nil {
		return err
	}
	return eachLine(op, resp, f)
}

func (a anthropic) results(ctx context.Context, c *Client, id string, _ State, yield func(Result)) error {
	return a.lines(ctx, c, id, func(line []byte) error {
		var one struct {
			ID     string `json:"custom_id"`
			Result struct {
				Type    string          `json:"type"`
				Message json.RawMessage `json:"message"`
				Error   json.RawMessage `json:"error"`
			} `json:"result"`
		}
		if json.Unmarshal(line, &one) != nil {
			return nil // its item has no result
		}
		status, body := http.StatusOK, []byte(one.Result.Message)
		switch one.Result.Type {
		case "succeeded":
		case "errored":
			status, body = a.errored(one.Result.Error)
		default: // expired, canceled
			status = NotRun(one.Result.Type)
			body = a.failure(status, "batch_"+one.Result.Type, "the provider did not run this request: "+one.Result.Type)
		}
		yield(result(one.ID, status, body))
		return nil
	})
}

// errorStatus has the HTTP status of each type of error (API reference, "Errors").
var errorStatus = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403, "not_found_error": 404,
	"request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504, "overloaded_error": 529,
}

// errored is the reply to a request with an error, which is in an envelope of its own or not.
func (anthropic) errored(raw json.RawMessage) (status int, body []byte) {
	var e struct {
		Type  string          `json:"type"`
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(raw, &e) == nil && e.Type == "error" && len(e.Error) > 0 {
		raw = e.Error
		e.Type = ""
		_ = json.Unmarshal(raw, &e) // without a type it is an internal error
	}
	status = errorStatus[e.Type]
	if status == 0 {
		status = http.StatusInternalServerError
	}
	if len(raw) == 0 {
		raw = json.RawMessage("null")
	}
	return status, slices.Concat([]byte(`{"type":"error","error":`), raw, []byte("}"))
}

func (anthropic) failure(_ int, kind, message string) []byte {
	text, _ := json.Marshal(map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}})
	return text
}
