package load

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
)

func TestScoreProblems(t *testing.T) {
	task := func(fields string) string {
		return suitetest.Head + "tasks: [{id: A, request: Hi, expect: {status: answered, contains_any: [x], score: " + fields + "}}]\n"
	}
	tests := []struct {
		name, score string
		want        []string
	}{
		{"neither", "{name: a}", []string{"must have exec, a program, or check, the name of a Go function (cmd.App.Checks), and not both"}},
		{"both", "{exec: [a], check: b}", []string{"must have exec, a program, or check, the name of a Go function (cmd.App.Checks), and not both"}},
		{"values", "[{exec: [], timeout: 11m, at_least: much}, {check: a b, timeout: 1s}, {check: x, at_least: .nan}]", []string{
			"[0].exec: must be a list of the program and its arguments, such as [python3, tone.py]", "[0].timeout: must be at most 10m, and belongs to exec", "[0].at_least: must be a number",
			`[1].check: "a b" may hold only letters, digits, dash and underscore`, "[1].timeout: must be at most 10m, and belongs to exec", "[2].at_least: must be a number",
		}},
		{"name", "[{exec: [a]}, {exec: [b]}]", []string{`[1]: another check of this outcome is named "exec"; give it a name`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Suite(suitetest.Folder(task(tt.score)), "s", suitetest.Worlds())
			require.Error(t, err)
			lines := strings.Split(err.Error(), "\n")
			require.Len(t, lines, len(tt.want), err.Error())
			for i, want := range tt.want {
				require.Contains(t, lines[i], "tasks[0].expect.score")
				require.True(t, strings.HasSuffix(lines[i], want), lines[i])
			}
		})
	}
	_, err := Suite(suitetest.Folder(suitetest.Head+"tasks: [{id: A, request: Hi, expect: {status: answered, contains_any: [x], score: {check: a}}, also_accept: [{score: {name: a, exec: [b]}}]}]\n"), "s", suitetest.Worlds())
	require.ErrorContains(t, err, `tasks[0].also_accept[0].score: another outcome of the task has another check named "a"; give it a name`)
}

// The digest of a program covers the files of the suite that it names, and a check that is
// there changes the suite.
func TestScoreDigest(t *testing.T) {
	digest := func(score, program string) (suite, spec string) {
		s, err := Suite(suitetest.Folder(suitetest.Head+"tasks: [{id: A, request: Hi, expect: {status: answered, contains_any: [x], score: "+score+"}, also_accept: [{contains_any: [y]}]}]\n", "tone.py", program), "s", suitetest.Worlds())
		require.NoError(t, err)
		require.Equal(t, s.Tasks[0].Expect[0].Scores, s.Tasks[0].Expect[1].Scores)
		require.Equal(t, "s", s.Tasks[0].Expect[0].Scores[0].Dir)
		return s.Digest, s.Tasks[0].Expect[0].Scores[0].Digest
	}
	suite, spec := digest("{exec: [python3, tone.py]}", "1")
	again, same := digest("{exec: [python3, tone.py]}", "1")
	require.Equal(t, []string{suite, spec}, []string{again, same})
	other, changed := digest("{exec: [python3, tone.py]}", "2")
	require.NotEqual(t, suite, other)
	require.NotEqual(t, spec, changed)
	other, same = digest("{exec: [python3, tone.py], at_least: 1}", "1")
	require.NotEqual(t, suite, other)
	require.Equal(t, spec, same, "a threshold is not the program's")
}
