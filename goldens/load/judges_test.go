package load

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
)

func judgedSuite(judges, check string) string {
	return suitetest.Head + "judges: " + judges + "\ntasks: [{id: A, request: Hi, expect: {status: answered, contains_any: [x], judge: " + check + "}}]\n"
}

func TestJudgeProblems(t *testing.T) {
	const tone = "{name: tone, rubric: Be kind., provider: openai, model: m}"
	tests := []struct {
		name, judges, check string
		want                string
	}{
		{"no such judge", "[" + tone + "]", "facts", `tasks[0].expect.judge: the suite has no judge "facts"; it has: tone`},
		{"twice in an outcome", "[" + tone + "]", "[tone, {name: tone}]", `the outcome names judge "tone" twice; remove one`},
		{"defined twice", "[" + tone + ", " + tone + "]", "tone", "judges[1].name: judge tone is defined already"},
		{"no rubric", "[{name: tone, provider: openai, model: m}]", "tone", "must have rubric, a text, or rubric_file, a file of the suite, and not both"},
		{"no file", "[{name: tone, rubric_file: none.md, provider: openai, model: m}]", "tone", "judges[0].rubric_file: there is no such file"},
		{"no model", "[{name: tone, rubric: Be kind., provider: openai}]", "tone", "model: is missing"},
		{"a part", "[{name: tone, rubric: Be kind., sees: [thoughts], provider: openai, model: m}]", "tone", `judges[0].sees[0]: "thoughts" is not known; allowed: calls, state`},
		{"a credential", "[{name: tone, rubric: Be kind., provider: openai, model: m, headers: {authorization: x}}]", "tone", "would contain a credential"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Suite(suitetest.Folder(judgedSuite(tt.judges, tt.check)), "s", suitetest.Worlds())
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// The digest of a judge covers its rubric, what it sees, and its model with the settings; not its
// name and where its key is.
func TestJudgeDigest(t *testing.T) {
	digest := func(judge string) string {
		s, err := Suite(suitetest.Folder(judgedSuite("["+judge+"]", "{name: tone, with: 1}"), "tone.md", "Be kind."), "s", suitetest.Worlds())
		require.NoError(t, err)
		c := s.Tasks[0].Expect[0].Judges[0]
		require.Equal(t, s.Judges[0].Digest(), c.Digest)
		require.Len(t, s.Tasks[0].Helpers(), 1)
		return c.Digest
	}
	const tone = "{name: tone, rubric: Be kind., provider: openai, model: m}"
	require.Equal(t, digest(tone), digest("{name: tone, rubric_file: tone.md, provider: openai, model: m, key_env: OTHER_KEY}"))
	for _, change := range []string{"rubric: Be short.", "model: n", "provider: groq"} {
		key, _, _ := strings.Cut(change, ":")
		was := map[string]string{"rubric": "rubric: Be kind.", "model": "model: m", "provider": "provider: openai"}[key]
		require.NotEqual(t, digest(tone), digest(strings.Replace(tone, was, change, 1)), change)
	}
	require.NotEqual(t, digest(tone), digest(strings.Replace(tone, "model: m", "model: m, temperature: 0", 1)))
	require.NotEqual(t, digest(tone), digest(strings.Replace(tone, "model: m", "model: m, sees: []", 1)))
}
