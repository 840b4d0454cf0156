package orchestrator

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShownIDs(t *testing.T) {
	ids := shownIDs{}
	ids.add(`{"id":"wf_1","x":"a_1 data_12 dt_2, wi_3x _4 wf_ ab_cd_5 ex_10"} WF_9 zwf_7`)
	require.Equal(t, []string{"dt_2", "ex_10", "wf_1", "zwf_7"}, slices.Sorted(maps.Keys(ids)))
	for args, want := range map[string]bool{
		`{"workflowId":"wf_1"}`: false, `{"workflowId":"wf_2"}`: true, `{"list":["dt_2",{"x":"ex_9"}]}`: true,
		`{"text":"see wf_2"}`: false, `{"name":"wf_x"}`: false, `{"my_key":"x"}`: false, `[`: false,
	} {
		require.Equal(t, want, ids.anyUnseen([]byte(args)), args)
	}
}

// TestClaimed: a claim needs a verb of the table, an id or a quoted name, and no call that did it.
func TestClaimed(t *testing.T) {
	done := []doneCall{{"publish-workflow", `{"workflowId":"wf_1"} "Daily report"`}, {"list-workflows", "wf_2"}}
	for text, want := range map[string]bool{
		"I published wf_1.":                                  false,
		"I published \"Daily report\".":                      false,
		"I published wf_2.":                                  true,
		"`Weekly` is archived now.":                          true,
		"I did not publish wf_2; it was not published.":      false,
		"Nothing was deleted in wf_2.":                       false,
		"I published the report.":                            false,
		"wf_2 exists. I published wf_1.":                     false,
		"If you approve, wf_2 will be published.":            false,
		"The user declined, so wf_2 stays and is published.": false,
	} {
		require.Equal(t, want, claimed(text, done), text)
	}
}

// TestEveryClaim: each verb of the table is a claim, until a tool that does it succeeded.
func TestEveryClaim(t *testing.T) {
	for verb, tools := range claims {
		text := "Workflow wf_1 was " + verb + "."
		require.True(t, claimed(text, nil), text)
		require.True(t, claimed(text, []doneCall{{"list-workflows", "wf_1"}}), text)
		for _, tool := range tools {
			require.True(t, claimed(text, []doneCall{{tool, "wf_2"}}), text)
			require.False(t, claimed(text, []doneCall{{tool, "wf_1"}}), "%s by %s", text, tool)
		}
	}
}

func FuzzClaimed(f *testing.F) {
	f.Add("I published wf_1. `x` was deleted!")
	f.Fuzz(func(t *testing.T, text string) {
		ids := shownIDs{}
		ids.add(text)
		for id := range ids {
			require.Contains(t, text, id)
			require.True(t, wholeID.MatchString(id))
		}
		claimed(text, []doneCall{{"publish-workflow", text}})
	})
}

// TestPromptsAreShort bounds what every turn repeats.
func TestPromptsAreShort(t *testing.T) {
	require.Less(t, len(System("", "", "ask_user")), 2_000)
	require.Less(t, len(Sample(nil)), 9_000)
	require.NotRegexp(t, `[a-z]Tool\b`, Sample(nil)+System("", "", "ask_user"), "names of the code")
}
