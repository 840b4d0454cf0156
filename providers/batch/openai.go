package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// openAI is OpenAI's Batch API: the requests are lines of an uploaded file, and so are the
// results. The key is in the batch's metadata.
type openAI struct{}

// limits are those of the API reference, "Create batch".
func (openAI) limits() Limits { return Limits{Items: 50_000, Bytes: 190 << 20} }

func (openAI) suffix(path string) string {
	for _, s := range []string{"/chat/completions", "/responses"} {
		if strings.HasSuffix(path, s) {
			return s
		}
	}
	return ""
}

// metadataKey is the name of the key in a batch's metadata.
const metadataKey = "cupel_batch"

// openAIBatch is what is read of a batch.
type openAIBatch struct {
	ID         string            `json:"id"`
	Status     string            `json:"status"`
	CreatedAt  int64             `json:"created_at"`
	OutputFile string            `json:"output_file_id"`
	ErrorFile  string            `json:"error_file_id"`
	Metadata   map[string]string `json:"metadata"`
	Errors     struct {
		Data []struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			Line    int    `json:"line"` // from 1; 0 if it is about the batch
		} `json:"data"`
	} `json:"errors"`
}

func (openAI) submit(ctx context.Context, c *Client, key string, items []Item) (string, error) {
	var form segments
	boundary := "cupel-" + key
	form.add("--"+boundary+"\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n",
		"--"+boundary+"\r\nContent-Disposition: form-data; name=\"file\"; filename=\""+key+".jsonl\"\r\nContent-Type: application/jsonl\r\n\r\n")
	endpoint := "/v1" + c.path
	for _, it := range items {
		form.add(`{"custom_id":`+quoted(it.ID)+`,"method":"POST","url":`+quoted(endpoint)+`,"body":`, it.Body, "}\n")
	}
	form.add("\r\n--" + boundary + "--\r\n")
	var file struct {
		ID string `json:"id"`
	}
	const op = "upload the requests of a batch"
	resp, err := c.open(ctx, op, http.MethodPost, "/files", nil, form.reader(), form.length, "multipart/form-data; boundary="+boundary)
	if err == nil {
		err = decode(op, resp, maxReply, &file)
	}
	if err != nil {
		return "", err
	}
	var made openAIBatch
	err = c.ask(ctx, "create a batch", http.MethodPost, "/batches", nil, map[string]any{
		"input_file_id": file.ID, "endpoint": endpoint, "completion_window": "24h", "metadata": map[string]string{metadataKey: key},
	}, &made)
	return made.ID, err
}

func (openAI) find(ctx context.Context, c *Client, lost Lost) (string, error) {
	query := url.Values{"limit": {"100"}}
	for {
		var page struct {
			Data    []openAIBatch `json:"data"`
			HasMore bool          `json:"has_more"`
		}
		if err := c.ask(ctx, "list batches", http.MethodGet, "/batches", query, nil, &page); err != nil {
			return "", err
		}
		for _, b := range page.Data {
			if b.Metadata[metadataKey] == lost.Key {
				return b.ID, nil
			}
		}
		n := len(page.Data)
		if n == 0 || !page.HasMore || time.Unix(page.Data[n-1].CreatedAt, 0).Before(lost.Since.Add(-clockError)) {
			return "", nil
		}
		query.Set("after", page.Data[n-1].ID)
	}
}

// clockError is how far the clocks of this machine and of a provider may differ.
const clockError = 2 * time.Hour

func (openAI) state(ctx context.Context, c *Client, id string) (State, error) {
	var b openAIBatch
	if err := c.ask(ctx, "ask for batch "+id, http.MethodGet, "/batches/"+id, nil, nil, &b); err != nil {
		return State{}, err
	}
	s := State{Ended: true}
	switch b.Status {
	case "completed":
	case "expired", "cancelled":
		s.Cut = b.Status
	case "failed":
		s.Rejected, s.Lines = "the batch failed", map[int]string{}
		for i, e := range b.Errors.Data {
			text := cmp.Or(strings.TrimPrefix(e.Code+": "+e.Message, ": "), "without a reason")
			if i == 0 {
				s.Rejected = text
			}
			if e.Line > 0 {
				s.Lines[e.Line-1] = text
			}
			s.Full = s.Full || e.Code == "token_limit_exceeded"
		}
	default: // validating, in_progress, finalizing, cancelling
		return State{}, nil
	}
	for _, f := range []string{b.OutputFile, b.ErrorFile} {
		if f != "" && !validID(f) {
			return State{}, &Error{Op: "ask for batch " + id, Err: fmt.Errorf("%w: the id of a file is %.80q", errUnreadable, f)}
		}
		if f != "" {
			s.files = append(s.files, f)
		}
	}
	return s, nil
}

func (a openAI) results(ctx context.Context, c *Client, id string, s State, yield func(Result)) error {
	for _, f := range s.files {
		op := "download the results of batch " + id
		resp, err := c.open(ctx, op, http.MethodGet, "/files/"+f+"/content", nil, nil, 0, "")
		if err != nil {
			return err
		}
		if err := eachLine(op, resp, func(line []byte) error { a.line(line, yield); return nil }); err != nil {
			return err
		}
	}
	return nil
}

// line reads one result. An item whose line is not JSON has no result.
func (a openAI) line(line []byte, yield func(Result)) {
	var one struct {
		ID       string `json:"custom_id"`
		Response *struct {
			Status    int             `json:"status_code"`
			RequestID string          `json:"request_id"`
			Body      json.RawMessage `json:"body"`
		} `json:"response"`
		Error *struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(line, &one) != nil {
		return
	}
	switch {
	case one.Response != nil && one.Response.Status != 0:
		r := result(one.ID, one.Response.Status, one.Response.Body)
		if validID(one.Response.RequestID) {
			r.Header.Set("X-Request-Id", one.Response.RequestID)
		}
		yield(r)
	case one.Error != nil:
		status := NotRun(one.Error.Code)
		yield(result(one.ID, status, a.failure(status, one.Error.Code, one.Error.Message)))
	default:
		yield(result(one.ID, http.StatusBadGateway, a.failure(http.StatusBadGateway, "empty_result", "the batch has an empty result for this request")))
	}
}

func (openAI) failure(_ int, kind, message string) []byte {
	text, _ := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": kind, "code": kind}})
	return text
}
