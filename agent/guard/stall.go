package guard

// maxQuestions is how many turns in a row that ask for clarification are a stall.
const maxQuestions = 2

// Stall detects an agent that asks instead of acting. The zero Stall is ready.
type Stall struct{ questions int }

// Turn takes the next turn, answered questions included, and reports whether it
// is the second in a row that asked for clarification.
func (s *Stall) Turn(asks bool) bool {
	if !asks {
		s.questions = 0
		return false
	}
	s.questions++
	return s.questions >= maxQuestions
}
