package sim

import (
	"fmt"
	"testing"
)

func TestTryOut(t *testing.T) {
	for _, q := range []string{
		"How tall is the Alder Point lighthouse?", "Who designed the Brant Rock lighthouse?", "When was Alder Point built?", "What is the range of Cape Sorrow light?",
		"Which is taller, Alder Point or Brant Rock?", "Which of Alder Point, Brant Rock and Cape Sorrow was built first?",
		"Which lighthouse on the north coast is the tallest?", "Which light in the east has the longest range?", "Which lighthouse on the western shore is the oldest?",
		"What is the total height of the lighthouses designed by Ines Varga?", "What is the average range of the lights on the south coast?", "How many lighthouses are on the north coast?",
		"Who designed the tallest lighthouse on the west coast?", "In what year was the light with the longest range in the east automated?",
		"List the heights of all lighthouses on the south coast.", "How many lighthouses on the north coast were built before 1880?", "Which lights designed by Ines Varga are taller than 40 metres?",
		"Which coast has the higher average height, north or south?", "For each of the lights given, tell its height.", "And who designed it?", "And on the south coast?",
		"Which lights did Ines Varga design?", "How many lights did the designer of Alder Point design?", "Which lighthouse designed by the designer of Alder Point is the tallest?",
		"How much taller is Alder Point than Brant Rock?", "Is Alder Point taller than Brant Rock?", "Which lights on the north coast are taller than Alder Point?",
		"how tall is alder point lighthouse", "Extract the height_m of alder-point.", "Extract the height_m of skerry.", `Search for "north coast".`, "Which coast has the most lighthouses?",
		"Who designed more lighthouses, Ines Varga or Tom Hale?", "How many lighthouses on the east coast have not been automated?", "Which lighthouses on the south coast have a range of at least 20 nautical miles?",
		"Of the lighthouses designed by Ines Varga, which one is the second tallest?", "When was the oldest light on the north coast automated?", "What kind of lamp does the newest lighthouse on the east coast have?",
		"On which coast does Alder Point stand?", "Which was automated first, Alder Point or Brant Rock?",
	} {
		s := readStudy(q)
		b := ""
		if s.best != nil {
			b = fmt.Sprintf("%+v", *s.best)
		}
		fmt.Printf("%s\n    op=%s f=%v names=%q pools=%+v given=%v tests=%+v best=%s by=%v high=%v margin=%v\n", q, s.op, s.fields, s.names, s.pools, s.given, s.tests, b, s.by, s.high, s.margin)
	}
}
