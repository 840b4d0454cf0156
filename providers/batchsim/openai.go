package batchsim

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
)

func refuseOpenAI(w http.ResponseWriter, status int, message string) {
	write(w, status, map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "param": nil, "code": nil}})
}

// upload keeps the file of a multipart form.
func (s *server) upload(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	parts, err := r.MultipartReader()
	if err != nil {
		refuseOpenAI(w, http.StatusBadRequest, "a multipart form is required")
		return
	}
	var file []byte
	purpose, found := "", false
	for {
		p, err := parts.NextPart()
		if err != nil {
			break
		}
		text, err := io.ReadAll(p)
		if err != nil {
			refuseOpenAI(w, http.StatusRequestEntityTooLarge, "the file is too large")
			return
		}
		switch p.FormName() {
		case "purpose":
			purpose = string(text)
		case "file":
			file, found = text, true
		}
	}
	if purpose != "batch" || !found {
		refuseOpenAI(w, http.StatusBadRequest, "'purpose' batch and 'file' are required")
		return
	}
	s.mu.Lock()
	s.made++
	id := "file-sim" + strconv.FormatInt(s.now().UnixNano(), 36) + strconv.Itoa(s.made)
	s.files[id] = file
	s.keep(id, len(file))
	s.mu.Unlock()
	write(w, http.StatusOK, map[string]any{"id": id, "object": "file", "bytes": len(file), "purpose": purpose})
}

func (s *server) createOpenAI(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		File     string          `json:"input_file_id"`
		Endpoint string          `json:"endpoint"`
		Window   string          `json:"completion_window"`
		Metadata json.RawMessage `json:"metadata"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&asked)
	s.mu.Lock()
	file, known := s.files[asked.File]
	number := strconv.Itoa(s.made + 1)
	s.mu.Unlock()
	switch {
	case err != nil || asked.Window != "24h" || asked.Endpoint != "/v1/chat/completions" && asked.Endpoint != "/v1/responses":
		refuseOpenAI(w, http.StatusBadRequest, "'input_file_id', 'endpoint' and 'completion_window' 24h are required")
		return
	case !known:
		refuseOpenAI(w, http.StatusBadRequest, "there is no such file")
		return
	case s.hit("refuse", number):
		refuseOpenAI(w, http.StatusBadRequest, "the simulator refuses this batch")
		return
	}
	j := &job{path: asked.Endpoint, header: r.Header, meta: asked.Metadata}
	seen, models := map[string]bool{}, map[string]bool{}
	for line := range bytes.Lines(file) {
		var one struct {
			ID     string          `json:"custom_id"`
			Method string          `json:"method"`
			URL    string          `json:"url"`
			Body   json.RawMessage `json:"body"`
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if json.Unmarshal(line, &one) != nil || one.ID == "" || one.Method != http.MethodPost || one.URL != asked.Endpoint || seen[one.ID] {
			j.rejected = "a line of the file is not a request with a custom_id of its own"
		}
		var body struct {
			Model  string `json:"model"`
			Stream bool   `json:"stream"`
		}
		if json.Unmarshal(one.Body, &body) != nil || body.Stream {
			j.rejected = cmp.Or(j.rejected, "a request of a batch cannot be streamed")
		}
		if models[body.Model] = true; len(models) > 1 {
			j.rejected = cmp.Or(j.rejected, "the requests of a batch must be for one model")
		}
		seen[one.ID] = true
		j.items = append(j.items, item{id: one.ID, body: one.Body})
	}
	s.start(j, "batch_")
	if s.hit("unanswered", number) {
		refuseOpenAI(w, http.StatusServiceUnavailable, "the simulator created the batch")
		return
	}
	write(w, http.StatusOK, s.openAI(j))
}

// openAI is a batch in OpenAI's form.
func (s *server) openAI(j *job) map[string]any {
	out := map[string]any{
		"id": j.id, "object": "batch", "endpoint": j.path, "completion_window": "24h", "created_at": j.created.Unix(), "metadata": j.meta,
		"status": "in_progress", "request_counts": map[string]int{"total": len(j.items), "completed": 0, "failed": 0},
	}
	switch {
	case j.full || j.rejected != "":
		code, message := "invalid_batch", j.rejected
		if j.full {
			code, message = "token_limit_exceeded", "Enqueued token limit reached"
		}
		out["status"], out["errors"] = "failed", map[string]any{"object": "list", "data": []map[string]any{{"code": code, "message": message, "line": nil, "param": nil}}}
	case j.ended():
		out["status"], out["output_file_id"], out["error_file_id"] = "completed", "out-"+j.id, "err-"+j.id
		for _, it := range j.items {
			if it.what == "expired" {
				out["status"] = "expired"
			}
		}
	}
	return out
}

func (s *server) showOpenAI(w http.ResponseWriter, r *http.Request) {
	j := s.find(r.PathValue("id"))
	if j == nil {
		refuseOpenAI(w, http.StatusNotFound, "there is no such batch")
		return
	}
	write(w, http.StatusOK, s.openAI(j))
}

func (s *server) listOpenAI(w http.ResponseWriter, r *http.Request) {
	list, more := page(s.list("batch_"), r.URL.Query().Get("after"), r.URL.Query().Get("limit"))
	data := []map[string]any{}
	for _, j := range list {
		data = append(data, s.openAI(j))
	}
	write(w, http.StatusOK, map[string]any{"object": "list", "data": data, "has_more": more})
}

// cancelOpenAI has no effect on what has run, which is all of it.
func (s *server) cancelOpenAI(w http.ResponseWriter, r *http.Request) { s.showOpenAI(w, r) }

// download serves an uploaded file, or the results of a batch.
func (s *server) download(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.mu.Lock()
	file, known := s.files[id]
	s.mu.Unlock()
	if known {
		_, _ = w.Write(file) // the client has gone
		return
	}
	kind, of, _ := strings.Cut(id, "-")
	j := s.find(of)
	if j == nil || !j.ended() {
		refuseOpenAI(w, http.StatusNotFound, "there is no such file")
		return
	}
	out := json.NewEncoder(w)
	line := func(it *item, response, failed any) {
		_ = out.Encode(map[string]any{"id": "batch_req_" + it.id, "custom_id": it.id, "response": response, "error": failed}) // as above
	}
	for i := range j.items {
		it := &j.items[i]
		switch good := it.what == "" && it.status < 300; {
		case it.lost || good != (kind == "out"):
		case it.what != "":
			line(it, nil, map[string]any{"code": "batch_" + it.what, "message": "This request could not be executed before the completion window expired."})
		default:
			response := map[string]any{"status_code": it.status, "request_id": "req_" + it.id, "body": json.RawMessage(it.reply)}
			line(it, response, nil)
			if it.doubled {
				line(it, nil, map[string]any{"code": "server_error", "message": "a second result"})
			}
		}
	}
}
