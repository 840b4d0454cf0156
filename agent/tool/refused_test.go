package tool_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
)

func refusing(t testing.TB) *tool.Set {
	return newSet(t,
		spec("get_counts", `{"type":"object","properties":{"start_date":{"type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},"label":{"enum":["angry","praise"]},"limit":{"type":"integer","maximum":20},"id":{"type":"string"}}}`),
		spec("find", `{"type":"object","properties":{"id":{"type":"integer"},"query":{"type":"string","minLength":3}}}`),
	)
}

func TestRefusesValueIn(t *testing.T) {
	for text, want := range map[string]bool{
		"Angry messages on 2026-02-30?":               true,
		"How many praise messages on 2025-02-29?":     true,
		"Info from 2026-13-01 to 2026-13-05?":         true,
		"05/32/2026, please":                          true,
		"Wie viele am 30.02.2026?":                    true,
		"Wie viele am 31.4.2026.":                     true,
		"2026年2月30日有多少条愤怒的消息？":                        true,
		"２０２６年２月３０日に何件？":                              true,
		"２０２６／０２／３０ｎｏ":                                true,
		"查询2026-02-30的消息":                             true,
		"كم عدد الرسائل في ٢٠٢٦-٠٢-٣٠؟":               true,
		"كم عدد الرسائل في ٣٠/٠٢/٢٠٢٦":                true,
		"2026년 2월 30일":                                true,
		"at 2026-02-30T10:00":                         true,
		"label=furious":                               true,
		"label: furious":                              true,
		"{\"label\": \"furious\", \"limit\": 5}":      true,
		"用 label：“furious”":                           true,
		"标签label=furious":                             true,
		"label=angry的消息":                              false, // where the value ends is not clear
		"label：“angry”。":                              false,
		"label=「praise」、limit=5":                      false,
		"标签 label＝furious":                            true,
		"limit=50":                                    true,
		"limit=5, label='praise'":                     false,
		"label=Praise?":                               false,
		"start_date=2026-05-13":                       false,
		"start_date=tomorrow":                         true,
		"id=x17":                                      false, // one of two tools takes it
		"query=ab":                                    true,
		"query: ab cd":                                false, // where the value ends is not clear
		"Fix the label: it is wrong":                  false,
		"Angry messages on 2026-05-13?":               false,
		"2024-02-29 and 29.02.2024 and 2/29/2024":     false,
		"31/12/2026 or 12/31/2026":                    false,
		"05/06/26":                                    false,
		"version 2026.13.1.4, build 12026-02-30":      false,
		"https://example.com/2026/13/45/report":       false,
		"item 1234-56-78 and 0123-45-67, 2999-99-99x": false,
		"hello": false,
		"Delete all angry messages from 500 days": false,
		"": false,
	} {
		require.Equal(t, want, refusing(t).RefusesValueIn(text), text)
	}
	noDates := newSet(t, spec("find", `{"type":"object","properties":{"phone":{"type":"string","pattern":"^[0-9-]+$"},"text":{"type":"string","minLength":5},"x":true}}`))
	require.False(t, noDates.RefusesValueIn("on 2026-02-30"), "no tool has a date")
	byFormat := newSet(t, spec("find", `{"type":"object","properties":{"day":{"type":"string","format":"date"}}}`))
	require.True(t, byFormat.RefusesValueIn("on 2026-02-30"))
	var none *tool.Set
	require.False(t, none.RefusesValueIn("on 2026-02-30, label=furious"))
}

func TestRefusesArgument(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        bool
	}{
		{"label", `"furious"`, true},
		{"label", `"angry"`, false},
		{"label", `7`, true},
		{"limit", `20`, false},
		{"limit", `21`, true},
		{"limit", `"5"`, true},
		{"start_date", `"2026-02-30"`, true},
		{"start_date", `"2026-02-28"`, false},
		{"id", `7`, false},
		{"id", `"x"`, false},
		{"id", `true`, true},
		{"other", `"x"`, false},
		{"label", `{`, false},
	} {
		require.Equal(t, c.want, refusing(t).RefusesArgument(c.name, json.RawMessage(c.value)), "%s %s", c.name, c.value)
	}
}

// FuzzRefusesValueIn reads any text, and checks that every day of the calendar is
// accepted in each of its forms.
func FuzzRefusesValueIn(f *testing.F) {
	s := refusing(f)
	f.Add("label=x 2026-02-30", uint16(59))
	f.Add("2026年2月30日\xff٣=", uint16(36000))
	f.Fuzz(func(t *testing.T, text string, days uint16) {
		s.RefusesValueIn(text)
		day := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(days))
		for _, layout := range []string{"2006-01-02", "2006/1/2", "02.01.2006", "1/2/2006", "2006年1月2日"} {
			require.False(t, s.RefusesValueIn("on "+day.Format(layout)+"?"), day.Format(layout))
		}
	})
}
