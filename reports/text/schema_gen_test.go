package text

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// schemaGen writes the JSON Schema of a Go type: properties by the json tags,
// descriptions from the comments, null where a pointer may be nil.
type schemaGen struct {
	t    *testing.T
	defs map[string]any
	docs map[string]*ast.File // packages by import path, merged
}

// generateSchema returns the schema file of root.
func generateSchema(t *testing.T, id, title string, root reflect.Type) []byte {
	g := &schemaGen{t: t, defs: map[string]any{}, docs: map[string]*ast.File{}}
	g.ref(root)
	top := g.defs[defName(root)].(map[string]any)
	delete(g.defs, defName(root))
	text, err := json.MarshalIndent(struct {
		Schema      string `json:"$schema"`
		ID          string `json:"$id"`
		Title       string `json:"title"`
		Description any    `json:"description"`
		Type        any    `json:"type"`
		Required    any    `json:"required"`
		Properties  any    `json:"properties"`
		Defs        any    `json:"$defs"`
	}{"https://json-schema.org/draft/2020-12/schema", id, title, top["description"], top["type"], top["required"], top["properties"], g.defs}, "", "  ")
	require.NoError(t, err)
	return append(text, '\n')
}

// publishedNames maps types to the names of their definitions, if the Go name or
// package differs: the schema keeps the published name.
var publishedNames = map[string]string{
	"manifest.Candidate": "ledger.ManifestCandidate", "manifest.Criterion": "ledger.OwnCriterion", "manifest.Decide": "ledger.ManifestDecide",
	"compare.FailureChange": "compare.Drift", "model.StrategyComparison": "reports.Contest", "model.StrategyResult": "reports.Entrant", "model.PairResult": "reports.Claim",
	"manifest.Fork": "ledger.ManifestFork", "manifest.Setting": "ledger.ManifestSetting", "manifest.Stop": "ledger.ManifestStop", "manifest.Task": "ledger.ManifestTask",
}

func defName(t reflect.Type) string {
	folder := t.PkgPath()[strings.LastIndexByte(t.PkgPath(), '/')+1:]
	name := folder + "." + t.Name()
	if p := publishedNames[name]; p != "" {
		return p
	}
	switch folder {
	case "manifest":
		return "ledger." + t.Name()
	case "model":
		return "reports." + t.Name()
	}
	if strings.Contains(t.PkgPath(), "/reports/stat/") {
		return "stat." + t.Name()
	}
	return name
}

// ref returns the schema of a type at the place where it is used.
func (g *schemaGen) ref(t reflect.Type) map[string]any {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[manifest.Threshold]():
		return map[string]any{"anyOf": []any{map[string]any{"type": "number"}, map[string]any{"const": manifest.Off.String()}}}
	case t.Kind() == reflect.Pointer:
		of := g.ref(t.Elem())
		if name, ok := of["type"].(string); ok {
			return map[string]any{"type": []string{name, "null"}}
		}
		return map[string]any{"anyOf": []any{of, map[string]any{"type": "null"}}}
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": g.ref(t.Elem())}
	case t.Kind() == reflect.Struct, t.Kind() == reflect.String && t.PkgPath() != "":
		g.define(t)
		return map[string]any{"$ref": "#/$defs/" + defName(t)}
	}
	names := map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Float64: "number",
		reflect.Int: "integer", reflect.Int32: "integer", reflect.Int64: "integer",
	}
	require.Contains(g.t, names, t.Kind(), "the schema knows no %s", t)
	return map[string]any{"type": names[t.Kind()]}
}

func (g *schemaGen) define(t reflect.Type) {
	if g.defs[defName(t)] != nil {
		return
	}
	def := map[string]any{}
	g.defs[defName(t)] = def
	file := g.parse(t.PkgPath())
	spec, doc := findType(file, t.Name())
	require.NotNil(g.t, spec, "%s is declared where it is said to be", t)
	if t.Kind() == reflect.String {
		def["type"], def["enum"] = "string", constants(file, t.Name())
		require.NotEmpty(g.t, def["enum"], "%s has constants", t)
		def["description"] = doc
		return
	}
	properties, required := map[string]any{}, []string{}
	g.fields(t, properties, &required)
	slices.Sort(required)
	def["type"], def["properties"], def["required"] = "object", properties, required
	def["description"] = g.renamed(doc, t)
	if after, ok := strings.CutPrefix(def["description"].(string), t.Name()+" "); ok {
		_, name, _ := strings.Cut(defName(t), ".")
		def["description"] = name + " " + after
	}
}

// fields adds the properties of a struct. If two have the same name, the outer one
// counts.
func (g *schemaGen) fields(t reflect.Type, properties map[string]any, required *[]string) {
	doc := fieldDocs(g.parse(t.PkgPath()), t)
	var embedded []reflect.Type
	for i := range t.NumField() {
		f := t.Field(i)
		tag, has := f.Tag.Lookup("json")
		if f.Anonymous && !has {
			embedded = append(embedded, f.Type)
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		require.NotEmpty(g.t, name, "%s.%s has a json name", t, f.Name)
		p := f.Type
		if options == "omitempty" || options == "omitzero" {
			if p.Kind() == reflect.Pointer { // omitted rather than null
				p = p.Elem()
			}
		} else {
			*required = append(*required, name)
		}
		properties[name] = g.ref(p)
		if d := either(g.renamed(doc[f.Name], t), plainNames[name]); d != "" {
			properties[name].(map[string]any)["description"] = d
		}
	}
	for _, e := range embedded {
		inner, more := map[string]any{}, []string{}
		g.fields(e, inner, &more)
		for name, p := range inner {
			if properties[name] == nil {
				properties[name] = p
				if slices.Contains(more, name) {
					*required = append(*required, name)
				}
			}
		}
	}
}

// plainNames describe fields whose names say it all to those who know the code.
var plainNames = map[string]string{
	"agent": "The agent strategy.", "candidate": "The candidate's name.", "candidates": "The candidates under test, by name.", "code_version": "The version of cupel.",
	"cost_nanousd": "In nano-USD.", "criteria": "Each threshold with what the evidence says.", "elapsed_us": "Time of the episode in microseconds, without waits for a human.",
	"episode_id": "The episode's id in the ledger.", "headline": "The verdict and its reason in one line.", "high": "The upper end.", "id": "The task's id.",
	"low": "The lower end.", "model": "The model asked for.", "note": "What a reader of the number must know.", "output_mode": "How the contract is asked for.",
	"prompt_profile": "The prompt template.", "provider": "The provider asked.", "request": "What the user asks for.", "rescue_model": "The model of the rescue turn.",
	"run_id": "The run's id.", "seed": "The run's seed.", "sentence": "The verdict and its reason, without the name.", "simulated": "Whether a model under test was simulated: its numbers say nothing about a real one.",
	"started": "When the run began, in UTC.", "status": "How it ended, see docs/runs.md.", "steps": "Model turns that count as steps.",
	"stop_reason": "Which guard stopped it; empty when none did.", "suite": "The suite's name.", "tags": "The task's tags.", "task": "The task's id.", "tasks": "The tasks.", "tier": "The task's tier.",
	"title": "What it is, in words.", "trials": "Repetitions of each task.",
	"verdict": "What the evidence says.", "acceptance": "The thresholds in force.", "outcomes": "How the planned episodes ended.", "threshold": "What value is compared with.",
	"tokens_out": "Over all episodes, null when any did not report.", "tokens_cache_read": "Over all episodes, null when any did not report.", "tokens_cache_write": "Over all episodes, null when any did not report.",
	"tokens_reasoning": "Over all episodes, null when any did not report.", "owner": "Who sees to it.", "reason": "Why.", "mode": "replay, record or live.", "unpriced_episodes": "Episodes without a known cost.",
}

var goName = regexp.MustCompile(`\b[A-Z]\w*\b`)

// renamed returns a comment with the JSON names of a struct's fields instead of Go's.
func (g *schemaGen) renamed(text string, t reflect.Type) string {
	return goName.ReplaceAllStringFunc(text, func(w string) string {
		if f, ok := t.FieldByName(w); ok && !f.Anonymous {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			return name
		}
		return w
	})
}

// parse reads the files of one of cupel's packages, with comments.
func (g *schemaGen) parse(path string) *ast.File {
	if g.docs[path] != nil {
		return g.docs[path]
	}
	dir := filepath.Join("..", "..", strings.TrimPrefix(path, "github.com/cupel-eval/cupel/"))
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(g.t, err)
	all := &ast.File{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		require.NoError(g.t, err)
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
		require.NoError(g.t, err)
		all.Decls = append(all.Decls, file.Decls...)
	}
	g.docs[path] = all
	return all
}

func findType(file *ast.File, name string) (*ast.TypeSpec, string) {
	for _, d := range file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.TYPE {
			continue
		}
		for _, s := range decl.Specs {
			if spec := s.(*ast.TypeSpec); spec.Name.Name == name {
				return spec, oneLine(spec.Doc.Text() + decl.Doc.Text())
			}
		}
	}
	return nil, ""
}

// constants returns the values of a string type, in the order of their declaration.
func constants(file *ast.File, name string) (values []string) {
	for _, d := range file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.CONST {
			continue
		}
		for _, s := range decl.Specs {
			spec := s.(*ast.ValueSpec)
			if of, ok := spec.Type.(*ast.Ident); ok && of.Name == name {
				for _, v := range spec.Values {
					values = append(values, constant.StringVal(constant.MakeFromLiteral(v.(*ast.BasicLit).Value, token.STRING, 0)))
				}
			}
		}
	}
	return values
}

// fieldDocs returns the comments of a struct's fields. A comment that also names the
// next fields, if they have none, applies to them, too.
func fieldDocs(file *ast.File, t reflect.Type) map[string]string {
	spec, _ := findType(file, t.Name())
	docs, last := map[string]string{}, ""
	for _, f := range spec.Type.(*ast.StructType).Fields.List {
		if doc := oneLine(f.Doc.Text() + " " + f.Comment.Text()); doc != "" {
			last = doc
			for _, name := range f.Names {
				docs[name.Name] = doc
			}
			continue
		}
		for _, name := range f.Names {
			if slices.Contains(goName.FindAllString(last, -1), name.Name) {
				docs[name.Name] = last
			}
		}
	}
	return docs
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// populate sets every field of v: pointers and lists to one of something if full, to
// nothing otherwise. It knows nothing of tags or schemas.
func populate(t *testing.T, v reflect.Value, full bool) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 5, 13, 12, 0, 0, 0, time.UTC)))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				populate(t, v.Field(i), full)
			}
		}
	case reflect.Pointer:
		if full {
			v.Set(reflect.New(v.Type().Elem()))
			populate(t, v.Elem(), full)
		}
	case reflect.Slice:
		if full {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			populate(t, v.Index(0), full)
		}
	case reflect.String:
		text, known := map[string]string{"string": "text", "stat.Verdict": "fail", "flake.Stability": "flaky", "failure.Kind": "answer", "compare.Changed": "skip", "compare.OnUnclear": "fail"}[v.Type().String()]
		require.True(t, known, "a value of %s", v.Type())
		if full || v.Type().PkgPath() != "" {
			v.SetString(text)
		}
	case reflect.Bool:
		v.SetBool(full)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	default:
		require.Fail(t, "unknown kind", strconv.Quote(fmt.Sprint(v.Type())))
	}
}
