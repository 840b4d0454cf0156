package counts

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
)

func loaded(t *testing.T) *goldens.Suite {
	t.Helper()
	s, err := load.Suite(FS, "counts", Worlds())
	require.NoError(t, err)
	return s
}

func TestSuite(t *testing.T) {
	s := loaded(t)
	require.NoError(t, s.Lint())
	require.Empty(t, s.Warnings)
	require.Equal(t, "counts", s.Name)

	var candidates []string
	for _, c := range s.Candidates {
		require.NoError(t, c.Validate())
		candidates = append(candidates, strings.Join([]string{c.Name, c.Provider, c.Model, c.Rescue}, " "))
	}
	require.Equal(t, []string{"strong sim-openai sim-strong ", "strong-anthropic sim-anthropic sim-strong ", "erratic sim-openai sim-erratic sim-strong", "weak sim-anthropic sim-weak "}, candidates)

	golden, judged := 0, 0
	for _, task := range s.Tasks {
		require.NotEmpty(t, task.Title, task.ID)
		require.NotEmpty(t, task.Probes, task.ID)
		require.Len(t, task.Tags, 1, "%s has the tag of its file", task.ID)
		require.Equal(t, "counts/tasks/"+task.Tags[0]+".yaml", task.File)
		switch {
		case task.Scripted:
			require.Equal(t, "harness", task.Tier, task.ID)
		default:
			judged++
			require.Equal(t, 10, task.Budgets.MaxSteps, "%s: hard caps are wide, at_most is the check", task.ID)
			if task.ID != "C53" { // the task tests the cap
				require.Equal(t, 10, task.Budgets.MaxToolCalls, task.ID)
			}
			for _, e := range task.Expect {
				require.NotNil(t, e.MaxSteps, "%s has no step expectation", task.ID)
				require.LessOrEqual(t, *e.MaxSteps, 6, task.ID)
			}
		}
		if strings.HasPrefix(task.ID, "G") {
			golden++
		}
	}
	require.Equal(t, 48, golden)
	require.GreaterOrEqual(t, judged, 85, "too few tasks to judge a candidate by")
}

func TestToolSchemas(t *testing.T) {
	s := loaded(t)
	set, err := tool.NewSet(s.Tools)
	require.NoError(t, err)
	valid := `{"start_date":"2026-05-01","end_date":"2026-05-02","label":"info"}`
	require.Empty(t, set.Validate(tool.Call{Name: "get_counts", Args: []byte(valid)}))
	for name, edit := range map[string][2]string{
		"newline after the date": {"2026-05-01", `2026-05-01\n`},
		"other digits":           {"2026-05-01", "２０２６-05-01"},
		"text around the date":   {"2026-05-01", "on 2026-05-01"},
		"label in capitals":      {"info", "INFO"},
		"extra argument":         {`"label"`, `"x":1,"label"`},
	} {
		args := strings.Replace(valid, edit[0], edit[1], 1)
		require.NotEmpty(t, set.Validate(tool.Call{Name: "get_counts", Args: []byte(args)}), name)
	}
	require.Empty(t, set.Validate(tool.Call{Name: "today_range", Args: []byte(`{}`)}))
	require.NotEmpty(t, set.Validate(tool.Call{Name: "today_range", Args: []byte(`{"zone":"UTC"}`)}))
	require.True(t, s.Tools[0].Uncacheable)
	require.True(t, s.Tools[2].Repeatable)
}

// TestNumbersAreTheTables recomputes, day by day from the tables, the number
// of every task that expects exactly one and one call of get_counts.
func TestNumbersAreTheTables(t *testing.T) {
	checked := 0
	for _, task := range loaded(t).Tasks {
		for _, e := range task.Expect {
			required := slices.DeleteFunc(slices.Clone(e.Trajectory.Required), func(c goldens.CallMatch) bool { return c.Tool != "get_counts" || c.Args == nil })
			if len(required) != 1 || len(e.Numbers) != 1 {
				continue
			}
			args := required[0].Args
			require.Equal(t, strconv.FormatInt(sum(t, task, args), 10), e.Numbers[0], task.ID)
			checked++
		}
	}
	require.GreaterOrEqual(t, checked, 45)
}

// sum adds up the days of a get_counts call.
func sum(t *testing.T, task goldens.Task, args map[string]any) int64 {
	t.Helper()
	day, err := time.Parse(time.DateOnly, args["start_date"].(string))
	require.NoError(t, err)
	s, err := readState(task.World.State)
	require.NoError(t, err)
	total := int64(0)
	for end := args["end_date"].(string); day.Format(time.DateOnly) <= end; day = day.AddDate(0, 0, 1) {
		n, ok := s.counts[day.Format(time.DateOnly)][args["label"].(string)]
		require.True(t, ok, "%s: no data for %s", task.ID, day.Format(time.DateOnly))
		total += n
	}
	return total
}

// TestComputedAnswers computes the answers that need more than one sum, and writes out
// the dates of the tasks that need a calendar.
func TestComputedAnswers(t *testing.T) {
	tasks := map[string]goldens.Task{}
	for _, task := range loaded(t).Tasks {
		tasks[task.ID] = task
	}
	of := func(id, start, end, label string) int64 {
		return sum(t, tasks[id], map[string]any{"start_date": start, "end_date": end, "label": label})
	}
	day := func(id, date string) []int64 {
		return []int64{of(id, date, date, "angry"), of(id, date, date, "praise"), of(id, date, date, "info")}
	}
	texts := func(n ...int64) []string {
		var out []string
		for _, v := range n {
			out = append(out, strconv.FormatInt(v, 10))
		}
		return out
	}
	today := day("G10", "2026-05-13")
	require.Equal(t, texts(today...), tasks["G10"].Expect[0].Numbers)
	require.Equal(t, texts(today[1], today[0]), tasks["G09"].Expect[0].Numbers)
	all := day("C11", "2026-05-07")
	require.Equal(t, texts(all[0]+all[1]+all[2]), tasks["C11"].Expect[0].Numbers)
	near := map[string]string{"angry": texts(all[0])[0], "praise": texts(all[1])[0], "info": texts(all[2])[0]}
	require.Equal(t, near, tasks["C11"].Expect[0].Near)
	first, second := of("C12", "2026-05-01", "2026-05-05", "angry"), of("C12", "2026-05-06", "2026-05-10", "angry")
	require.Equal(t, texts(first, second, max(first-second, second-first)), tasks["C12"].Expect[0].Numbers)
	before, after := of("C13", "2026-05-11", "2026-05-11", "praise"), of("C13", "2026-05-12", "2026-05-12", "praise")
	require.Zero(t, 100*(after-before)%before)
	require.Equal(t, texts(100*(after-before)/before, before, after), tasks["C13"].Expect[0].Numbers)

	week, lastWeek := of("C33", "2026-05-11", "2026-05-13", "angry"), of("C33", "2026-05-04", "2026-05-10", "angry")
	require.Equal(t, texts(lastWeek-week, week, lastWeek), tasks["C33"].Expect[0].Numbers)
	before, after = of("C35", "2026-05-08", "2026-05-08", "angry"), of("C35", "2026-05-09", "2026-05-09", "angry")
	require.Zero(t, 100*(before-after)%before)
	require.Equal(t, texts(100*(before-after)/before, after, before), tasks["C35"].Expect[0].Numbers)
	require.Equal(t, texts(100*(before-after)/after), tasks["C35"].Expect[0].NotNumbers, "relative to the later day")
	all = day("C38", "2026-05-06")
	require.Equal(t, texts(all[0]+all[1]), tasks["C38"].Expect[0].Numbers)
	near = map[string]string{"angry": texts(all[0])[0], "praise": texts(all[1])[0]}
	require.Equal(t, near, tasks["C38"].Expect[0].Near)
	require.Equal(t, texts(all[2], all[0]+all[1]+all[2]), tasks["C38"].Expect[0].NotNumbers)
	require.Equal(t, texts(day("C37", "2026-05-06")[:2]...), []string{"368", "368"})

	for id, want := range map[string][2]string{ // read from a wall calendar
		"C01": {"2026-05-07", "2026-05-13"}, "C02": {"2026-04-01", "2026-04-30"}, "C03": {"2026-05-01", "2026-05-13"},
		"C04": {"2026-05-08", "2026-05-08"}, "C05": {"2026-05-09", "2026-05-10"}, "C06": {"2026-04-01", "2026-05-13"},
		"C07": {"2026-03-08", "2026-03-08"}, "C08": {"2026-04-30", "2026-04-30"}, "C09": {"2025-12-31", "2025-12-31"},
		"C33": {"2026-05-04", "2026-05-10"}, "C40": {"2026-05-10", "2026-05-13"}, "C46": {"2025-11-01", "2025-11-01"},
		"C42": {"2026-05-14", "2026-05-14"}, "C43": {"2026-05-03", "2026-05-03"}, "C41": {"2026-05-12", "2026-05-12"},
		"C64": {"2024-02-28", "2024-03-01"}, "C67": {"2026-05-11", "2026-05-11"}, "C65": {"2026-05-12", "2026-05-12"},
	} {
		calls := tasks[id].Expect[0].Trajectory.Required
		args := calls[len(calls)-1].Args
		require.Equal(t, want, [2]string{args["start_date"].(string), args["end_date"].(string)}, id)
	}
	c07 := tasks["C07"].World
	require.Equal(t, "2026-03-07", c07.Now.Add(-24*time.Hour).Format(time.DateOnly), "24 hours ago is not yesterday")
	c46 := tasks["C46"].World
	require.Equal(t, "2025-11-02", c46.Now.Add(-24*time.Hour).Format(time.DateOnly), "24 hours ago is still today")
	require.Equal(t, "2026-05-13", tasks["C42"].World.Now.UTC().Format(time.DateOnly), "UTC is a day behind")

	for id, wrong := range map[string][]int64{ // the results of plausible mistakes
		"C40": {of("C40", "2026-05-11", "2026-05-13", "praise")}, "C46": {of("C46", "2025-11-02", "2025-11-02", "info")},
		"C42": {of("C42", "2026-05-13", "2026-05-13", "angry")}, "C56": {of("C56", "2026-04-28", "2026-04-30", "praise")},
		"C47": {1000 + of("C47", "2026-05-12", "2026-05-12", "praise")}, "C57": day("C57", "2026-05-04"),
		"C64": {of("C64", "2024-02-28", "2024-02-28", "info") + of("C64", "2024-03-01", "2024-03-01", "info")},
		"C67": {of("C67", "2026-05-12", "2026-05-12", "praise")},
	} {
		require.Equal(t, texts(wrong...), tasks[id].Expect[0].NotNumbers, id)
	}
}

// TestScriptsReachTheirCalls runs the contract's judge over every script: the outputs
// are valid, except the first of each pair of violations.
func TestScriptsReachTheirCalls(t *testing.T) {
	s := loaded(t)
	for _, task := range s.Tasks {
		if !slices.Contains(task.Tags, "harness") {
			continue // not scripted, or its violations are checked by the task
		}
		var specs []tool.Spec
		for _, name := range task.Tools {
			i := slices.IndexFunc(s.Tools, func(spec tool.Spec) bool { return spec.Name == name })
			specs = append(specs, s.Tools[i])
		}
		set, err := tool.NewSet(specs)
		require.NoError(t, err)
		for i, e := range task.Script {
			invalid := (task.ID == "G58" && (i < 2 || i == 3)) || (task.ID == "G60" && i < 2)
			require.Equal(t, !invalid, contract.Judge(e.Text, set).Valid, "%s output %d: %s", task.ID, i+1, e.Text)
		}
	}
}

// TestEmbedIsTheFolder checks that the binary contains every file of the folder.
func TestEmbedIsTheFolder(t *testing.T) {
	list := func(fsys fs.FS) []string {
		var out []string
		require.NoError(t, fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(path) != ".go" {
				out = append(out, path)
			}
			return err
		}))
		return out
	}
	require.Equal(t, list(os.DirFS(".")), list(FS))
	require.Contains(t, list(FS), "cassettes/README.md")
}
