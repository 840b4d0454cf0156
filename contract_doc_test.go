package cupel_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// goConst is one constant of a package, with a literal value.
type goConst struct {
	name, typ string
	// text is a string's value; number another one's, as 64 or "300 s".
	text, number string
}

// parseDir parses the code of a package, without its tests.
func parseDir(t *testing.T, dir string) []*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	var files []*ast.File
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			require.NoError(t, err)
			files = append(files, file)
		}
	}
	require.NotEmpty(t, files, dir)
	return files
}

// constants lists a package's constants in the order of its files.
func constants(t *testing.T, dir string) []goConst {
	t.Helper()
	var out []goConst
	for _, file := range parseDir(t, dir) {
		for _, decl := range file.Decls {
			d, ok := decl.(*ast.GenDecl)
			if !ok || d.Tok != token.CONST {
				continue
			}
			for _, spec := range d.Specs {
				v := spec.(*ast.ValueSpec)
				for i, name := range v.Names {
					if i >= len(v.Values) {
						continue
					}
					c := goConst{name: name.Name}
					if id, ok := v.Type.(*ast.Ident); ok {
						c.typ = id.Name
					}
					c.text, c.number = literal(v.Values[i])
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// literal evaluates what constants here are made of: strings, integers, shifts,
// and seconds.
func literal(e ast.Expr) (text, number string) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, _ = strconv.Unquote(e.Value)
			return text, ""
		}
		return "", constant.MakeFromLiteral(e.Value, e.Kind, 0).ExactString()
	case *ast.BinaryExpr:
		_, left := literal(e.X)
		if s, ok := e.Y.(*ast.SelectorExpr); ok && s.Sel.Name == "Second" {
			return "", left + " s"
		}
		_, right := literal(e.Y)
		n, err := strconv.Atoi(left)
		m, err2 := strconv.Atoi(right)
		if err == nil && err2 == nil && e.Op == token.SHL {
			return "", strconv.Itoa(n << m)
		}
	}
	return "", ""
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// docTables reads the tables of a page: for each heading, the rows' cells.
func docTables(t *testing.T, page string) map[string][][]string {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	tables, heading := map[string][][]string{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
			heading = strings.TrimSpace(title)
		}
		if strings.HasPrefix(line, "| `") {
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			cells[0] = codeSpan.FindStringSubmatch(cells[0])[1]
			tables[heading] = append(tables[heading], cells)
		}
	}
	return tables
}

// firstCells are the codes of a table, without what stands for the output's own
// words.
func firstCells(rows [][]string) []string {
	var out []string
	for _, cells := range rows {
		code := strings.TrimPrefix(cells[0], "args.FIELD")
		for _, word := range []string{"PATH", "KEYWORD", "KEY", "REASON", "NAME", "TYPE"} {
			code = strings.TrimSuffix(code, word)
		}
		if code != "" {
			out = append(out, code)
		}
	}
	return out
}

// TestContractPage holds every table of docs/contract.md against the code, both
// ways: no code without a row, no row without a code.
func TestContractPage(t *testing.T) {
	tables := docTables(t, filepath.Join("docs", "contract.md"))
	contract, tool, agent := constants(t, "agent/contract"), constants(t, "agent/tool"), constants(t, "agent")
	prefixed := func(list []goConst, prefix string) (out []string) {
		for _, c := range list {
			if strings.HasPrefix(c.name, prefix) && c.text != "" {
				out = append(out, c.text)
			}
		}
		return out
	}
	typed := func(list []goConst, typ string) (out []string) {
		for _, c := range list {
			if c.typ == typ {
				out = append(out, c.text)
			}
		}
		return out
	}
	for heading, want := range map[string][]string{
		"Violations":          append(prefixed(contract, "code"), prefixed(contract, "Truncated")...),
		"Warnings":            prefixed(contract, "warn"),
		"Argument violations": prefixed(tool, "code"),
		"Dispositions":        typed(contract, "Disposition"),
		"Refusals":            prefixed(agent, "code"),
		"Statuses":            typed(agent, "Status"),
		"Stop reasons":        typed(agent, "StopReason"),
	} {
		require.NotEmpty(t, want, heading)
		require.ElementsMatch(t, want, firstCells(tables[heading]), "docs/contract.md, %s: the code has the first list, the page the second", heading)
	}
	require.Equal(t, prefixed(contract, "step"), firstCells(tables["Repair"]), "in the order of application")
}

// TestContractPageNumbers holds the page's numbers: every bound of the contract,
// its tools and its guards has a row, and every row its value.
func TestContractPageNumbers(t *testing.T) {
	tables := docTables(t, filepath.Join("docs", "contract.md"))
	code, all := map[string]string{}, map[string]string{}
	for _, pkg := range []string{"contract", "tool", "guard", "agent"} {
		dir := filepath.Join("agent", strings.TrimPrefix(pkg, "agent"))
		for _, c := range constants(t, dir) {
			if c.number == "" {
				continue
			}
			name := pkg + "." + c.name
			all[name] = c.number
			if pkg == "guard" || pkg != "agent" && strings.HasPrefix(c.name, "max") {
				code[name] = c.number
			}
		}
	}
	page := map[string]string{}
	for _, cells := range slices.Concat(tables["Guards"], tables["Limits"]) {
		require.Contains(t, all, cells[0], "docs/contract.md has a row without a constant")
		value := all[cells[0]]
		require.Regexp(t, "^"+regexp.QuoteMeta(value)+"( bytes| characters)?$", cells[1], cells[0])
		page[cells[0]] = value
	}
	for _, name := range slices.Sorted(maps.Keys(code)) {
		require.Contains(t, page, name, "docs/contract.md has no row for a bound")
	}
}

// TestContractPageFatal holds the columns fatal and pointer against the calls
// that report violations, and that every code reported has a name.
func TestContractPageFatal(t *testing.T) {
	names := map[string]string{}
	for _, c := range constants(t, "agent/contract") {
		names[c.name] = c.text
	}
	found := map[string]string{}
	for _, file := range parseDir(t, "agent/contract") {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if s, ok := call.Fun.(*ast.SelectorExpr); !ok || s.Sel.Name != "violate" {
				return true
			}
			code, ok := call.Args[0].(*ast.Ident)
			require.True(t, ok, "a violation without a named code")
			pointer, _ := literal(call.Args[1])
			if pointer != "" {
				pointer = "`" + pointer + "`"
			}
			fatal := map[string]string{"fatal": "yes", "soft": "no"}[call.Args[2].(*ast.Ident).Name]
			found[names[code.Name]] = fmt.Sprintf("%s %s", fatal, pointer)
			return true
		})
	}
	page := map[string]string{}
	for _, cells := range docTables(t, filepath.Join("docs", "contract.md"))["Violations"] {
		page[cells[0]] = cells[1] + " " + cells[2]
	}
	require.Equal(t, found, page)
}
