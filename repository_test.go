// Package cupel_test holds the rules of this repository as tests: which package
// may import which, and one package comment per folder.
package cupel_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

const module = "github.com/cupel-eval/cupel/"

// arrows says which of our packages a package's code may import. A package not
// listed may import none of ours; a new arrow is a reviewed line.
var arrows = map[string][]string{
	"agent":          {"agent/contract", "agent/guard", "agent/invisible", "agent/orchestrator", "agent/orchestrator/limits", "agent/orchestrator/role", "agent/orchestrator/worklog", "agent/person", "agent/plan", "agent/strategy", "agent/tool", "agent/turn", "internal/clip", "providers"},
	"agent/contract": {"agent/invisible", "agent/tool", "internal/plainjson"},
	// The settings of external agents: a leaf of types.
	"agent/external": {},
	// Requests to people and their answers: a leaf of words and types.
	"agent/person":   {},
	"agent/strategy": {"agent/external", "agent/orchestrator/limits"},
	// The rules of agent orchestrator, which hold no conversation: tables of state machines and
	// what moves along them.
	"agent/orchestrator":                      {"agent/orchestrator/background", "agent/orchestrator/build", "agent/orchestrator/graph", "agent/orchestrator/limits", "agent/orchestrator/memory", "agent/orchestrator/role", "agent/orchestrator/worklog", "agent/person", "agent/strategy", "agent/tool", "internal/clip", "providers"},
	"agent/orchestrator/transition":           {},
	"agent/orchestrator/transition/tracetest": {"agent/orchestrator/transition", "internal/regular"},
	"agent/orchestrator/role":                 {},
	"agent/orchestrator/limits":               {},
	"agent/orchestrator/graph":                {"agent/orchestrator/role", "agent/orchestrator/transition", "internal/clip"},
	"agent/orchestrator/background":           {"agent/orchestrator/transition", "internal/clip"},
	"agent/orchestrator/build":                {"agent/orchestrator/transition"},
	"agent/orchestrator/memory":               {"internal/clip", "providers"},
	"agent/orchestrator/worklog":              {"agent/orchestrator/graph"},
	"agent/plan":                              {"agent/strategy", "agent/tool", "internal/clip", "internal/plainjson"},
	// agent/invisible is the one table of characters that cannot be seen: a leaf that
	// everything may import which reads or prints untrusted text.
	"agent/tool": {"agent/invisible", "internal/clip"},
	"goldens":    {"agent/external", "agent/guard", "agent/orchestrator/limits", "agent/person", "agent/strategy", "agent/tool", "goldens/helper", "goldens/human", "goldens/internal/answer", "goldens/internal/bfcl", "goldens/internal/decimal", "goldens/internal/match", "goldens/internal/state", "goldens/internal/yamlfile", "goldens/persona", "goldens/scorer", "goldens/toolserver", "goldens/world", "goldens/world/judge", "internal/clip"},
	// The scripted human: what rules answer to requests of agents.
	"goldens/human":  {"agent/person", "goldens/internal/match", "goldens/internal/yamlfile"},
	"goldens/counts": {"agent/tool", "goldens/world", "internal/clip"},
	// Suites are read and written above their types; worlds, and what answers, calls and
	// files say, are beneath them.
	"goldens/draft":            {"agent/tool", "goldens", "goldens/internal/yamlfile", "goldens/load", "goldens/toolserver", "goldens/world", "goldens/world/declared", "goldens/world/process", "internal/clip"},
	"goldens/load":             {"agent/guard", "agent/strategy", "agent/tool", "goldens", "goldens/helper", "goldens/human", "goldens/internal/bfcl", "goldens/internal/dataset", "goldens/internal/settings", "goldens/internal/state", "goldens/internal/witness", "goldens/internal/yamlfile", "goldens/persona", "goldens/playbook", "goldens/rubric", "goldens/scorer", "goldens/toolserver", "goldens/world", "goldens/world/declared", "goldens/world/judge", "goldens/world/process", "internal/clip", "internal/plainjson"},
	"goldens/playbook":         {"agent/invisible", "agent/tool", "goldens/internal/expression", "goldens/internal/yamlfile", "goldens/rubric"},
	"goldens/playbook/mistake": {"goldens/playbook", "internal/plainjson"},
	"goldens/world":            {"agent/tool", "goldens/internal/state", "internal/clip"},
	"goldens/world/judge":      {"goldens/internal/state", "goldens/world"},
	"goldens/world/process":    {"agent/tool", "goldens/world", "internal/clip", "internal/lines", "internal/local", "internal/mcp", "internal/plainjson"},
	// Rows of CSV and JSON Lines files, filled into YAML.
	"goldens/internal/dataset": {"internal/clip"},
	// Function calls, judged by the rules of BFCL.
	"goldens/internal/bfcl":      {"agent/tool", "internal/clip"},
	"goldens/internal/witness":   {"agent/tool", "goldens", "goldens/human", "goldens/internal/decimal", "goldens/internal/match", "goldens/internal/yamlfile", "goldens/world", "goldens/world/judge", "internal/plainjson"},
	"goldens/internal/suitetest": {"goldens/counts", "goldens/research", "goldens/world"},
	"goldens/internal/answer":    {"agent/tool", "goldens/internal/decimal"},
	"goldens/internal/match":     {"agent/tool", "goldens/internal/decimal", "internal/clip", "internal/plainjson"},
	"goldens/internal/state":     {"goldens/internal/match", "internal/clip", "internal/plainjson"},
	"goldens/internal/yamlfile":  {"internal/plainjson", "internal/spell"},
	"goldens/internal/settings":  {"goldens/internal/yamlfile"},
	"goldens/world/declared":     {"agent/tool", "goldens/internal/expression", "goldens/internal/state", "goldens/internal/yamlfile", "goldens/world"},
	// The third built-in suite: a folder of YAML.
	"goldens/desk": {}, "goldens/instance": {},
	// Workflows of the simulated automation instance: their expressions, graphs and executions.
	"goldens/flowsim":         {"agent/person", "agent/tool", "goldens/internal/match", "goldens/flowsim/graph", "goldens/flowsim/interp", "goldens/flowsim/table", "goldens/flowsim/web", "goldens/internal/state", "goldens/world", "internal/clip"},
	"goldens/flowsim/table":   {"internal/clip"},
	"goldens/flowsim/web":     {"agent/invisible", "internal/clip"},
	"goldens/flowsim/formula": {"internal/clip"},
	"goldens/flowsim/graph":   {"goldens/flowsim/formula", "internal/spell"},
	"goldens/flowsim/interp":  {"goldens/flowsim/formula", "goldens/flowsim/graph"},
	// Expressions of rules and playbooks: the one package that imports expr-lang.
	"goldens/internal/expression": {"goldens/internal/yamlfile", "internal/clip"},
	// Checks that users bring: programs and Go functions.
	"goldens/helper":  {"goldens/rubric", "goldens/scorer"},
	"goldens/persona": {"goldens/helper", "internal/clip"},
	"goldens/rubric":  {"goldens/scorer", "internal/clip"},
	"goldens/scorer":  {"internal/child", "internal/clip", "internal/lines", "internal/local"},
	// internal/clip cuts texts for messages: a leaf that everything may import.
	"internal/clip": {},
	// The names of query parameters that have credentials: recordings and the gateway drop them.
	"internal/credential": {},
	// internal/child runs commands, and leaves none of their descendants behind.
	// internal/loopback is what every listener is started with.
	"internal/loopback": {},
	// internal/lines runs commands that are spoken to in lines.
	"internal/lines": {"internal/child", "internal/clip"},
	// internal/mcp is the one package that imports the SDK of the Model Context Protocol.
	"internal/mcp": {"internal/lines", "internal/plainjson"},
	// MCP servers as tools: what a suite says of them, and sessions with them.
	"goldens/toolserver":         {"agent/orchestrator/role", "agent/tool", "goldens/internal/settings", "goldens/internal/yamlfile", "goldens/world", "internal/clip", "internal/lines"},
	"goldens/toolserver/session": {"agent/tool", "goldens/toolserver", "internal/clip", "internal/local", "internal/mcp", "internal/plainjson"},
	// internal/spell compares words, for hints at a misspelt one.
	"internal/spell": {},
	// internal/parallel works on all processors.
	"internal/parallel": {},
	"internal/local":    {},
	"internal/pause":    {},
	// JSON without escapes for HTML.
	"internal/plainjson": {},
	// internal/mcphost undoes what hosts do to the names and results of tools.
	"internal/mcphost": {},
	"harness":          {"agent", "agent/guard", "agent/orchestrator/limits", "agent/invisible", "agent/person", "agent/strategy", "agent/tool", "goldens", "goldens/helper", "goldens/load", "goldens/scorer", "goldens/world", "harness/admission", "harness/canary", "harness/cassettes", "harness/episode", "harness/external", "harness/external/launch", "harness/fleet", "harness/internal/drive", "harness/ledger", "harness/ledger/manifest", "harness/ledger/sealed", "internal/atomicfile", "internal/clip", "internal/regular", "providers", "providers/fault", "providers/policy", "providers/price", "providers/retry", "recorder", "recorder/cassette", "recorder/secrets", "harness/batching", "internal/parallel", "providers/batch"},
	// Tools over HTTP.
	"harness/internal/httptool": {"agent/tool", "goldens/world", "harness/episode", "internal/clip", "recorder", "recorder/secrets"},
	// The driver of one episode.
	"harness/internal/drive": {"agent", "agent/guard", "agent/orchestrator/worklog", "agent/person", "agent/strategy", "agent/tool", "agent/turn", "goldens", "goldens/helper", "goldens/human", "goldens/persona", "goldens/rubric", "goldens/scorer", "goldens/toolserver", "goldens/toolserver/session", "goldens/world", "goldens/world/process", "harness/admission", "harness/episode", "harness/internal/httptool", "harness/ledger", "harness/ledger/work", "harness/ledger/manifest", "internal/clip", "internal/local", "internal/pause", "providers", "providers/fault", "providers/price", "providers/retry", "providers/scripted", "recorder", "recorder/cassette", "recorder/secrets", "harness/batching", "providers/batch"},
	// The sessions of foreign agents, and the machine that makes their calls again.
	"harness/external": {"agent", "agent/external", "agent/guard", "agent/strategy", "agent/tool", "agent/turn", "goldens", "harness/admission", "harness/episode", "harness/external/launch", "harness/internal/drive", "harness/ledger", "harness/otlp", "harness/proxy", "internal/atomicfile", "internal/clip", "internal/mcp", "internal/mcphost", "internal/plainjson", "providers", "providers/fault", "providers/gateway", "providers/price", "recorder", "recorder/cassette", "recorder/secrets"},
	// What those see who take part in episodes or watch them.
	"harness/episode":   {"agent", "agent/invisible", "agent/person", "agent/tool", "goldens", "goldens/world", "harness/ledger", "harness/ledger/sealed", "internal/clip", "providers", "recorder/secrets"},
	"harness/cassettes": {"goldens", "recorder/packs"},
	// The server that foreign programs ask for models; it knows no episode.
	"harness/proxy": {"internal/loopback", "providers/gateway"},
	// Runs of what other programs recorded; formats know the seam, and it knows none of them.
	"harness/imports":         {"agent", "agent/strategy", "agent/tool", "agent/turn", "goldens", "harness/episode", "harness/internal/drive", "harness/ledger", "harness/ledger/manifest", "harness/ledger/sealed", "internal/clip", "internal/mcphost", "internal/regular", "providers", "recorder/secrets"},
	"harness/imports/formats": {"harness/imports", "harness/ledger", "internal/regular"},
	"harness/otlp":            {"agent/tool", "harness/imports", "harness/ledger", "harness/ledger/manifest", "internal/clip", "internal/regular"},
	// Foreign programs, which know nothing of suites.
	"harness/external/launch": {"agent/external", "agent/strategy", "internal/child", "internal/clip", "internal/plainjson"},
	// Runs on several machines: what the command line knows of a queue, and NATS JetStream.
	"harness/fleet":           {"harness/admission", "harness/ledger", "harness/ledger/manifest"},
	"harness/fleet/natsfleet": {"harness/admission/shared", "harness/fleet", "harness/ledger", "harness/ledger/manifest", "harness/store", "harness/store/natsstore", "internal/atomicfile", "internal/regular"},
	// Both work on the plan of a run.
	"harness/rerun":    {"goldens", "harness", "harness/episode", "harness/internal/drive", "harness/ledger", "harness/ledger/manifest", "internal/atomicfile", "internal/clip", "recorder", "recorder/secrets"},
	"harness/forecast": {"agent/turn", "goldens", "harness", "harness/admission", "harness/episode", "harness/internal/drive", "harness/ledger", "harness/ledger/manifest", "internal/clip", "providers", "providers/batch", "providers/price", "recorder", "recorder/cassette"},
	"harness/mutants":  {"internal/regular"},
	"harness/prove":    {"agent/strategy", "agent/tool", "goldens", "goldens/helper", "goldens/persona", "goldens/playbook", "goldens/world/process", "harness", "harness/episode", "harness/internal/drive", "harness/ledger", "internal/parallel", "providers", "providers/policy", "recorder", "recorder/secrets"},
	"recorder":         {"internal/atomicfile", "internal/clip", "internal/pause", "internal/regular", "recorder/cassette", "recorder/internal/canonical", "recorder/internal/checksum", "recorder/secrets"},
	// The format of the files, and the search for credentials in them.
	"recorder/cassette":           {"internal/atomicfile", "internal/plainjson", "internal/regular", "recorder/internal/canonical", "recorder/internal/checksum", "recorder/secrets"},
	"recorder/packs":              {"internal/atomicfile", "internal/parallel", "internal/regular", "recorder/cassette"},
	"recorder/secrets":            {"internal/credential", "recorder/internal/canonical"},
	"recorder/internal/canonical": {"internal/credential"},
	// Its files are replaced in one step. run.json and the plain files of a run folder have
	// packages of their own beneath it, readers of single columns one above it.
	"harness/ledger/work":     {},
	"harness/ledger":          {"harness/ledger/manifest", "harness/ledger/sealed", "harness/ledger/work", "internal/atomicfile", "internal/regular"},
	"harness/ledger/column":   {"harness/ledger", "harness/ledger/sealed"},
	"harness/ledger/manifest": {"harness/ledger/sealed", "internal/atomicfile"},
	"harness/ledger/sealed":   {"internal/atomicfile", "internal/regular"},
	// The second built-in suite with its kind of world, like the first.
	"goldens/research": {"agent/tool", "goldens/internal/decimal", "goldens/world", "internal/clip"},
	// Its findings are in manifests.
	"harness/canary": {"harness/ledger/manifest", "harness/ledger/sealed", "internal/clip", "internal/regular"},
	// It is imported by tests only.
	"internal/testkit": {"internal/regular"},
	// A browser, which pages are looked at with.
	"internal/testkit/browser": {},
	// Simulated requests on the virtual clock.
	"internal/testkit/traffic": {"harness/admission", "harness/admission/shared"},
	// internal/regular opens files: a leaf that everything may import which reads them.
	"internal/regular":    {},
	"internal/atomicfile": {"internal/regular"},
	// Objects in folders and, beneath it, in S3 and JetStream: it knows no run.
	"harness/store":           {"internal/atomicfile", "internal/regular"},
	"harness/store/storetest": {"harness/store"},
	"harness/store/s3store":   {"harness/store", "internal/pause"},
	"harness/store/natsstore": {"harness/store"},
	// It reads kinds of errors and what a provider advises.
	"harness/admission": {"internal/atomicfile", "internal/regular", "providers", "providers/fault"},
	// Caps and rates of several processes; it knows no run.
	"harness/admission/shared": {"harness/admission", "internal/atomicfile", "internal/regular"},
	"providers":                {"internal/clip"},
	// The simulated models follow playbooks, a leaf of goldens: no expectation reaches them.
	"providers/sim":                {"goldens/playbook", "internal/clip", "internal/loopback", "internal/pause", "providers/sim/internal/model"},
	"providers/sim/internal/model": {"goldens/playbook", "goldens/playbook/mistake", "internal/mcphost", "goldens/persona", "internal/plainjson"},
	"providers/all":                {"providers", "providers/anthropic", "providers/bedrock", "providers/cohere", "providers/fault", "providers/gemini", "providers/internal/wire", "providers/ollama", "providers/openai", "providers/responses", "providers/tgi", "providers/vertex"},
	"providers/anthropic":          {"internal/plainjson", "providers", "providers/fault", "providers/internal/wire"},
	// It puts recorded replies through wires that it is given.
	"providers/audit": {"providers", "providers/fault", "providers/gateway", "providers/internal/wire", "providers/price"},
	// Requests and replies of foreign programs; it knows the dialects' hosts.
	"providers/gateway": {"internal/credential", "providers", "providers/openai"},
	// Claude counts on Bedrock as it does at Anthropic.
	"providers/bedrock":   {"providers", "providers/anthropic", "providers/fault", "providers/internal/wire"},
	"providers/cohere":    {"providers", "providers/fault", "providers/internal/wire"},
	"providers/gemini":    {"providers", "providers/fault", "providers/internal/wire"},
	"providers/ollama":    {"providers", "providers/fault", "providers/internal/wire"},
	"providers/openai":    {"providers", "providers/fault", "providers/internal/wire"},
	"providers/responses": {"providers", "providers/fault", "providers/internal/wire"},
	"providers/tgi":       {"providers", "providers/fault", "providers/internal/wire"},
	"providers/vertex":    {"internal/regular", "providers", "providers/fault", "providers/gemini", "providers/internal/wire"},
	// What every wire does alike: sending, bounding, reading errors.
	"providers/internal/wire": {"agent/invisible", "internal/clip", "internal/plainjson", "providers", "providers/fault"},
	// Batch APIs, and what collects the requests of a run for them.
	"providers/batch":    {},
	"harness/batching":   {"internal/pause", "internal/regular", "providers/batch", "providers/price"},
	"providers/batchsim": {"internal/loopback", "providers/sim"},
	// What goes with asking: each may be used without the others.
	"providers/price":  {"providers", "providers/internal/document"},
	"providers/policy": {"providers/internal/document"},
	"providers/retry":  {"internal/pause", "providers", "providers/fault"},
	// Files of settings, read field by field.
	"providers/internal/document": {},
	// The contract suite is linked into tests only.
	"providers/providertest": {"providers", "providers/fault"},
	"providers/scripted":     {"providers", "providers/fault"},
	// It joins the model with its renderers.
	"reports":       {"harness/ledger", "harness/ledger/manifest", "internal/atomicfile", "reports/html", "reports/model", "reports/plot", "reports/text"},
	"reports/model": {"agent/strategy", "harness/ledger", "harness/ledger/column", "harness/ledger/manifest", "internal/clip", "reports/compare", "reports/expr", "reports/failure", "reports/judges", "reports/labelling", "reports/orchestration", "reports/scoring", "reports/stat", "reports/stat/calibration", "reports/stat/judging", "reports/stat/multiple", "reports/transcript", "reports/trend", "reports/words"},
	"reports/view":  {"harness/ledger/manifest", "reports/judges", "reports/labelling", "reports/model", "reports/orchestration", "reports/scoring", "reports/stat", "reports/stat/judging", "reports/trend", "reports/words"},
	// Renderers know no other renderer: pages get their plots as a function.
	"reports/html":          {"harness/ledger", "internal/atomicfile", "internal/clip", "reports/compare", "reports/internal/dots", "reports/model", "reports/orchestration", "reports/stat", "reports/stat/flake", "reports/transcript", "reports/view", "reports/view/compared", "reports/words"},
	"reports/text":          {"harness/ledger", "reports/compare", "reports/model", "reports/stat", "reports/stat/flake", "reports/view", "reports/view/compared", "reports/words"},
	"reports/plot":          {"internal/atomicfile", "internal/clip", "internal/parallel", "reports/internal/dots", "reports/model", "reports/stat", "reports/stat/calibration", "reports/trend", "reports/view", "reports/words"},
	"reports/orchestration": {"harness/ledger", "harness/ledger/work", "reports/words"},
	"reports/transcript":    {"harness/ledger", "reports/orchestration", "reports/words"},
	"reports/view/compared": {"internal/clip", "reports/compare", "reports/stat", "reports/stat/flake", "reports/stat/multiple", "reports/view", "reports/words"},
	"reports/words":         {"agent/invisible", "internal/clip", "reports/stat"},
	"reports/compare":       {"agent/strategy", "harness/ledger", "harness/ledger/manifest", "internal/clip", "reports/failure", "reports/judges", "reports/stat", "reports/stat/flake", "reports/stat/multiple", "reports/words"},
	"reports/expr":          {"agent/invisible", "harness/ledger", "harness/ledger/column", "internal/spell", "reports/stat", "reports/words"},
	"reports/failure":       {"agent/invisible", "harness/ledger", "harness/ledger/manifest", "internal/clip"},
	"reports/trend":         {"reports/stat", "reports/stat/level"},
	// Classes of tasks, by counts and intervals.
	"reports/stat/flake":     {"reports/stat"},
	"reports/stat/agreement": {"reports/stat"},
	// The errors of judges: what labels show, the file that keeps it, and rates corrected for them.
	"reports/stat/judging": {"reports/stat"},
	"reports/judges":       {"harness/ledger", "harness/ledger/manifest", "internal/atomicfile", "internal/regular", "reports/stat/agreement", "reports/stat/judging", "reports/words"},
	// What people say of episodes, and how far it agrees with the automatic verdicts.
	"goldens/labels":    {"goldens/internal/dataset", "internal/clip"},
	"harness/labelling": {"goldens/labels", "harness/episode", "harness/imports", "harness/internal/drive", "harness/ledger", "harness/ledger/manifest", "harness/ledger/work"},
	"reports/labelling": {"harness/ledger", "reports/stat/agreement"},
	"reports/scoring":   {"harness/ledger", "reports/stat"},
	// Which of two candidates a judge prefers: it is asked like any candidate of a run.
	"harness/pairwise":   {"agent", "agent/guard", "agent/turn", "goldens", "goldens/helper", "goldens/rubric", "goldens/scorer", "goldens/world", "harness", "harness/cassettes", "harness/internal/drive", "harness/ledger", "providers", "recorder"},
	"reports/preference": {"goldens/rubric", "reports/stat"},
	// Synthetic runs, linked into tests only.
	"reports/internal/dots":       {"reports/model", "reports/stat", "reports/words"},
	"reports/internal/evidence":   {"harness/ledger", "harness/ledger/manifest"},
	"reports/internal/reporttest": {"agent/invisible", "harness/ledger", "harness/ledger/manifest", "harness/ledger/work", "internal/regular", "reports/compare", "reports/failure", "reports/stat", "reports/stat/flake", "reports/transcript"},
}

// forbidden imports, with the reason. cmd may import everything.
var forbidden = map[string]string{
	"github.com/spf13/viper": "only cmd turns flags, environment and file into options",
	"gonum.org/v1/plot":      "only reports/plot draws",
	"github.com/expr-lang":   "only goldens/internal/expression evaluates expressions, within bounds",
}

type pkg struct {
	ImportPath, Name, Dir                             string
	GoFiles, Imports, TestImports, XTestImports, Deps []string
}

// list lists the packages of the module once for all tests.
var list = sync.OnceValues(func() (list []pkg, err error) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Name,Dir,GoFiles,Imports,TestImports,XTestImports,Deps", "./...").Output()
	for dec := json.NewDecoder(bytes.NewReader(out)); err == nil; {
		var p pkg
		if err = dec.Decode(&p); err == nil {
			list = append(list, p)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return list, err
})

func packages(t *testing.T) []pkg {
	t.Helper()
	list, err := list()
	require.NoError(t, err)
	require.NotEmpty(t, list)
	return list
}

func TestImportArrows(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		seen[name] = true
		for _, imp := range p.Imports {
			if name == "cmd" || strings.HasPrefix(name, "cmd/") {
				continue
			}
			if ours, ok := strings.CutPrefix(imp, module); ok && ours != "internal/lazyregexp" { // anyone may have patterns
				require.Contains(t, arrows[name], ours, "%s imports %s: not an allowed arrow (see the table in this test)", name, ours)
			}
			for bad, why := range forbidden {
				if strings.HasPrefix(imp, bad) && name != "reports/plot" && name != "goldens/internal/expression" {
					t.Errorf("%s imports %s: %s", name, imp, why)
				}
			}
		}
	}
	for name := range arrows {
		require.True(t, seen[name], "the table names %s, which does not exist", name)
	}
}

func TestOnePackageCommentPerFolder(t *testing.T) {
	for _, p := range packages(t) {
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		require.NoError(t, err)
		var with []string
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") && p.ImportPath+"/" != module && p.ImportPath != module+"docs" {
				continue // these two have nothing but tests
			}
			ast, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.PackageClauseOnly|parser.ParseComments)
			require.NoError(t, err)
			if ast.Doc != nil {
				with = append(with, filepath.Base(f))
			}
		}
		require.Len(t, with, 1, "%s: want one package comment, found it in %v", p.ImportPath, with)
	}
}

func TestNoUtilityFolders(t *testing.T) {
	for _, p := range packages(t) {
		for part := range strings.SplitSeq(p.ImportPath, "/") {
			require.False(t, slices.Contains([]string{"util", "utils", "common", "helpers", "misc"}, part), p.ImportPath)
		}
	}
}

// TestFilesAreOpenedInOnePlace keeps FIFOs and devices from blocking cupel: packages
// open what may already exist through internal/regular.
func TestFilesAreOpenedInOnePlace(t *testing.T) {
	folders := map[string]bool{"syncDir": true, "SyncDir": true, "openLocked": true} // who opens folders, to sync or to lock them
	for _, p := range packages(t) {
		if p.ImportPath == module+"internal/regular" {
			continue
		}
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, d := range parsed.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && folders[f.Name.Name] {
					continue
				}
				ast.Inspect(d, func(n ast.Node) bool {
					if opens(n) {
						t.Errorf("%s: a FIFO would block it; use internal/regular", set.Position(n.Pos()))
					}
					return true
				})
			}
		}
	}
}

// opens says whether a call opens a file that may exist already.
func opens(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if of, ok := f.X.(*ast.Ident); !ok || of.Name != "os" {
		return false
	}
	switch f.Sel.Name {
	case "Open", "ReadFile", "DirFS":
		return true
	case "OpenFile":
		fresh := false
		ast.Inspect(call.Args[1], func(n ast.Node) bool {
			flag, ok := n.(*ast.SelectorExpr)
			fresh = fresh || ok && flag.Sel.Name == "O_EXCL"
			return true
		})
		return !fresh
	}
	return false
}

// A program links every package, but for those that only tests import.
func TestEveryPackageIsLinked(t *testing.T) {
	linked := map[string]bool{}
	for _, p := range packages(t) {
		if p.Name == "main" {
			linked[p.ImportPath] = true
			for _, d := range p.Deps {
				linked[d] = true
			}
		}
	}
	var unused []string
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if len(p.GoFiles) > 0 && !slices.Contains(testPackages, name) && !linked[p.ImportPath] {
			unused = append(unused, name)
		}
	}
	require.Empty(t, unused, "no program links them: delete them, or let one use them")
}

// What only cupel-fleet needs is linked into it alone: the program cupel, and programs that import
// harness, link nothing of it.
func TestOnlyTheFleetLinksItsQueueAndStores(t *testing.T) {
	deps := map[string]string{}
	for _, p := range packages(t) {
		deps[strings.TrimPrefix(p.ImportPath, module)] = strings.Join(p.Deps, "\n") + "\n"
	}
	for _, only := range []string{"github.com/minio/", "github.com/nats-io/", module + "harness/store/s3store\n", module + "harness/store/natsstore\n", module + "harness/fleet/natsfleet\n"} {
		require.Contains(t, deps["cmd/cupel-fleet"], only)
		for _, other := range []string{"cmd/cupel", "harness", "harness/fleet"} {
			require.NotEmpty(t, deps[other])
			require.NotContains(t, deps[other], only, other)
		}
	}
	require.Contains(t, deps["cmd/cupel"], module+"harness/store\n", "what the core knows of stores")
}

// Our code and its tests import one YAML module.
func TestOneYAMLModule(t *testing.T) {
	for _, p := range packages(t) {
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if !strings.HasPrefix(imported+"/", module) && strings.Contains(imported, "yaml") {
				require.Equal(t, "gopkg.in/yaml.v3", imported, "%s imports a second YAML module", p.ImportPath)
			}
		}
	}
}

// Every module the product or its tests require directly has a line that says
// what for.
func TestEveryDependencyIsExplained(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	doc := testkit.Doc(t, "dependencies.md")
	direct, _, found := strings.Cut(string(mod), ")")
	require.True(t, found)
	_, direct, _ = strings.Cut(direct, "require (")
	for line := range strings.Lines(direct) {
		if path, _, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			require.Contains(t, doc, "`"+path+"`", "docs/dependencies.md has no line for it")
		}
	}
}

// The named dependency that blanket upgrades break stays where it is pinned.
func TestPinnedCassetteFormat(t *testing.T) {
	text, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	require.Contains(t, string(text), "github.com/dnaeon/go-vcr/v2 v2.1.0")
}
