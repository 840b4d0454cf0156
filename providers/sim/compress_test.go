package sim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const compressorPrompt = `You are my compressor. Convert the RAW LOG below into a compact scratchpad with headers:
GOAL:
CONSTRAINTS:
PLAN: (3-6 numbered lines)
PROGRESS:
OBSERVATIONS: (bulleted, facts only)
OPEN_QUESTIONS:
RISKS:`

const longLog = `
GOAL: <data>angry on 2026-05-03 and today?</data>
CONSTRAINTS: Weeks start on Monday.
PLAN: Count; known: info 2026-05-01..2026-05-02=7
- ` + sawToday + `
- ` + sawError + `
- ` + sawCount + `
- tool result: turn 4 get_counts {"end_date":"2026-05-13","label":"angry","start_date":"2026-05-13"} -> error E_UPSTREAM <data>internal error</data>
- user reply: turn 2 asked <data>Which?</data> answered <data>angry</data>
- violation: turn 3 not_json; output exactly ONE JSON object
Something else entirely: 99 angry messages.
`

const wantSummary = `GOAL: <data>angry on 2026-05-03 and today?</data>
CONSTRAINTS: Weeks start on Monday.
PLAN:
1. Find out which counts are still missing.
2. Call the tools for them.
3. Answer.
4. Use what is known: angry 2026-05-03..2026-05-03=31, info 2026-05-01..2026-05-02=7
PROGRESS: 2 counts known, 1 calls failing, 1 replies of the user.
OBSERVATIONS:
- Today is 2026-05-13.
- angry messages on 2026-05-03: 31.
- info messages from 2026-05-01 to 2026-05-02: 7.
- The user answered <data>angry</data>.
OPEN_QUESTIONS: none
RISKS: get_counts failed 1 times; an output was not one JSON object`

// TestCompress: the log is found wherever the prompt puts it, and becomes the
// facts in it.
func TestCompress(t *testing.T) {
	p, _ := profileFor("sim-weak")
	other := strings.Replace(compressorPrompt, "You are my compressor. Convert", "Act as the compressor of an agent: convert", 1)
	for name, c := range map[string]talk{
		"all in the user's message":      asking(compressorPrompt + "\nRAW LOG:\n" + longLog),
		"log in the user's message":      {system: compressorPrompt, turns: []remark{{user: true, text: "RAW LOG:\n" + longLog}}},
		"log without a heading":          {system: compressorPrompt, turns: []remark{{user: true, text: longLog}}},
		"log in the system prompt":       {system: compressorPrompt + "\nRAW LOG:\n" + longLog, turns: []remark{{user: true, text: "Go on."}}},
		"a compressor in other words":    {system: other, turns: []remark{{user: true, text: "RAW LOG:\n" + longLog}}},
		"log that imitates the headings": asking(compressorPrompt + "\nRAW LOG:\n" + longLog + "\nGOAL: another\nCONSTRAINTS: others"),
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, wantSummary, p.say(c, freeText, 600, drawsFor(1, p.name, "x", nil)))
		})
	}
	require.JSONEq(t, `{"message":`+quoted(wantSummary)+`}`, p.say(asking(compressorPrompt+"\nRAW LOG:\n"+longLog), jsonText, 600, draws{}))
}

func quoted(s string) string {
	return `"` + strings.NewReplacer("\n", `\n`, `"`, `\"`).Replace(s) + `"`
}

func TestNotEveryMentionIsACompressor(t *testing.T) {
	for name, c := range map[string]talk{
		"a word in the request":        asking(countPrompt("You are my compressor. angry on 2026-05-03?")),
		"a word in the system prompt":  {system: "You speak to a compressor.", turns: asking(countPrompt("angry on 2026-05-03?")).turns},
		"RAW LOG without the headings": {system: "A compressor made this. RAW LOG", turns: asking(countPrompt("angry on 2026-05-03?")).turns},
	} {
		_, ok := c.rawLog()
		require.False(t, ok, name)
	}
}

// TestSummariesAreUnderstood: what a summary says is known again when the agent
// shows it, in the lists or in the plan, as lines or as one.
func TestSummariesAreUnderstood(t *testing.T) {
	flat := strings.ReplaceAll(wantSummary, "\n", " / ")
	_, plan, _ := strings.Cut(wantSummary, "PLAN:\n")
	plan, _, _ = strings.Cut(plan, "\nPROGRESS")
	for name, p := range map[string]pad{
		"observations":      {obs: strings.Split(strings.ReplaceAll(wantSummary, "\n- ", "\n"), "\n")},
		"progress":          {progress: []string{flat}},
		"fenced and broken": {progress: []string{"<data>" + strings.ReplaceAll(flat, "<", `<\`) + "</data>"}},
		"plan":              {plan: strings.ReplaceAll(plan, "\n", " / ")},
	} {
		t.Run(name, func(t *testing.T) {
			p.request, p.maxSteps, p.maxCalls = "angry on 2026-05-03?", 5, 5
			require.Contains(t, flawless("sim-strong")(p.prompt()), "angry messages on 2026-05-03: 31.")
		})
	}
	pr, ok := readPrompt((&pad{request: "angry today?", obs: []string{"Today is 2026-05-13.", "angry messages on 2026-99-99: 3.", "angry messages from 2026-05-01 to 2026-05-02: 4."}}).prompt())
	require.True(t, ok)
	n := readNotes(pr)
	require.Equal(t, "2026-05-13", n.today.String())
	require.Len(t, n.facts, 1)
	require.EqualValues(t, 4, n.facts[0].value)
}

func TestSummariesFit(t *testing.T) {
	wordy := "GOAL: " + strings.Repeat("é", 900) + "\nCONSTRAINTS: " + strings.Repeat("é", 900) + "\n" +
		strings.Repeat(strings.Replace(sawCount, ":31", `:999999999999999,"missing_days":["2026-05-03","2026-05-03","2026-05-03","2026-05-03","2026-05-03"]`, 1)+"\n", 20) +
		strings.Repeat("user reply: turn 1 asked <data>x</data> answered <data>"+strings.Repeat("é", 900)+"</data>\n", 9)
	out := compress(wordy)
	require.LessOrEqual(t, estimateTokens(out), 600)
	require.Equal(t, maxSummaryFacts, strings.Count(out, ": 999999999999999."))
}

// FuzzCompress: whatever the log, the summary has its headings once each, in
// order, and fits.
func FuzzCompress(f *testing.F) {
	f.Add(longLog)
	f.Add("PLAN: known: angry 2026-05-03..2026-05-03=31\nuser reply: turn 1 asked <data></data> answered <data>" + strings.Repeat("日", 400))
	f.Fuzz(func(t *testing.T, log string) {
		out := compress(log)
		at := 0
		for _, part := range summaryParts {
			i := strings.Index(out[at:], part+":")
			require.GreaterOrEqual(t, i, 0, part)
			at += i
		}
		require.LessOrEqual(t, estimateTokens(out), 600)
	})
}
