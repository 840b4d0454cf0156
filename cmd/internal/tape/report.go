package tape

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/gateway"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// drain is how long a reply that is in flight when the command ends may take. It was paid
// for, and a recording without it could not be saved.
const drain = time.Minute

// say prints lines to the user.
func (s *session) say(format string, args ...any) {
	_, _ = fmt.Fprintln(s.o.Log, "cupel tape: "+strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n  ")) // a broken pipe does not end the command
}

// quoted is untrusted text on one line.
func quoted(text string) string { return console.OneLine(text, 80) }

// end closes the session once its replies are complete, or a second after an interruption.
func (s *session) end(interrupted bool) {
	patience := drain
	if interrupted {
		patience = time.Second
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	defer time.AfterFunc(time.Second, func() { s.say("waits at most %v for replies in flight", patience) }).Stop()
	s.handle.Close(ctx)
}

// conclude saves what was recorded and says what was asked.
func (s *session) conclude(code int, interrupted bool) (int, error) {
	for _, refused := range s.handle.Refused() {
		s.say("refused: %s", quoted(refused))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.o.Mode == Replay {
		return s.concludeReplay(code), nil
	}
	answered := slices.ContainsFunc(s.asked, func(x exchange) bool { return x.Status >= 200 && x.Status < 300 })
	switch {
	case len(s.asked) == 0:
		s.say("the command asked no model, so nothing is recorded; does it read OPENAI_BASE_URL, ANTHROPIC_BASE_URL, GOOGLE_GEMINI_BASE_URL or OLLAMA_HOST?")
		return code, nil
	case interrupted:
		for _, place := range s.failed {
			s.recorder.Retract(place)
		}
		s.say("interrupted: %s is not written. The next recording does not repeat %s", s.o.File, console.Count(len(s.asked)-len(s.failed), "finished request"))
		return code, nil
	case !answered:
		s.say("%s, and none was answered with success (status %d): nothing is recorded. Check the key and the address", console.Count(len(s.asked), "request"), s.asked[0].Status)
		dir, name := filepath.Split(s.o.File)
		return cmp.Or(code, exit.Failed), recorder.Discard(recorder.Options{Dir: cmp.Or(dir, "."), Path: name, Run: "tape"})
	}
	if err := s.recorder.Save(); err != nil {
		return 0, exit.With(exit.Failed, err)
	}
	lines, _ := s.list()
	kept := 0
	for _, x := range s.asked {
		if x.Replayed {
			kept++
		}
	}
	if kept > 0 {
		s.say("%s from the interrupted recording not repeated", console.Count(kept, "request"))
	}
	s.say("recorded %s in %s%s", console.Count(len(s.asked), "request"), s.o.File, lines)
	return code, nil
}

// concludeReplay says what was asked, and what that saved.
func (s *session) concludeReplay(code int) int {
	waited := time.Duration(0)
	for _, x := range s.asked {
		waited += x.Duration
	}
	lines, total := s.list()
	s.say("replayed %s of %s%s", console.Count(len(s.asked), "request"), s.o.File, lines)
	if len(s.asked) > 0 {
		s.say("saved %.1f s of waiting, and the cost: %s", waited.Seconds(), total.price())
	}
	if left := s.recorder.Leftover(); left > 0 && s.misses == 0 {
		s.say("%s of the recording not asked", console.Count(left, "request"))
	}
	if s.misses == 0 {
		return code
	}
	s.say("%s without a recording. Leave out what differs each time by --ignore POINTER or --replace PATTERN, or record again: %s", console.Count(s.misses, "request"), s.again)
	return exit.Replay
}

// used is what one model was asked.
type used struct {
	requests, failed, unknown int
	in, out, cost             int64
}

// list says what each model was asked, a line for each, and what is known of the cost.
func (s *session) list() (lines string, total used) {
	dir, name := filepath.Split(s.o.File)
	recorded, err := cassette.Inspect(cassette.File{Dir: cmp.Or(dir, "."), Path: name})
	if err != nil {
		return "\n" + err.Error(), used{unknown: len(s.asked)}
	}
	at := s.recorder.Positions()
	models := map[string]*used{}
	for _, x := range s.asked {
		i := x.Index
		if at != nil {
			i = at[i]
		}
		label := cmp.Or(quoted(x.model), string(x.kind))
		if x.kind != gateway.Chat && x.model != "" {
			label += " (" + string(x.kind) + ")"
		}
		if models[label] == nil {
			models[label] = &used{}
		}
		models[label].add(s, recorded, recorded.Recorded(i), x)
	}
	for _, label := range slices.Sorted(maps.Keys(models)) {
		u := models[label]
		lines += "\n" + label + ": " + u.String()
		total.cost, total.unknown = total.cost+u.cost, total.unknown+u.unknown
	}
	return lines, total
}

// String is a line of list.
func (u *used) String() string {
	line := console.Count(u.requests, "request")
	if u.failed > 0 {
		line += fmt.Sprintf(" (%d failed)", u.failed)
	}
	if u.in+u.out > 0 {
		line += fmt.Sprintf(", %d tokens in, %d out", u.in, u.out)
	}
	return line + ", cost: " + u.price()
}

// price is the cost in words.
func (u *used) price() string {
	switch {
	case u.unknown == 0:
		return "$" + console.USD(u.cost)
	case u.cost == 0:
		return "unknown"
	}
	return fmt.Sprintf("$%s and that of %s, which is unknown", console.USD(u.cost), console.Count(u.unknown, "request"))
}

// add counts a recorded exchange. Lists of models and counts of tokens cost nothing, and a
// request that failed costs nothing that is known.
func (u *used) add(s *session, file *cassette.Contents, r cassette.Recorded, x exchange) {
	u.requests++
	switch {
	case x.kind == gateway.Models || x.kind == gateway.Count:
		return
	case r.Status < 200 || r.Status >= 300 || r.Failure != "":
		u.failed++
		return
	case x.kind != gateway.Chat:
		u.unknown++
		return
	}
	route := gateway.RouteOf(file.Header.Provider, r.Method, r.URL, []byte(r.Request))
	reply, err := decode(route, r)
	if err != nil {
		u.unknown++
		return
	}
	day, _ := time.Parse(time.DateOnly, file.Header.Recorded) // Save wrote it
	s.prices.Settle(route.Provider, route.Model, &reply, day)
	u.in += reply.Usage.Input + reply.Usage.CacheRead + reply.Usage.CacheWrite
	u.out += reply.Usage.Output + reply.Usage.Reasoning
	cost, ok := s.prices.Cost(route.Provider, route.Model, reply.Usage, day)
	if !ok && reply.CostNanoUSD != nil {
		cost, ok = *reply.CostNanoUSD, true
	}
	if !ok {
		u.unknown++
	}
	u.cost += cost
}

// decode reads a recorded reply.
func decode(route gateway.Route, r cassette.Recorded) (providers.Reply, error) {
	factory := all.Factories()[route.Provider]
	if factory == nil {
		return providers.Reply{}, errors.New("no provider " + route.Provider)
	}
	return gateway.Decode(context.Background(), factory, route.Model, route.Stream, &http.Response{
		StatusCode: r.Status, Header: r.Header, Body: io.NopCloser(strings.NewReader(r.Body)),
	})
}
