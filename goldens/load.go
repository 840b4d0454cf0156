package goldens

import (
	"io/fs"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
)

// Load reads a suite folder (suite.yaml and the files it names). The error
// joins every problem found, each a *Problem.
func Load(fsys fs.FS, path string) (*Suite, error) { panic("skeleton") }

// Problem is one fault of a suite file.
type Problem struct {
	File          string
	Line          int
	Field, Detail string
}

// World is the environment one episode's tools act on. Not safe for concurrent use.
type World struct{}

// NewWorld returns the world of a task in its initial state.
func NewWorld(t Task) *World { panic("skeleton") }

// Call executes one tool call at virtual time at. The caller has validated the
// arguments; the world still refuses nonsense with outcome error.
func (w *World) Call(c tool.Call, at time.Time) tool.Result { panic("skeleton") }

// Reply returns the scripted human's next answer, and false when nobody answers.
func (w *World) Reply(question string) (string, bool) { panic("skeleton") }

// Score checks an outcome against the task's accepted outcomes. When one is
// met, its checks are returned and solved is true; otherwise those of the
// accepted outcome that failed fewest, the first on a tie.
func Score(t Task, o Outcome) (solved bool, checks []CheckResult) { panic("skeleton") }
