package scorer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/local"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// TestMain makes the test binary a program that scores: it writes its second argument.
func TestMain(m *testing.M) {
	if len(os.Args) < 3 || os.Args[1] != "score" {
		os.Exit(m.Run())
	}
	in, err := io.ReadAll(os.Stdin)
	var e Episode
	if err == nil {
		err = json.Unmarshal(in, &e)
	}
	switch what := os.Args[2]; {
	case err != nil:
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(4)
	case what == "fails":
		_, _ = fmt.Fprintln(os.Stderr, "no tone model")
		os.Exit(3)
	case what == "hangs":
		time.Sleep(time.Minute)
	case what == "much":
		_, _ = fmt.Print(strings.Repeat("x", maxOutput+1))
	case what == "says":
		_, _ = fmt.Printf(`{"pass": %t, "score": %d, "reason": %q}`, e.Answer == "yes", len(e.Calls), string(e.With))
	default:
		_, _ = fmt.Print(what)
	}
	os.Exit(0)
}

func TestAsk(t *testing.T) {
	tests := []struct {
		name, says string
		spec       Spec
		want       string // as JSON
		passed     bool
		err        string
	}{
		{name: "reads the episode", says: "says", spec: Spec{With: json.RawMessage(`{"a":1}`)}, want: `{"pass": true, "score": 1, "reason": "{\"a\":1}"}`, passed: true},
		{name: "fail", says: `{"pass": false}`, want: `{"pass": false}`},
		{name: "enough", says: `{"score": 0.7}`, spec: Spec{AtLeast: new(0.7)}, want: `{"score": 0.7}`, passed: true},
		{name: "too little", says: `{"score": 0.69, "pass": true}`, spec: Spec{AtLeast: new(0.7)}, want: `{"pass": true, "score": 0.69}`},
		{name: "enough but no pass", says: `{"score": 1, "pass": false}`, spec: Spec{AtLeast: new(0.7)}, want: `{"pass": false, "score": 1}`},
		{name: "long reason", says: `{"pass": true, "reason": "` + strings.Repeat("x", 1000) + `"}`, want: `{"pass": true, "reason": "` + strings.Repeat("x", MaxReason) + `…"}`, passed: true},
		{name: "no score", says: `{"pass": true}`, spec: Spec{AtLeast: new(0.7)}, err: "score tone: the result has no score, which at_least needs"},
		{name: "no pass", says: `{"score": 1}`, err: "score tone: the result has no pass"},
		{name: "not JSON", says: `passed!`, err: `and nothing else, but wrote "passed!"`},
		{name: "more", says: `{"pass": true} {"pass": false}`, err: "more than one value"},
		{name: "another field", says: `{"passed": true}`, err: `unknown field "passed"`},
		{name: "infinite", says: `{"pass": true, "score": 1e999}`, err: "nothing else"},
		{name: "nothing", says: ``, err: "wrote nothing"},
		{name: "fails", says: "fails", err: "failed: exit status 3: no tone model"},
		{name: "much", says: "much", err: "wrote more than 64 KiB"},
		{name: "hangs", says: "hangs", spec: Spec{Timeout: 50 * time.Millisecond}, err: "gave no result within 50ms and was killed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.spec
			s.Name, s.Exec = "tone", []string{os.Args[0], "score", tt.says}
			r, err := Ask(t.Context(), local.Transport{}, s, Episode{Answer: "yes", Calls: []Call{{Tool: "x"}}})
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				require.ErrorContains(t, err, "tone")
				return
			}
			require.NoError(t, err)
			got, err := json.Marshal(r)
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(got))
			require.Equal(t, tt.passed, s.Passed(r))
		})
	}
	_, err := Ask(t.Context(), local.Transport{}, Spec{Name: "tone", Exec: []string{"./no-such-program"}}, Episode{})
	require.ErrorContains(t, err, `start the program of score tone "./no-such-program"`)
	tells := Spec{Name: "tone", Exec: []string{os.Args[0], "score", `{"pass": true, "reason": "credential-of-the-scorer"}`}}
	_, err = Ask(t.Context(), local.Transport{Secrets: secrets.New("credential-of-the-scorer")}, tells, Episode{})
	require.EqualError(t, err, "the result of the program at http://score.invalid/tone holds a credential and is withheld; leave it out of the reason")
}

func TestCall(t *testing.T) {
	s := Spec{Name: "polite", Check: "is_polite", With: json.RawMessage("7")}
	call := func(f Func) (Result, error) { return s.Call(t.Context(), f, Episode{Answer: "please"}) }
	r, err := call(func(_ context.Context, e Episode) (Result, error) {
		return Result{Pass: new(e.Answer == "please" && string(e.With) == "7")}, nil
	})
	require.NoError(t, err)
	require.True(t, s.Passed(r))
	_, err = call(func(context.Context, Episode) (Result, error) { return Result{}, errors.New("no dictionary") })
	require.EqualError(t, err, "score polite: the function is_polite: no dictionary")
	_, err = call(func(context.Context, Episode) (Result, error) { panic("oops") })
	require.EqualError(t, err, "score polite: the function is_polite panicked: oops")
	_, err = call(func(context.Context, Episode) (Result, error) {
		return Result{Pass: new(true), Score: new(math.NaN())}, nil
	})
	require.EqualError(t, err, "score polite: the score must be a finite number")
	_, err = call(func(context.Context, Episode) (Result, error) { return Result{}, nil })
	require.ErrorContains(t, err, "the result has no pass")
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"pass": true}`, `{"score": 1, "reason": "x"}`, `{"pass": true} x`, ``, `null`, `[]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		for _, s := range []Spec{{}, {AtLeast: new(0.5)}} {
			r, err := s.read(out)
			if err == nil {
				require.True(t, r.Pass != nil || r.Score != nil)
				require.LessOrEqual(t, len(r.Reason), MaxReason+len("…"))
			}
		}
	})
}
