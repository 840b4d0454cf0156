package recorder_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/cupel-eval/cupel/recorder"
)

// A plain http.Client records an exchange, and replays it after the server has stopped.
func Example() {
	dir, err := os.MkdirTemp("", "cassettes")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "hello, "+r.URL.Query().Get("name"))
	}))
	base := server.Client().Transport
	ask := func(mode recorder.Mode) *recorder.Recorder {
		rec, err := recorder.New(recorder.Options{Mode: mode, Dir: dir, Path: "greeting.yaml", Base: base})
		if err != nil {
			panic(err)
		}
		client := &http.Client{Transport: rec}
		resp, err := client.Post(server.URL+"?name=cupel&key=not-on-the-cassette", "application/json", strings.NewReader(`{"a":1}`))
		if err != nil {
			panic(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			panic(err)
		}
		fmt.Println(mode, resp.Status, string(body))
		return rec
	}

	rec := ask(recorder.Record)
	server.Close()
	if err := rec.Save(); err != nil {
		panic(err)
	}
	rec = ask(recorder.Replay)
	fmt.Println("left over:", rec.Leftover())
	// Output:
	// record 200 OK hello, cupel
	// replay 200 OK hello, cupel
	// left over: 0
}
