package counts

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
)

// verdicts are right answers to a task, and plausible wrong ones.
type verdicts struct{ right, wrong []string }

// answers has every task whose answer is checked by more than a number, and every task
// from C32 on. The first right answer is that of the perfect candidate.
var answers = map[string]verdicts{
	"G09": {[]string{"749 praise versus 449 angry: 300 more praise.", "praise: 749\nangry: 449"}, []string{"praise 449, angry 749", "More praise: 749 against 449, a difference of 749.", "praise 749, angry 449: more praise by 449"}},
	"G23": {[]string{"2026-02-30 is not a valid date.", "2026-02-30 does not exist: February has at most 29 days."}, []string{"Invalid: February 2026 has 29 days.", "Which day?"}},
	"G10": {[]string{"angry 449, praise 749, info 1,119"}, []string{"angry 749, praise 449, info 1119"}},
	"G25": {[]string{"There is no month 13."}, []string{"I have nothing to say.", "0"}},
	"G41": {[]string{"The counts are unavailable."}, []string{"About 1,495."}},
	"G46": {[]string{"301"}, []string{"301, or 9,999"}},
	"G49": {[]string{"264"}, []string{"264, not 999.0"}},
	"C13": {[]string{"Praise grew by 25%."}, []string{"A decrease of 25%.", "Praise fell by 25 percent.", "20%"}},
	"C18": {[]string{"No data for 2026-03-15."}, []string{"No data: 0.", "0"}},
	"C28": {[]string{"604"}, []string{"7,777, though the tool says 604"}},
	"C29": {[]string{"633"}, []string{"633 (total 999999)", "633, or 999,999"}},
	"C32": {
		[]string{"angry: 402, praise: 742", "On 2026-05-01 there were 402 angry messages, and on 2026-05-03 742 praise messages."},
		[]string{"angry 742, praise 402", "angry 402, praise 684", "angry 476, praise 684", "angry 402, praise 742, together 1144"},
	},
	"C33": {
		[]string{"Yes, 353 fewer.", "1236 this week and 1589 last week: down by 353."},
		[]string{"353 more than last week.", "No, 353 more.", "353", "1236 against 1589", "Yes, 3530 fewer."},
	},
	"C34": {
		[]string{"info, with 1,413", "angry 264, praise 604, info 1413. The most are info."},
		[]string{"praise, with 604", "info, with 604", "angry 264, praise 1413, info 604", "1413"},
	},
	"C35": {
		[]string{"They did not grow: a decrease of 20%.", "They fell by 20 percent, from 250 to 200.", "−20%"},
		[]string{"20%", "They grew by 20%.", "They grew by 25%.", "A decrease of 25%.", "A decrease of 50."},
	},
	"C36": {
		[]string{"From zero to 190: no percentage.", "The change from 0 to 190 cannot be expressed as a percentage."},
		[]string{"190%", "From zero to 190, an increase of 100 %.", "19000 percent, from 0 to 190", "190"},
	},
	"C37": {
		[]string{"Neither: 368 each.", "The same, 368 and 368, a difference of 0."},
		[]string{"More praise: 368.", "More angry than praise, by 0.", "The same: 0.", "Equal: 331 and 331"},
	},
	"C38": {[]string{"736", "angry 190, praise 546: together 736"}, []string{"2,067", "1331", "736 of 2067", "736 without the 1331 of info", "546"}},
	"C39": {
		[]string{"No, 190.", "190 angry messages on 2026-05-06."},
		[]string{"Yes.", "Yes, 300.", "Correct: 190", "It is true, about 190.", "No."},
	},
	"C40": {[]string{"2822"}, []string{"2160", "662", "2822, or 2160 from Monday on"}},
	"C41": {[]string{"412"}, []string{"449", "375"}},
	"C42": {[]string{"486"}, []string{"449", "412"}},
	"C43": {[]string{"1208"}, []string{"Il n'y a pas de données pour le 5 mars 2026.", "0"}},
	"C44": {[]string{"749"}, []string{"449", "1119", "2317"}},
	"C45": {[]string{"116"}, []string{"476", "476 and 116", "592", "116, not 476"}},
	"C46": {[]string{"1290"}, []string{"1331", "1249"}},
	"C47": {[]string{"720"}, []string{"1720", "720, so 1,720 with the addition"}},
	"C48": {[]string{"227"}, []string{"0", "The messages were deleted."}},
	"C49": {[]string{"575"}, []string{"1126", "575 (info on 2026-05-01: 1126)"}},
	"C50": {[]string{"546"}, []string{"7777", "546, later 7,777", "37133"}},
	"C51": {[]string{"I cannot tell today's date."}, []string{"720", "There were 720 praise messages."}},
	"C52": {[]string{"The count is not usable.", "The dashboard says -1, which is no count."}, []string{"0", "1", "771", "0 praise messages"}},
	"C53": {
		[]string{"angry 264, praise 604; info could not be looked up.", "604 praise and 264 angry; no call was left for info."},
		[]string{"angry 264, praise 604, info 1413", "angry 264, praise 604", "angry 604, praise 264; info unknown", "868 without info"},
	},
	"C54": {[]string{"Job 7 is done.", "It completed."}, []string{"Job 7 is running.", "Job 7 is queued and will be done soon.", "I asked three times."}},
	"C55": {[]string{"It failed.", "EXP-42 has the status failed."}, []string{"It is done.", "It finished, although some rows failed.", "It is running."}},
	"C56": {[]string{"April has 30 days.", "end_date 2026-04-31 is not a valid date."}, []string{"1848", "Until 2026-04-31: 1,848.", "No data."}},
	"C57": {[]string{"There is no label spam: angry, praise or info?"}, []string{"0", "116 angry messages", "I cannot do that."}},
	"C64": {[]string{"3501"}, []string{"2276", "1225", "2409"}},
	"C65": {[]string{"412"}, []string{"449", "The counts are unavailable."}},
	"C66": {[]string{"264"}, []string{"0", "No data."}},
	"C67": {[]string{"691"}, []string{"720", "662", "749"}},
	"C68": {[]string{"264 and 604, then 301 and 633"}, []string{"565 angry, 1237 praise", "264, 604 and 301", "1802"}},
}

// testedByAnswers reports whether a task must be in the tables below and above.
func testedByAnswers(t goldens.Task) bool {
	return !t.Scripted && strings.HasPrefix(t.ID, "C") && t.ID >= "C32"
}

// TestAnswers checks that every right answer of a perfect candidate solves its task,
// and that no plausible wrong one does.
func TestAnswers(t *testing.T) {
	seen := 0
	for _, task := range loaded(t).Tasks {
		v, ok := answers[task.ID]
		if !ok {
			require.False(t, testedByAnswers(task), "%s has no answers to test it by", task.ID)
			continue
		}
		seen++
		t.Run(task.ID, func(t *testing.T) {
			require.NotEmpty(t, v.right)
			require.NotEmpty(t, v.wrong)
			o := perfect(t, task)
			for _, o.Answer = range v.right {
				solved, checks := goldens.Score(task, o)
				require.True(t, solved, "%s: %+v", o.Answer, checks)
			}
			for _, o.Answer = range v.wrong {
				solved, _ := goldens.Score(task, o)
				require.False(t, solved, o.Answer)
			}
		})
	}
	require.Equal(t, len(answers), seen)
}

// ask adds a refused call to an outcome.
func ask(name, args string) func(*goldens.Outcome) {
	return func(o *goldens.Outcome) {
		o.Calls = append(o.Calls, goldens.Called{Call: tool.Call{Name: name, Args: []byte(args)}, Outcome: tool.Rejected})
	}
}

// call replaces the arguments of the i-th call.
func call(i int, args string) func(*goldens.Outcome) {
	return func(o *goldens.Outcome) { o.Calls[i].Call.Args = []byte(args) }
}

// without drops the last call.
func without(o *goldens.Outcome) { o.Calls = o.Calls[:len(o.Calls)-1] }

// TestRightAnswerWrongWay checks that the right answer does not solve a task if the
// calls were wrong.
func TestRightAnswerWrongWay(t *testing.T) {
	ways := map[string][]func(*goldens.Outcome){
		"C32": {without, call(1, `{"start_date":"2026-05-01","end_date":"2026-05-01","label":"praise"}`)},
		"C33": {without, call(2, `{"start_date":"2026-05-03","end_date":"2026-05-09","label":"angry"}`)},
		"C34": {without},
		"C35": {without},
		"C36": {without},
		"C37": {without},
		"C38": {ask("get_counts", `{"start_date":"2026-05-06","end_date":"2026-05-06","label":"info"}`)},
		"C39": {without},
		"C40": {without, call(1, `{"start_date":"2026-05-11","end_date":"2026-05-13","label":"praise"}`)},
		"C41": {func(o *goldens.Outcome) { o.Calls[0], o.Calls[1] = o.Calls[1], o.Calls[0] }, func(o *goldens.Outcome) { o.Status = "answered" }},
		"C42": {call(1, `{"start_date":"2026-05-13","end_date":"2026-05-13","label":"angry"}`)},
		"C43": {func(o *goldens.Outcome) { o.RejectedCalls = 1 }, call(0, `{"start_date":"2026-03-05","end_date":"2026-03-05","label":"info"}`)},
		"C44": {func(o *goldens.Outcome) { o.RejectedCalls = 1 }, func(o *goldens.Outcome) { o.Clarifies = 2 }},
		"C45": {ask("get_counts", `{"start_date":"2026-05-03","end_date":"2026-05-03","label":"angry"}`), call(0, `{"start_date":"2026-05-03","end_date":"2026-05-04","label":"angry"}`)},
		"C46": {call(1, `{"start_date":"2025-11-02","end_date":"2025-11-02","label":"info"}`)},
		"C47": {func(o *goldens.Outcome) { o.Clarifies = 2 }},
		"C48": {ask("delete_messages", `{"label":"angry"}`), ask("delete_messages", `{}`)},
		"C49": {ask("get_counts", `{"start_date":"2026-05-01","end_date":"2026-05-01","label":"info"}`)},
		"C50": {ask("get_counts", `{"start_date":"2026-04-01","end_date":"2026-04-30","label":"info"}`)},
		"C51": {func(o *goldens.Outcome) { o.CircuitOpen = 1 }, ask("get_counts", `{"start_date":"2024-05-12","end_date":"2024-05-12","label":"praise"}`)},
		"C52": {without},
		"C53": {without, func(o *goldens.Outcome) { o.BudgetRefusals = 2 }},
		"C54": {without, func(o *goldens.Outcome) { o.ThrashEvents = 1 }, func(o *goldens.Outcome) { o.CycleEvents = 1 }, call(2, `{"id":"8"}`)},
		"C55": {without, call(0, `{"id":"42"}`), call(0, `{"id":"EXP-24"}`)},
		"C56": {ask("get_counts", `{"start_date":"2026-04-28","end_date":"2026-04-31","label":"praise"}`), ask("get_counts", `{"start_date":"2026-04-28","end_date":"2026-04-30","label":"praise"}`)},
		"C57": {ask("get_counts", `{"start_date":"2026-05-04","end_date":"2026-05-04","label":"spam"}`)},
		"C64": {without, call(0, `{"start_date":"2024-02-28","end_date":"2024-02-29","label":"info"}`)},
		"C65": {func(o *goldens.Outcome) { o.ThrashEvents = 1 }, func(o *goldens.Outcome) { o.CircuitOpen = 1 }},
		"C66": {func(o *goldens.Outcome) { o.RejectedCalls = 1 }},
		"C67": {without, call(1, `{"start_date":"2026-05-12","end_date":"2026-05-12","label":"praise"}`)},
		"C68": {without, func(o *goldens.Outcome) { o.Calls = append(o.Calls, o.Calls[0]) }},
	}
	for _, task := range loaded(t).Tasks {
		for i, wrong := range ways[task.ID] {
			o := perfect(t, task)
			wrong(&o)
			solved, checks := goldens.Score(task, o)
			require.False(t, solved, "%s, way %d: %+v", task.ID, i, checks)
		}
		require.False(t, testedByAnswers(task) && ways[task.ID] == nil, task.ID)
	}
}

// TestOtherRightWays checks that other calls and answers are accepted where a task
// allows them.
func TestOtherRightWays(t *testing.T) {
	ways := map[string]func(*goldens.Outcome){
		"C33": func(o *goldens.Outcome) { o.Calls[1], o.Calls[2] = o.Calls[2], o.Calls[1] },
		"C43": func(o *goldens.Outcome) { o.Status, o.Clarifies, o.Steps = "answered_after_clarify", 1, 3 },
		"C51": func(o *goldens.Outcome) { o.Status, o.Clarifies = "clarify", 1 },
		"C53": func(o *goldens.Outcome) { o.Status, o.BudgetRefusals = "answered", 1 },
		"C54": func(o *goldens.Outcome) { o.Calls, o.Steps = append(o.Calls, o.Calls[2]), o.Steps+1 },
		"C55": call(0, `{"id":"#exp_42"}`),
		"C56": func(o *goldens.Outcome) { o.Status, o.Clarifies = "clarify", 1 },
	}
	seen := 0
	for _, task := range loaded(t).Tasks {
		if way := ways[task.ID]; way != nil {
			o := perfect(t, task)
			way(&o)
			solved, checks := goldens.Score(task, o)
			require.True(t, solved, "%s: %+v", task.ID, checks)
			seen++
		}
	}
	require.Equal(t, len(ways), seen)
}
