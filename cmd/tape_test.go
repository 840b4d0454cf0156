package cmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cupel-eval/cupel/providers/batchsim"
	"github.com/cupel-eval/cupel/providers/sim"
)

// askModel is a program that asks a model as an SDK does: ask [FLAGS] TEXT… sends a chat
// request for each text and prints the replies. Its exit code is the number of requests that
// failed, or -exit.
func askModel() {
	path := flag.String("path", "/chat/completions", "below OPENAI_BASE_URL")
	model := flag.String("model", "sim-strong", "")
	stream := flag.Bool("stream", false, "")
	extra := flag.String("extra", "", "more members of the body, as JSON")
	retries := flag.Int("retries", 0, "of 429 and 5xx")
	code := flag.Int("exit", -1, "")
	show := flag.String("show", "", "prints variables of the environment, separated by commas")
	key := flag.String("key", os.Getenv("OPENAI_API_KEY"), "")
	flag.Parse()
	for name := range strings.SplitSeq(*show, ",") {
		if name != "" {
			fmt.Println(name + "=" + os.Getenv(name))
		}
	}
	failed := 0
	for _, text := range flag.Args() {
		fields := map[string]any{"model": *model, "stream": *stream, "messages": []map[string]string{{"role": "user", "content": text}}}
		if *path != "/chat/completions" {
			fields = map[string]any{"model": *model, "input": text}
		}
		body, _ := json.Marshal(fields)
		if *extra != "" {
			body = append(append(body[:len(body)-1], ','), *extra+"}"...)
		}
		status, reply := 0, ""
		for range *retries + 1 {
			if status, reply = post(os.Getenv("OPENAI_BASE_URL")+*path, *key, body); status != 429 && status < 500 {
				break
			}
		}
		if fmt.Println(reply); status >= 400 {
			failed++
		}
	}
	if *code >= 0 {
		failed = *code
	}
	os.Exit(failed)
}

// post sends a request and returns what the reply says.
func post(url, key string, body []byte) (int, string) {
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body)) //nolint:noctx // a program of its own
	if err != nil {
		return 499, err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 499, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		events := 0
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "data:") {
				events++
			}
		}
		return resp.StatusCode, fmt.Sprintf("streamed %t", events > 2)
	}
	text, _ := io.ReadAll(resp.Body)
	var reply struct {
		Choices []struct{ Message struct{ Content string } }
		Error   struct{ Message string }
	}
	_ = json.Unmarshal(text, &reply)
	switch {
	case len(reply.Choices) > 0:
		return resp.StatusCode, reply.Choices[0].Message.Content
	case reply.Error.Message != "":
		return resp.StatusCode, fmt.Sprintf("%d %s", resp.StatusCode, reply.Error.Message)
	}
	return resp.StatusCode, fmt.Sprintf("%d %s", resp.StatusCode, text)
}

// simulate starts simulated models and batches that answer immediately, as cupel sim serves them, and sets $URL: simulate
func simulate(ts *testscript.TestScript, _ bool, _ []string) {
	s, err := batchsim.Start(context.Background(), "", batchsim.Config{Models: sim.Config{Seed: 1}})
	ts.Check(err)
	ts.Defer(func() { _ = s.Close() })
	ts.Setenv("URL", s.URL())
}

// serveScript answers the nth request with the nth pair of status and reply, the last one
// from then on, and sets $URL. A reply is a text that the model says, or JSON:
// script STATUS REPLY …
func serveScript(ts *testscript.TestScript, _ bool, args []string) {
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := min(int(n.Add(1)), len(args)/2) - 1
		status, _ := strconv.Atoi(args[2*i])
		reply := strings.ReplaceAll(args[2*i+1], "$AUTHORIZATION", r.Header.Get("Authorization"))
		if !strings.HasPrefix(reply, "{") {
			quoted, _ := json.Marshal(reply)
			reply = `{"id": "1", "object": "chat.completion", "model": "gpt-4o-mini", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ` +
				string(quoted) + `}}], "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}}`
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, reply)
	}))
	ts.Defer(s.Close)
	ts.Setenv("URL", s.URL)
}
