package goldens

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestScoreNear: how people and models put names and numbers together, and that the
// same words with the numbers swapped fail.
func TestScoreNear(t *testing.T) {
	both := map[string]string{"Cold Ness": "41", "Grey Point": "38"}
	for _, answer := range []string{
		"Cold Ness has 41 and Grey Point 38",
		"Cold Ness: 41\nGrey Point: 38",
		"- Cold Ness: 41\n- Grey Point: 38\n",
		"Cold Ness — 41; Grey Point — 38",
		"Cold Ness — 41, Grey Point — 38",
		"COLD NESS (41), grey point (38)",
		"Cold Ness: 41 lamps (built 1851), Grey Point: 38 lamps (built 1860)",
		"Cold Ness: 41 lamps (built 1851). Grey Point: 38 lamps (built 1860).",
		"41 at Cold Ness and 38 at Grey Point",
		"There are 41 lamps at Cold Ness and 38 at Grey Point.",
		"There are 41 lamps at Cold Ness and 38 lamps at Grey Point.",
		"41 lamps at Cold Ness, 38 lamps at Grey Point",
		"Cold Ness has 41 lamps, three more than the 38 of Grey Point",
		"Cold Ness and Grey Point have 41 and 38 lamps, respectively.",
		"Between Cold Ness and Grey Point, Cold Ness has more lamps: 41 versus 38.",
		"On 2026-05-13 Cold Ness had 41.0 and, on May 14, Grey Point 38.",
		"| station    | lamps | built |\n|---|---|---|\n| Cold Ness  |    41 |  1851 |\n| Grey Point |    38 |  1860 |\n",
		"**Cold Ness**\n\n41 lamps\n\n**Grey Point**\n\n38 lamps",
		"Cold Ness的灯有41盏，Grey Point有38盏。",
		"Cold Ness ٤١، Grey Point ٣٨",
		"Cold Ness：４１、Grey Point：３８",
	} {
		require.Empty(t, scoreOf(t, Expect{Near: both}, Outcome{Answer: answer}), answer)
		swapped := strings.NewReplacer("41", "38", "38", "41", "٤١", "٣٨", "٣٨", "٤١", "４１", "３８", "３８", "４１").Replace(answer)
		require.NotEmpty(t, scoreOf(t, Expect{Near: both}, Outcome{Answer: swapped}), swapped)
	}
}

func TestScoreNearDetails(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		near         map[string]string
		want         []string // nil: passed
	}{
		{"value", "Cold Ness: 1,234.0", map[string]string{"cold ness": "1234"}, nil},
		{"one name of two", "Cold Ness: 41\nGrey Point: 38", map[string]string{"Grey Point": "38"}, nil},
		{"wrong", "Cold Ness: 40", map[string]string{"Cold Ness": "41"}, []string{`answer_near: want 41 near "Cold Ness", found 40 in "Cold Ness: 40"`}},
		{"name missing", "41", map[string]string{"Cold Ness": "41"}, []string{`answer_near: want 41 near "Cold Ness", found none in "41"`}},
		{"number missing", "Cold Ness: none", map[string]string{"Cold Ness": "41"}, []string{`answer_near: want 41 near "Cold Ness", found none in "Cold Ness: none"`}},
		{"no answer", "", map[string]string{"Cold Ness": "41"}, []string{`answer_near: want 41 near "Cold Ness", found none in no answer`}},
		{"one number for two names", "Cold Ness and Grey Point: 41", map[string]string{"Cold Ness": "41", "Grey Point": "38"}, []string{`answer_near: want 41 near "Cold Ness", found none; want 38 near "Grey Point", found 41 in "Cold Ness and Grey Point: 41"`}},
		{"one number for two names that share it", "Cold Ness and Grey Point have 41 each, Far Rock 38", map[string]string{"Cold Ness": "41", "Grey Point": "41", "Far Rock": "38"}, nil},
		{"a number of a name", "Pier 7 has 41", map[string]string{"Pier 7": "41"}, nil},
		{"a date as a name", "2026-05-12: 9\n2026-05-13: 41", map[string]string{"2026-05-13": "41"}, nil},
		{"a name within a longer one", "very angry: 7, angry: 41", map[string]string{"angry": "41", "very angry": "7"}, nil},
		{"the nearer mention counts", "Of 9 stations Cold Ness wins. At Cold Ness: 41", map[string]string{"Cold Ness": "41"}, nil},
		{"equally far, the one behind", "38 Cold Ness 41", map[string]string{"Cold Ness": "41"}, nil},
		{"a line is far", "38\nCold Ness with its lamps: 41", map[string]string{"Cold Ness": "41"}, nil},
		{"broken", "", map[string]string{"": "x"}, []string{`answer_near: the expectation is broken: near: a name must not be blank; near.: "x" is not a number`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, checks := Score(Task{Expect: []Expect{{Near: c.near}}}, Outcome{Answer: c.answer})
			var got []string
			for _, check := range checks {
				if !check.Passed {
					got = append(got, check.Name+": "+check.Detail)
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}

// TestNearTakesLittleTime: ten names that occur everywhere, between numbers that all
// of them expect.
func TestNearTakesLittleTime(t *testing.T) {
	near := map[string]string{}
	for _, name := range strings.Fields("a b c d e f g h i j") {
		near[name] = "4"
	}
	answer := strings.Repeat("a b c d e f g h i j 4 ", 20_000)
	begun := time.Now()
	require.Empty(t, scoreOf(t, Expect{Near: near}, Outcome{Answer: answer}))
	require.Less(t, time.Since(begun), 20*time.Second)
}
