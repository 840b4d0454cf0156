package formula

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/internal/clip"
)

// parser reads the expressions of a text by recursive descent.
type parser struct {
	text string
	at   int
	// level is how deep the expression is nested.
	level       int
	expressions int
	nodes       []string
}

// fail is an error at a byte of the text.
func (p *parser) fail(at int, format string, args ...any) error {
	return &Error{Column: utf8.RuneCountInString(p.text[:min(at, len(p.text))]) + 1, Detail: fmt.Sprintf(format, args...)}
}

// template reads one expression and the braces behind it.
func (p *parser) template() (expression, error) {
	p.expressions++
	begin := p.at - 2
	e, err := p.choice()
	switch {
	case err != nil:
		return nil, err
	case p.accept("}}"):
		return e, nil
	case p.at == len(p.text):
		return nil, p.fail(begin, "{{ has no }}")
	}
	return nil, p.unexpected()
}

func (p *parser) unexpected() error {
	p.space()
	if p.at == len(p.text) {
		return p.fail(p.at, "the expression ends too early")
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	return p.fail(p.at, "unexpected %q", r)
}

func (p *parser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// accept reads a token if it comes next.
func (p *parser) accept(token string) bool {
	p.space()
	if !strings.HasPrefix(p.text[p.at:], token) {
		return false
	}
	p.at += len(token)
	return true
}

func (p *parser) expect(tokens ...string) error {
	for _, token := range tokens {
		if !p.accept(token) {
			return p.fail(p.at, "want %q here", token)
		}
	}
	return nil
}

// choice reads a whole expression: `a ? b : c` or what binds tighter.
func (p *parser) choice() (expression, error) {
	if p.level++; p.level > 2*maxDepth {
		return nil, p.fail(p.at, "the expression is nested too deep")
	}
	defer func() { p.level-- }()
	condition, err := p.binary(0)
	if err != nil || !p.accept("?") {
		return condition, err
	}
	then, err := p.choice()
	if err != nil {
		return nil, err
	}
	if err := p.expect(":"); err != nil {
		return nil, err
	}
	otherwise, err := p.choice()
	return choice{condition, then, otherwise}, err
}

// operators by how tight they bind. A longer one precedes those that it begins with.
var operators = [][]string{{"||"}, {"&&"}, {"===", "!==", "==", "!="}, {"<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}}

func (p *parser) binary(level int) (expression, error) {
	if level == len(operators) {
		return p.unary()
	}
	left, err := p.binary(level + 1)
	for n := 0; err == nil; n++ {
		i := slices.IndexFunc(operators[level], p.accept)
		if i < 0 {
			break
		}
		if n == maxDepth*10 {
			return nil, p.fail(p.at, "too many operators")
		}
		var right expression
		right, err = p.binary(level + 1)
		left = binary{clip.FirstBytes(operators[level][i], 2), left, right} // === is ==
	}
	return left, err
}

func (p *parser) unary() (expression, error) {
	if p.level++; p.level > 2*maxDepth {
		return nil, p.fail(p.at, "the expression is nested too deep")
	}
	defer func() { p.level-- }()
	for _, operator := range []string{"!", "-"} {
		if p.accept(operator) {
			of, err := p.unary()
			return unary{operator, of}, err
		}
	}
	of, err := p.primary()
	for err == nil {
		switch {
		case p.accept("["):
			var key expression
			if key, err = p.choice(); err == nil {
				of, err = index{of, key}, p.expect("]")
			}
		case p.dot():
			of, err = p.member(of)
		default:
			return of, nil
		}
	}
	return nil, err
}

// dot reads `.` or `?.`, which is the same, as a missing path is null.
func (p *parser) dot() bool {
	p.space()
	if rest := p.text[p.at:]; len(rest) > 2 && rest[:2] == "?." && isLetter(rest[2]) {
		p.at++
	}
	return p.accept(".")
}

func isLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

// name reads a name; "" if there is none.
func (p *parser) name() string {
	p.space()
	begin := p.at
	for p.at < len(p.text) && (isLetter(p.text[p.at]) || p.at > begin && p.text[p.at] >= '0' && p.text[p.at] <= '9') {
		p.at++
	}
	return p.text[begin:p.at]
}

// member reads what is behind a dot.
func (p *parser) member(of expression) (expression, error) {
	begin := p.at
	name := p.name()
	if name == "" {
		return nil, p.unexpected()
	}
	if !p.accept("(") {
		if f, ok := functions[name]; ok && f.most >= 0 {
			return nil, p.fail(begin, "%s is a function: write %[1]s()", name)
		}
		return member{of, name}, nil
	}
	return p.call(begin, name, of)
}

// call reads the arguments of a function, whose name is at begin and whose first argument
// is of.
func (p *parser) call(begin int, name string, of ...expression) (expression, error) {
	f, ok := functions[name]
	if !ok {
		return nil, p.fail(begin, "unknown function %s; want one of %s", name, functionNames)
	}
	args, err := p.list(")")
	if err != nil {
		return nil, err
	}
	args = append(of, args...)
	if n := len(args) - 1; n < f.least || n > f.most {
		return nil, p.fail(begin, "%s() takes %d to %d arguments, not %d", name, f.least, f.most, n)
	}
	return call{f, args}, nil
}

// list reads expressions between commas up to a closing token.
func (p *parser) list(end string) (items []expression, err error) {
	if p.accept(end) {
		return nil, nil
	}
	for {
		item, err := p.choice()
		if err != nil {
			return nil, err
		}
		if items = append(items, item); p.accept(end) {
			return items, nil
		}
		if err := p.expect(","); err != nil {
			return nil, err
		}
	}
}

func (p *parser) primary() (expression, error) {
	p.space()
	switch begin := p.at; {
	case begin == len(p.text):
		return nil, p.unexpected()
	case p.accept("("):
		e, err := p.choice()
		if err == nil {
			err = p.expect(")")
		}
		return e, err
	case p.accept("["):
		items, err := p.list("]")
		return list(items), err
	case p.text[begin] == '\'' || p.text[begin] == '"':
		text, err := p.quoted()
		return literal{text}, err
	case p.text[begin] >= '0' && p.text[begin] <= '9':
		return p.number()
	case p.accept("$("):
		return p.reference()
	case p.accept("$"):
		return p.variable(begin)
	case isLetter(p.text[begin]):
		return p.word(begin)
	}
	return nil, p.unexpected()
}

// reference reads `'name').item.json` or `'name').first().json`.
func (p *parser) reference() (expression, error) {
	if p.space(); p.at == len(p.text) || p.text[p.at] != '\'' && p.text[p.at] != '"' {
		return nil, p.fail(p.at, "want the name of a node in quotes, as in $('Node').item.json")
	}
	name, err := p.quoted()
	if err != nil {
		return nil, err
	}
	if err := p.expect(")", "."); err != nil {
		return nil, err
	}
	p.nodes = append(p.nodes, name)
	first, err := p.which("$('" + name + "')")
	return reference{name, first}, err
}

// which reads `item.json` or `first().json`.
func (p *parser) which(of string) (first bool, err error) {
	switch begin := p.at; p.name() {
	case "item":
		return false, p.expect(".", "json")
	case "first":
		return true, p.expect("(", ")", ".", "json")
	default:
		return false, p.fail(begin, "want %s.item.json or %[1]s.first().json", of)
	}
}

func (p *parser) variable(begin int) (expression, error) {
	switch name := p.name(); name {
	case "json", "now":
		return variable(name), nil
	case "input":
		if err := p.expect("."); err != nil {
			return nil, err
		}
		first, err := p.which("$input")
		if first {
			return variable("first"), err
		}
		return variable("json"), err
	default:
		return nil, p.fail(begin, "unknown name $%s; want $json, $now, $input or $('Node')", name)
	}
}

func (p *parser) word(begin int) (expression, error) {
	switch name := p.name(); name {
	case "true", "false":
		return literal{name == "true"}, nil
	case "null", "undefined":
		return literal{}, nil
	case "Math", "round":
		if name == "Math" {
			if err := p.expect(".", "round"); err != nil {
				return nil, err
			}
		}
		if err := p.expect("("); err != nil {
			return nil, err
		}
		of, err := p.choice()
		if err != nil {
			return nil, err
		}
		if p.accept(")") {
			return call{functions["round"], []expression{of}}, nil
		}
		if err := p.expect(","); err != nil {
			return nil, err
		}
		return p.call(begin, "round", of)
	default:
		return nil, p.fail(begin, "unknown name %s; fields of the item are $json.%[1]s, texts are in quotes", name)
	}
}

func (p *parser) number() (expression, error) {
	begin := p.at
	digits := func() {
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
	}
	digits()
	if rest := p.text[p.at:]; len(rest) > 1 && rest[0] == '.' && rest[1] >= '0' && rest[1] <= '9' { // not 1.round()
		p.at++
		digits()
	}
	if p.at < len(p.text) && strings.IndexByte("eE", p.text[p.at]) >= 0 {
		if p.at++; p.at < len(p.text) && strings.IndexByte("+-", p.text[p.at]) >= 0 {
			p.at++
		}
		digits()
	}
	v, err := strconv.ParseFloat(p.text[begin:p.at], 64)
	if err != nil {
		return nil, p.fail(begin, "%s is not a number", p.text[begin:p.at])
	}
	return literal{v}, nil
}

// quoted reads a text in quotes.
func (p *parser) quoted() (string, error) {
	begin := p.at
	quote := p.text[begin]
	var out strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		switch {
		case c == quote:
			p.at++
			return out.String(), nil
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			if i := strings.IndexByte("nrt", p.text[p.at]); i >= 0 {
				out.WriteByte("\n\r\t"[i])
				continue
			}
			c = p.text[p.at]
		}
		out.WriteByte(c)
	}
	return "", p.fail(begin, "the text has no closing %c", quote)
}
