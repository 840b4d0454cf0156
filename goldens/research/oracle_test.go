package research

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/world"
)

// oracle answers with the tools of a task's world only. It repeats a failed call up to
// twice.
type oracle struct {
	t     *testing.T
	task  goldens.Task
	world *world.Environment
	// calls are the calls made so far. Their durations advance the virtual time.
	calls   []goldens.Called
	elapsed time.Duration
	// rivals are the lights that lost a comparison.
	rivals []string
	down   bool
}

// light is a record that was found.
type light struct{ id, name string }

// value is a value of a light's record; recorded is false if the record lacks it.
type value struct {
	light
	text     string
	recorded bool
}

func (v value) number() float64 {
	n, _ := strconv.ParseFloat(v.text, 64)
	return n
}

// ask calls a tool.
func (o *oracle) ask(name string, args map[string]any, to any) {
	text, err := json.Marshal(args)
	require.NoError(o.t, err)
	call := tool.Call{Name: name, Args: text}
	for range 3 {
		r, err := o.world.Call(o.t.Context(), call, o.task.World.Now.Add(o.elapsed))
		require.NoError(o.t, err)
		o.elapsed += r.Duration
		o.calls = append(o.calls, goldens.Called{Call: call, Outcome: r.Outcome, Result: r.Value})
		if r.Outcome == tool.OK {
			require.NoError(o.t, json.Unmarshal(r.Value, to))
			return
		}
	}
	o.down = true
}

// find searches. The title without its last word is the name of the light.
func (o *oracle) find(query string) (out []light) {
	var got struct {
		Total   int
		Results []struct{ ID, Title string }
	}
	o.ask("search", map[string]any{"query": query}, &got)
	require.Equal(o.t, got.Total, len(got.Results), "one search shows all of %s", query)
	for _, r := range got.Results {
		out = append(out, light{r.ID, strings.TrimSuffix(r.Title, " lighthouse")})
	}
	return out
}

// named finds the only light of each name.
func (o *oracle) named(names ...string) (out []light) {
	for _, name := range names {
		list := o.find(name)
		i := slices.IndexFunc(list, func(l light) bool { return l.name == name })
		require.GreaterOrEqual(o.t, i, 0, name)
		out = append(out, list[i])
	}
	return out
}

// read extracts a field of every light.
func (o *oracle) read(field string, lights ...light) (out []value) {
	for _, l := range lights {
		var got struct{ Value any }
		o.ask("extract", map[string]any{"id": l.id, "field": field}, &got)
		v := value{light: l, recorded: got.Value != nil}
		if v.recorded {
			v.text = fmt.Sprint(got.Value)
		}
		out = append(out, v)
	}
	return out
}

// best compares the recorded values and returns the first light; the others become
// rivals.
func (o *oracle) best(order string, list []value) light {
	var items []any
	for _, v := range recorded(list) {
		items = append(items, map[string]any{"id": v.id, "value": json.Number(v.text)})
	}
	var got struct {
		Best struct{ ID string }
		Tie  []string
	}
	o.ask("compare", map[string]any{"items": items, "order": order}, &got)
	require.Empty(o.t, got.Tie, "a tie has no single first place")
	i := slices.IndexFunc(list, func(v value) bool { return v.id == got.Best.ID })
	for k, v := range list {
		if k != i {
			o.rivals = append(o.rivals, v.name)
		}
	}
	return list[i].light
}

var keeperIs = regexp.MustCompile(`Its last keeper was (\pL+ \pL+)`)

// keeper returns the last keeper, from its first mention in the text.
func (o *oracle) keeper(l light) string {
	var got struct{ Text string }
	o.ask("open", map[string]any{"id": l.id}, &got)
	m := keeperIs.FindStringSubmatch(got.Text)
	require.NotNil(o.t, m, l.id)
	return m[1]
}

// on keeps the lights whose record puts them on a coast.
func (o *oracle) on(coast string, lights []light) []light {
	return slices.DeleteFunc(lights, func(l light) bool { return o.read("region", l)[0].text != coast })
}

func recorded(list []value) (out []value) {
	for _, v := range list {
		if v.recorded {
			out = append(out, v)
		}
	}
	return out
}

// holes lists the lights without a recorded value.
func holes(list []value) string {
	var out []string
	for _, v := range list {
		if !v.recorded {
			out = append(out, v.name+" is not recorded.")
		}
	}
	return strings.Join(out, " ")
}

func that(list []value, passes func(n float64) bool) (names []string) {
	for _, v := range recorded(list) {
		if passes(v.number()) {
			names = append(names, v.name)
		}
	}
	return names
}

func sum(list []value) (total float64) {
	for _, v := range recorded(list) {
		total += v.number()
	}
	return total
}

func mean(list []value) float64 { return sum(list) / float64(max(1, len(recorded(list)))) }

func texts(list []value) string {
	var out []string
	for _, v := range recorded(list) {
		out = append(out, v.text)
	}
	return strings.Join(out, ", ")
}

// show writes a number in plain decimal.
func show(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// given returns the names in the task's input.
func (o *oracle) given() (names []string) {
	require.NoError(o.t, json.Unmarshal(o.task.Inputs[0].Value, &names))
	return names
}

// outcome returns the result of an episode in which the oracle gave this answer.
func (o *oracle) outcome(answer string) goldens.Outcome {
	return goldens.Outcome{
		Status: cmp.Or(map[bool]string{true: "cannot_proceed"}[o.down], "answered"), Answer: answer, Calls: o.calls, AllTurnsValidJSON: true,
		Steps: len(o.calls) + 1, Elapsed: o.elapsed,
	}
}
