package batchsim

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

func refuseAnthropic(w http.ResponseWriter, status int, kind, message string) {
	write(w, status, map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}})
}

func (s *server) createAnthropic(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Requests []struct {
			ID     string          `json:"custom_id"`
			Params json.RawMessage `json:"params"`
		} `json:"requests"`
	}
	j := &job{path: "/v1/messages", header: r.Header}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&asked)
	seen := map[string]bool{}
	for i, one := range asked.Requests {
		if one.ID == "" || len(one.ID) > 64 || seen[one.ID] || len(one.Params) == 0 {
			refuseAnthropic(w, http.StatusBadRequest, "invalid_request_error", "requests."+strconv.Itoa(i)+": a custom_id of its own and params are required")
			return
		}
		seen[one.ID] = true
		j.items = append(j.items, item{id: one.ID, body: one.Params})
	}
	s.mu.Lock()
	number := strconv.Itoa(s.made + 1)
	s.mu.Unlock()
	if err != nil || len(j.items) == 0 || s.hit("refuse", number) || s.hit("reject", number) { // a batch is not rejected later
		refuseAnthropic(w, http.StatusBadRequest, "invalid_request_error", "requests: the simulator refuses this batch")
		return
	}
	if len(j.items) > 1 && s.hit("full", number) {
		refuseAnthropic(w, http.StatusTooManyRequests, "rate_limit_error", "too many requests are in batches")
		return
	}
	s.start(j, "msgbatch_")
	if s.hit("unanswered", number) {
		refuseAnthropic(w, http.StatusServiceUnavailable, "api_error", "the simulator created the batch")
		return
	}
	write(w, http.StatusOK, j.anthropic())
}

// anthropic is a batch in Anthropic's form.
func (j *job) anthropic() map[string]any {
	counts := map[string]int{"processing": len(j.items), "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
	status := "in_progress"
	if j.ended() {
		status = "ended"
		counts["processing"] = 0
		for i := range j.items {
			counts[j.items[i].outcome()]++
		}
	}
	return map[string]any{
		"id": j.id, "type": "message_batch", "processing_status": status, "request_counts": counts,
		"created_at": j.created.UTC().Format(time.RFC3339Nano), "expires_at": j.created.Add(24 * time.Hour).UTC().Format(time.RFC3339Nano),
	}
}

func (it *item) outcome() string {
	switch {
	case it.what == "cancelled":
		return "canceled"
	case it.what != "":
		return it.what
	case it.status >= 300:
		return "errored"
	}
	return "succeeded"
}

func (s *server) showAnthropic(w http.ResponseWriter, r *http.Request) {
	j := s.find(r.PathValue("id"))
	if j == nil {
		refuseAnthropic(w, http.StatusNotFound, "not_found_error", "there is no such batch")
		return
	}
	write(w, http.StatusOK, j.anthropic())
}

func (s *server) cancelAnthropic(w http.ResponseWriter, r *http.Request) { s.showAnthropic(w, r) }

func (s *server) listAnthropic(w http.ResponseWriter, r *http.Request) {
	list, more := page(s.list("msgbatch_"), r.URL.Query().Get("after_id"), r.URL.Query().Get("limit"))
	data, last := []map[string]any{}, ""
	for _, j := range list {
		data, last = append(data, j.anthropic()), j.id
	}
	write(w, http.StatusOK, map[string]any{"data": data, "has_more": more, "last_id": last})
}

func (s *server) resultsAnthropic(w http.ResponseWriter, r *http.Request) {
	j := s.find(r.PathValue("id"))
	if j == nil || !j.ended() {
		refuseAnthropic(w, http.StatusNotFound, "not_found_error", "there are no results")
		return
	}
	out := json.NewEncoder(w)
	for i := range j.items {
		it := &j.items[i]
		result := map[string]any{"type": it.outcome()}
		switch result["type"] {
		case "succeeded":
			result["message"] = json.RawMessage(it.reply)
		case "errored":
			result["error"] = json.RawMessage(it.reply)
		}
		if !it.lost {
			_ = out.Encode(map[string]any{"custom_id": it.id, "result": result}) // the client has gone
		}
		if it.doubled && !it.lost {
			_ = out.Encode(map[string]any{"custom_id": it.id, "result": map[string]any{"type": "expired"}})
		}
	}
}
