package cupel_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// retiredNames are identifiers that said in a private metaphor what a term of the field
// says. Each once named something here and has no ordinary use in this program.
var retiredNames = map[string]string{
	"sky": "pendingCalls", "flying": "inFlight", "landed": "done", "glance": "pollInterval", "told": "withContext", "toldSpecimen": "contextSample",
	"onlyContracts": "rejectUnsupported", "defuse": "escapeFence", "takeUp": "loadResumedRun", "goesOn": "continuationNote", "mended": "repaired", "mend": "repair",
	"onceIfMissing": "noRetryOnMiss", "recollection": "sessionHistory", "recollect": "loadHistory", "heed": "onLimitChange", "rehearse": "checkFork", "rehearsal": "checkFork",
	"sameWay": "sameCommands", "ApartError": "DivergedError", "taint": "registerSecrets", "taintAll": "registerSecrets", "guesses": "estimates", "moments": "runningStats", "Outlook": "Forecast",
	"deck": "recordingIndex", "likeness": "similarity", "needles": "knownSecrets", "joiner": "streamJoiner", "withheld": "redacted",
	"Contest": "StrategyComparison", "Bout": "TaskPairs", "Entrant": "StrategyResult", "sweeper": "winner", "strangers": "unpaired", "shelf": "taskEpisodes",
	"ration": "transcriptBudget", "purse": "budgetClass", "scribe": "textRenderer", "lettering": "glyphMetrics", "scholar": "researchModel", "mishap": "fault", "datum": "value",
	"baffled": "failingStrategy", "careless": "invalidCommands", "choir": "echoModel", "parrot": "echoModel", "cashier": "name the behaviour", "dream": "name the behaviour",
	"tongue": "name the behaviour", "dials": "samplingSettings", "strikes": "consecutiveViolations", "mind": "model",
	"hands": "outputNames", "standsAlone": "isSeparate", "looksLike": "findPattern", "spokenTexts": "outputTexts", "knownBeneath": "containsEscaped", "holdsSplit": "containsSplit",
}

// retiredPhrases are phrases that made readers guess. They are looked for in code, comments
// and pages, but not in what models read, which is on cassettes.
var retiredPhrases = []struct{ phrase, instead string }{
	{"what came of it", "the result"}, {"what it came to", "the total"}, {"goes otherwise", "differs from the ledger"}, {"as it went", "as recorded"},
	{"is begun", "starts"}, {"held against", "compared with, checked against"}, {"held to", "checked against"}, {"anew", "again"}, {"likewise", "also"}, {"in vain", "without effect"},
	{"whatever for", "for any reason"}, {"under way", "in progress, in flight"}, {"all the same", "anyway"}, {"goes on with", "continues with"}, {"unless told", "by default"},
	{"as told", "as configured"}, {"was told of", "was given"}, {"bearable", "tolerated"}, {"who wins", "best"}, {"none shown", "no significant difference"}, {"words match deeds", "well calibrated"},
	{"at hand", "available"}, {"lies beside", "is stored in"}, {"on trial", "under test"},
	{"of one's own", "custom, the user's"}, {"for want of", "because of a missing"}, {"in the midst", "during"}, {"asks nobody", "makes no request"}, {"as it stands", "unchanged"},
	{"as they stand", "unchanged"}, {"wherever it stands", "everywhere"}, {"stands alone", "is separate"}, {"kept nowhere", "not stored"}, {"by turns", "alternately"}, {"looks through", "searches"},
	{"hand-over", "output"}, {"nothing of its texts", "no prompts or replies"}, {"set aside", "renamed, removed"},
	{"is no error", "is not an error"}, {"is no failure", "is not a failure"}, {"is no fault", "is not a fault"}, {"is no part of", "is not part of"}, {"are no part of", "are not part of"},
	{"is no step", "is not a step"}, {"was begun", "was started"}, {"what stands beside", "the keywords beside"},
}

// allowedPhrases are lines that keep a phrase: a signature, which is a code in report.json,
// and tests that texts do not have the phrase.
var allowedPhrases = regexp.MustCompile(`answered all the same|require.NotRegexp|range \[\]string\{" before"`)

func TestRetiredNames(t *testing.T) {
	for _, file := range tracked(t, "*.go") {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if instead, retired := retiredNames[id.Name]; retired {
					t.Errorf("%s: the name %s is retired; say what it is, such as %s", file, id.Name, instead)
				}
			}
			return true
		})
	}
}

func TestRetiredPhrases(t *testing.T) {
	var words []string
	instead := map[string]string{}
	for _, r := range retiredPhrases {
		words = append(words, r.phrase)
		instead[r.phrase] = r.instead
	}
	retired := regexp.MustCompile(`(?i)\b(` + strings.Join(words, "|") + `)\b`)
	for _, file := range tracked(t, "*.go", "*.md", "*.tmpl", "*.js", "*.sh", "*.yml", "Makefile") {
		if strings.Contains(file, "testdata/") || file == "repository_words_test.go" {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		lower := bytes.ToLower(text)
		if !slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(lower, []byte(w)) }) {
			continue // at a hundredth of what the expression costs
		}
		for i, line := range bytes.Split(text, []byte("\n")) {
			for _, found := range retired.FindAll(line, -1) {
				if !allowedPhrases.Match(line) {
					t.Errorf("%s:%d: %q is retired; write: %s", file, i+1, found, instead[strings.ToLower(string(found))])
				}
			}
		}
	}
}

// tracked lists the files under version control that match.
func tracked(t *testing.T, patterns ...string) []string {
	out, err := exec.Command("git", append([]string{"ls-files", "-z", "--"}, patterns...)...).Output()
	if err != nil {
		t.Skipf("no git checkout: %v", err)
	}
	var files []string
	for _, f := range strings.Split(strings.TrimRight(string(out), "\x00"), "\x00") {
		if _, err := os.Stat(filepath.FromSlash(f)); err == nil {
			files = append(files, f)
		}
	}
	return files
}
