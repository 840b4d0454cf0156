package batchsim

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

func refuseGemini(w http.ResponseWriter, status int, word, message string) {
	write(w, status, map[string]any{"error": map[string]any{"code": status, "message": message, "status": word}})
}

func (s *server) createGemini(w http.ResponseWriter, r *http.Request, model string) {
	var asked struct {
		Batch struct {
			Name  string `json:"displayName"`
			Input struct {
				Requests struct {
					Requests []struct {
						Request  json.RawMessage `json:"request"`
						Metadata struct {
							Key string `json:"key"`
						} `json:"metadata"`
					} `json:"requests"`
				} `json:"requests"`
			} `json:"inputConfig"`
		} `json:"batch"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 20<<20)).Decode(&asked)
	j := &job{name: asked.Batch.Name, path: model + ":generateContent", header: r.Header}
	for _, one := range asked.Batch.Input.Requests.Requests {
		j.items = append(j.items, item{id: one.Metadata.Key, body: one.Request})
	}
	s.mu.Lock()
	number := strconv.Itoa(s.made + 1)
	s.mu.Unlock()
	if err != nil || len(j.items) == 0 || j.name == "" || s.hit("refuse", number) {
		refuseGemini(w, http.StatusBadRequest, "INVALID_ARGUMENT", "a displayName and inline requests of at most 20 MB are required")
		return
	}
	if len(j.items) > 1 && s.hit("full", number) {
		refuseGemini(w, http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "too many requests are in batches")
		return
	}
	s.start(j, "sim-gemini-")
	if s.hit("unanswered", number) {
		refuseGemini(w, http.StatusServiceUnavailable, "UNAVAILABLE", "the simulator created the batch")
		return
	}
	write(w, http.StatusOK, j.gemini(false))
}

// grpcCodes are the codes of google.rpc.Code by HTTP status.
var grpcCodes = map[int]int{400: 3, 401: 16, 403: 7, 404: 5, 429: 8, 499: 1, 500: 13, 503: 14, 504: 4}

// gemini is a batch in Gemini's form.
func (j *job) gemini(results bool) map[string]any {
	meta := map[string]any{
		"displayName": j.name, "state": "BATCH_STATE_RUNNING", "createTime": j.created.UTC().Format(time.RFC3339Nano), "name": "batches/" + j.id,
		"batchStats": map[string]any{"requestCount": strconv.Itoa(len(j.items))},
	}
	out := map[string]any{"name": "batches/" + j.id, "metadata": meta}
	switch {
	case j.rejected != "":
		meta["state"], out["done"] = "BATCH_STATE_FAILED", true
		out["error"] = map[string]any{"code": 3, "message": "the simulator rejects this batch"}
	case j.ended():
		meta["state"], out["done"] = "BATCH_STATE_SUCCEEDED", true
		if results {
			out["response"] = map[string]any{"inlinedResponses": map[string]any{"inlinedResponses": j.inlined()}}
		}
	}
	return out
}

func (j *job) inlined() []map[string]any {
	list := []map[string]any{}
	for i := range j.items {
		it := &j.items[i]
		one := map[string]any{"metadata": map[string]any{"key": it.id}}
		switch {
		case it.lost:
			continue
		case it.what == "expired":
			one["error"] = map[string]any{"code": 14, "message": "the request expired"}
		case it.what != "":
			one["error"] = map[string]any{"code": 1, "message": "the request was cancelled"}
		case it.status >= 300:
			var failed struct {
				Error struct {
					Message string `json:"message"`
				} `json:"error"`
			}
			_ = json.Unmarshal(it.reply, &failed) // without a message it has none
			one["error"] = map[string]any{"code": grpcCodes[it.status], "message": failed.Error.Message}
		default:
			one["response"] = json.RawMessage(it.reply)
		}
		list = append(list, one)
		if it.doubled {
			list = append(list, map[string]any{"metadata": map[string]any{"key": it.id}, "error": map[string]any{"code": 13, "message": "a second result"}})
		}
	}
	return list
}

func (s *server) showGemini(w http.ResponseWriter, r *http.Request) {
	j := s.find(r.PathValue("id"))
	if j == nil {
		refuseGemini(w, http.StatusNotFound, "NOT_FOUND", "there is no such batch")
		return
	}
	write(w, http.StatusOK, j.gemini(true))
}

// cancelGemini is POST batches/ID:cancel.
func (s *server) cancelGemini(w http.ResponseWriter, r *http.Request) {
	id, ok := strings.CutSuffix(r.PathValue("call"), ":cancel")
	if j := s.find(id); !ok || j == nil {
		refuseGemini(w, http.StatusNotFound, "NOT_FOUND", "there is no such batch")
		return
	}
	write(w, http.StatusOK, map[string]any{})
}

func (s *server) listGemini(w http.ResponseWriter, r *http.Request) {
	list, more := page(s.list("sim-gemini-"), r.URL.Query().Get("pageToken"), r.URL.Query().Get("pageSize"))
	operations, next := []map[string]any{}, ""
	for _, j := range list {
		operations = append(operations, j.gemini(false))
		if more {
			next = j.id
		}
	}
	write(w, http.StatusOK, map[string]any{"operations": operations, "nextPageToken": next})
}
