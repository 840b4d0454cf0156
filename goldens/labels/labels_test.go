package labels

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	want := []Label{
		{File: "f", Line: 2, Task: "T1", Candidate: "mini", Trial: 2, Labeller: "ann", Pass: true},
		{File: "f", Line: 3, Task: "=T1", Candidate: "mini", Trial: 1, Check: "judge.tone", Labeller: "bo", Score: new(0.25)},
	}
	for name, text := range map[string]string{
		"l.csv":   "task,candidate,trial,check,verdict,score,labeller,answer\nT1,mini,2,,Pass,,ann,\"a\nb\"\n'=T1, mini ,,judge.tone,fail,0.25,bo,x\nT1,mini,3,,,,ann,y\n",
		"l.jsonl": `{"task":"T1","candidate":"mini","trial":2,"verdict":"pass","labeller":"ann","answer":"a"}` + "\n\n" + `{"task":"=T1","candidate":"mini","check":"judge.tone","verdict":"fail","score":0.25,"labeller":"bo"}` + "\n" + `{"task":"T1","trial":3,"verdict":null}`,
	} {
		got, err := Read(name, []byte(text))
		require.NoError(t, err)
		require.Equal(t, 1, got.Unlabelled)
		require.Equal(t, []string{"answer"}, got.Ignored)
		require.Len(t, got.List, 2)
		for i := range want {
			l := got.List[i]
			require.Contains(t, l.At(), name+":")
			l.File, l.Line = "f", want[i].Line
			require.Equal(t, want[i], l)
		}
	}
}

// Every bad row is named, with file and line.
func TestReadProblems(t *testing.T) {
	got, err := Read("bad.csv", []byte(strings.Join([]string{
		"task,candidate,trial,check,verdict,score,labeller",
		"T1,mini,1,,pass,,ann",
		"T1,mini,1,,perhaps,,ann",
		",mini,zero,,pass,high,",
		"T1,mini,1,,fail,,ann",
		"T1,mini,1,,pass,,ann",
		"T1,mini,1,,fail,,bo",
		"T1,mini",
	}, "\n")))
	require.EqualError(t, err, `bad.csv:3: verdict is "perhaps", must be pass or fail
bad.csv:4: has no task; has no labeller; name who gave the verdict; trial is "zero", must be a number from 1; score is "high", must be a number
bad.csv:5: "ann" labelled this in line 2 already, with the other verdict
bad.csv:8: has 2 cells, but the header has 7 columns`)
	require.Len(t, got.List, 2, "the verdicts of two people on one episode")

	for name, c := range map[string][2]string{
		"a.csv":   {"task;verdict\nT;pass\n", `a.csv:1: column 1 is named "task;verdict"`},
		"b.csv":   {"id,verdict\nT,pass\n", "b.csv:1: has no column task; the columns are task, candidate,"},
		"c.csv":   {"", "c.csv:1: the file is empty"},
		"d.jsonl": {"{\"task\":\"T\",\"verdict\":\"pass\",\"labeller\":{}}\n[1]\n", "d.jsonl:1: labeller must be a text or a number; has no labeller"},
		"e.jsonl": {"{\"task\":\"T\",\"verdict\":true}\n", "e.jsonl:1: verdict must be a text or a number"},
	} {
		_, err := Read(name, []byte(c[0]))
		require.ErrorContains(t, err, c[1])
	}
	_, err = Read("many.csv", []byte("task,verdict,labeller\n"+strings.Repeat("T,maybe,ann\n", 80)))
	require.ErrorContains(t, err, "many.csv: 30 more problems are not listed")
}

func TestSafe(t *testing.T) {
	for text, want := range map[string]string{
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t'=1", "\r=1": "'\r=1", "a;=1": "a;'=1",
		"1+1": "1+1", "": "", "'=1": "''=1", "it's": "it's", "a\n- b": "a\n- b",
	} {
		require.Equal(t, want, Safe(text))
		require.Equal(t, text, Plain(want))
	}
}

func FuzzRead(f *testing.F) {
	f.Add("x.csv", "task,candidate,trial,check,verdict,score,labeller\nT1,mini,2,,pass,1,ann\n")
	f.Add("x.jsonl", `{"task":"T1","verdict":"fail","labeller":"ann","score":1e400}`)
	f.Add("x.csv", "'=a;-b")
	f.Fuzz(func(t *testing.T, name, text string) {
		got, err := Read(name, []byte(text))
		for _, l := range got.List {
			require.NotEmpty(t, l.Task)
			require.Positive(t, l.Trial)
		}
		if err != nil {
			require.NotEmpty(t, err.Error())
		}
		safe := Safe(text)
		require.Equal(t, text, Plain(safe))
		if safe != "" {
			require.NotContains(t, "=+-@", safe[:1])
		}
	})
}
