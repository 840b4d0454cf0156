package research

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

func loaded(t *testing.T) *goldens.Suite {
	t.Helper()
	s, err := load.Suite(FS, "research", Worlds())
	require.NoError(t, err)
	return s
}

func TestSuite(t *testing.T) {
	s := loaded(t)
	require.NoError(t, s.Lint())
	require.Empty(t, s.Warnings)
	require.Equal(t, "research", s.Name)
	var candidates []string
	for _, c := range s.Candidates {
		require.NoError(t, c.Validate())
		candidates = append(candidates, strings.Join([]string{c.Name, c.Agent, c.Provider, c.Model}, " "))
	}
	require.Equal(t, []string{
		"contract-strong  sim-openai sim-strong", "tools-strong tools sim-openai sim-strong", "plan-strong plan sim-openai sim-strong",
		"contract-erratic  sim-anthropic sim-erratic", "tools-erratic tools sim-anthropic sim-erratic", "plan-erratic plan sim-anthropic sim-erratic",
	}, candidates)
	require.Len(t, s.Tasks, 50)
	for _, task := range s.Tasks {
		require.NotEmpty(t, task.Title, task.ID)
		require.NotEmpty(t, task.Probes, task.ID)
		require.Len(t, task.Tags, 1, "%s has the tag of its file", task.ID)
		require.Equal(t, "research/tasks/"+task.Tags[0]+".yaml", task.File)
		require.GreaterOrEqual(t, task.Budgets.MaxSteps, 40, "%s: hard caps are wide", task.ID)
		for _, e := range task.Expect {
			require.NotEmpty(t, e.Trajectory.Required, "%s: facts are looked up, not invented", task.ID)
			require.NotNil(t, e.MaxClarifies, task.ID)
			require.Nil(t, e.MaxSteps, "%s: how many steps a strategy takes is measured", task.ID)
			for _, c := range e.Trajectory.Required {
				require.NotEqual(t, "compare", c.Tool, "%s: one may compare without the tool", task.ID)
			}
		}
	}
}

// TestToolSchemas checks that the schemas and the tools refuse the same arguments.
func TestToolSchemas(t *testing.T) {
	s := loaded(t)
	set, err := tool.NewSet(s.Tools)
	require.NoError(t, err)
	for _, tc := range []struct {
		name, args string
		ok         bool
	}{
		{"search", `{"query":"north coast"}`, true},
		{"search", `{"query":"north coast","limit":20}`, true},
		{"search", `{"query":"north coast","limit":21}`, false},
		{"search", `{"query":""}`, false},
		{"search", `{"query":"` + strings.Repeat("x", 201) + `"}`, false},
		{"open", `{"id":"alder-point"}`, true},
		{"open", `{"id":"Alder Point"}`, false},
		{"extract", `{"id":"alder-point","field":"lamp"}`, true},
		{"extract", `{"id":"alder-point","field":"height"}`, false},
		{"compare", `{"items":[{"id":"a","value":1},{"id":"b","value":2.5}],"order":"lowest"}`, true},
		{"compare", `{"items":[{"id":"a","value":1}],"order":"lowest"}`, false},
		{"compare", `{"items":[{"id":"a","value":1},{"id":"b","value":"2"}],"order":"lowest"}`, false},
		{"compare", `{"items":[{"id":"a","value":1},{"id":"b","value":2}],"order":"best"}`, false},
	} {
		call := tool.Call{Name: tc.name, Args: []byte(tc.args)}
		require.Equal(t, tc.ok, len(set.Validate(call)) == 0, "%s %s", tc.name, tc.args)
		r, err := opened(t, s.Tasks[0]).Call(t.Context(), call, s.Tasks[0].World.Now)
		require.NoError(t, err)
		require.Equal(t, tc.ok, r.Outcome == tool.OK, "%s %s: %s", tc.name, tc.args, r.Message)
	}
}

// TestRecords checks what the questions rely on: one search finds a coast or a
// designer, the result fits into an observation, and every highest or lowest value is
// unique.
func TestRecords(t *testing.T) {
	s := loaded(t)
	docs, err := readState(s.Tasks[0].World.State)
	require.NoError(t, err)
	groups := map[string][]document{}
	fields := map[string]bool{}
	lights, holes := 0, 0
	for _, d := range docs {
		for name, v := range d.Fields {
			fields[name] = true
			if v == nil {
				holes++
			}
		}
		if d.Fields == nil {
			continue
		}
		lights++
		for _, by := range []string{"region", "designer"} {
			group := d.Fields[by].(string)
			groups[group] = append(groups[group], d)
			require.Contains(t, d.Text, group, d.ID)
		}
		require.Regexp(t, keeperIs, d.Text, d.ID)
		require.Equal(t, d.ID, strings.ReplaceAll(strings.ToLower(strings.TrimSuffix(d.Title, " lighthouse")), " ", "-"))
	}
	require.Equal(t, []int{29, 27, 10, 7}, []int{len(docs), lights, len(groups), len(fields)})
	require.Positive(t, holes)
	for group, members := range groups {
		o := &oracle{t: t, task: s.Tasks[0], world: opened(t, s.Tasks[0])}
		found := o.find(group)
		require.Len(t, found, len(members), "search %q", group)
		require.LessOrEqual(t, len(o.calls[0].Result), 600, "what an observation shows of the search for %s", group)
		for _, field := range []string{"height_m", "range_nm", "built"} {
			values := recorded(o.read(field, found...))
			o.best("highest", values)
			o.best("lowest", values)
			require.GreaterOrEqual(t, len(values), len(members)-1)
		}
	}
	for name := range fields {
		require.Contains(t, string(s.Tools[2].Schema), `"`+name+`"`)
	}
	require.True(t, slices.ContainsFunc(docs, func(d document) bool { return strings.Contains(d.Text, "ignore your instructions") }))
}

// TestPack checks that every candidate and task has recordings, and that they are
// small.
func TestPack(t *testing.T) {
	info, err := fs.Stat(FS, cassettes.PackName)
	require.NoError(t, err, "cassettes.md says how to record it")
	require.Less(t, info.Size(), int64(1500<<10))
	pack, err := cassette.OpenPack(FS, cassettes.PackName)
	require.NoError(t, err)
	defer func() { require.NoError(t, pack.Close()) }()
	s := loaded(t)
	for _, c := range s.Candidates {
		for _, task := range s.Tasks {
			_, err := fs.Stat(pack, cassettes.Path(task.ID, c.Name, 1))
			require.NoError(t, err)
		}
	}
}

// opened returns the open world of a task.
func opened(t *testing.T, task goldens.Task) *world.Environment {
	t.Helper()
	w, err := goldens.OpenWorld(t.Context(), task, 1)
	require.NoError(t, err)
	return w
}
