package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	settings "github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/rerun"
	"github.com/cupel-eval/cupel/recorder"
)

// memoryService serves an agent that shows the model everything that was said in its session,
// and the id of the session. With state it remembers that by itself, and otherwise it takes it
// from the history that it gets.
type memoryService struct {
	state bool
	mu    sync.Mutex
	said  map[string][]string // by session
	sent  int                 // episodes that got a history
}

func (s *memoryService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var start struct {
		foreignStart
		Session string                             `json:"session_id"`
		History []struct{ Request, Answer string } `json:"history"`
	}
	if err := json.NewDecoder(r.Body).Decode(&start); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	var said []string
	if s.sent += min(1, len(start.History)); s.state {
		said = slices.Clone(s.said[start.Session])
	}
	for _, x := range start.History {
		said = append(said, x.Request, x.Answer)
	}
	s.mu.Unlock()
	messages := []chatMessage{{Role: "system", Content: "session " + start.Session}}
	for _, text := range append(said, start.Request) {
		messages = append(messages, chatMessage{Role: "user", Content: text})
	}
	m, _, err := foreignChat(r.Context(), start.foreignStart, map[string]any{"model": "any", "messages": messages})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answer := fmt.Sprintf("%s, after %d in %s", m.Content, len(said)/2, start.Session)
	s.mu.Lock()
	s.said[start.Session] = append(said, start.Request, answer)
	s.mu.Unlock()
	_ = json.NewEncoder(w).Encode(map[string]string{"answer": answer})
}

// TestForeignSessions: the tasks of a session remember what was said, by a history that they get
// or by what the service remembers of their session. Another run is another conversation.
func TestForeignSessions(t *testing.T) {
	for _, conversation := range []string{settings.HistorySent, settings.OwnState} {
		t.Run(conversation, func(t *testing.T) {
			service := &memoryService{state: conversation == settings.OwnState, said: map[string][]string{}}
			server := httptest.NewServer(service)
			defer server.Close()
			o := talkOptions(t, &echoModel{})
			o.Candidates = []goldens.Candidate{{Name: "foreign", Agent: "external", Provider: "sim-openai", Model: "sim-strong", Settings: settings.Settings{HTTP: settings.HTTP{URL: server.URL, Conversation: conversation}}}}
			o.Select.Candidates = []string{"foreign"}
			o.Transport = func(string) http.RoundTripper { return &scriptedModel{failed: map[string]int{}} }
			for day := range 2 {
				o.Now = func() time.Time { return time.Date(2026, 5, 20+day, 0, 0, 0, 0, time.UTC) }
				recorded := runTalk(t, o)
				rows := rowsOf(t, recorded)
				answers := answersOf(t, recorded)
				for _, trial := range []string{"1", "2"} {
					require.Equal(t, "reply to First, after 0 in cupel-session", answers["Z1/foreign/"+trial])
					require.Equal(t, "reply to Second, after 1 in cupel-session", answers["M2/foreign/"+trial])
					require.Equal(t, "reply to Third, after 2 in cupel-session", answers["A3/foreign/"+trial])
					require.Equal(t, "reply to Dos, after 1 in cupel-session", answers["B2/foreign/"+trial])
					require.Equal(t, "reply to Alone again, after 0 in cupel-session", answers["S2/foreign/"+trial])
				}
				again := o
				again.Mode, again.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
				for _, again.WithAgent = range []bool{false, true} {
					for range 2 {
						require.Equal(t, withoutRun(rows), withoutRun(rowsOf(t, runTalk(t, again))))
					}
				}
				// Of one task, the earlier ones of its session are run, too.
				again.Select.Tasks = []string{"A3"}
				require.Equal(t, "reply to Third, after 2 in cupel-session", answersOf(t, runTalk(t, again))["A3/foreign/1"])
				v, err := rerun.Verify(context.Background(), again, recorded.Dir)
				require.NoError(t, err)
				require.Nil(t, v.First)
			}
			require.Equal(t, !service.state, service.sent > 0)
		})
	}
}

// TestForeignReplies: questions through ask_user are answered by the replies of the task, in
// their order, until there are no more.
func TestForeignReplies(t *testing.T) {
	o := foreignOptions(t, foreignService(t, func(ctx context.Context, s foreignStart) (string, error) {
		tools, err := foreignTools(ctx, s)
		if err != nil {
			return "", err
		}
		defer func() { _ = tools.Close() }()
		var heard []string
		for i := range 3 {
			if _, _, err := foreignChat(ctx, s, map[string]any{"model": "any", "messages": []chatMessage{{Role: "user", Content: fmt.Sprint(i, heard)}}}); err != nil {
				return "", err
			}
			res, err := tools.CallTool(ctx, &mcp.CallToolParams{Name: "ask_user", Arguments: map[string]any{"question": fmt.Sprintf("question %d?", i)}})
			if err != nil {
				return "", err
			}
			if res.IsError {
				break
			}
			heard = append(heard, res.Content[0].(*mcp.TextContent).Text)
			if s.Request == "Count praise messages from 2026-05-04, end date to follow." {
				break
			}
		}
		return strings.Join(heard, ", "), nil
	}), "C15", "G16")
	o.Transport = func(string) http.RoundTripper { return &scriptedModel{failed: map[string]int{}} }
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, res)
	for _, e := range rows.Episodes {
		switch e.TaskID {
		case "C15":
			require.Equal(t, []string{"answered_after_clarify", "2026-05-06"}, []string{e.Status, strings.Trim(e.Answer, `"`)})
			require.Equal(t, int32(1), e.Clarifies)
		case "G16":
			require.Equal(t, "clarify", e.Status, "the replies are used up")
			require.Contains(t, e.Answer, "question")
		}
	}
	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
	for _, o.WithAgent = range []bool{false, true} {
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		require.Equal(t, withoutRun(rows), withoutRun(rowsOf(t, res)))
	}
}
