package witness

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// maxVariants is how many texts are tried for one expression.
const maxVariants = 8

// regexSamples returns short texts in which an expression of RE2 is found; none where
// the expression is broken or no text was found.
func regexSamples(expr string) (out []string) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil
	}
	tree = tree.Simplify()
	for variant := range maxVariants {
		w := sampleWriter{variant: variant}
		if w.write(tree); re.MatchString(w.String()) && !slices.Contains(out, w.String()) {
			out = append(out, w.String())
		}
	}
	return out
}

// sampleWriter writes a text that an expression describes. Variants take other
// branches, other characters and another number of repetitions.
type sampleWriter struct {
	strings.Builder
	variant int
}

func (w *sampleWriter) write(re *syntax.Regexp) {
	if w.Len() > maxSampleText {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		w.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		w.WriteRune(w.member(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		w.WriteByte('x')
	case syntax.OpCapture, syntax.OpPlus, syntax.OpConcat:
		for _, sub := range re.Sub {
			w.write(sub)
		}
	case syntax.OpStar, syntax.OpQuest:
		if w.variant%2 == 1 {
			w.write(re.Sub[0])
		}
	case syntax.OpAlternate:
		w.write(re.Sub[w.variant%len(re.Sub)])
	}
}

// member is a character of a class, given as pairs of first and last; a common one if
// the class has it.
func (w *sampleWriter) member(ranges []rune) rune {
	const common = "x5 a0-_Z"
	for i := range len(common) {
		r := rune(common[(i+w.variant)%len(common)])
		for k := 0; k+1 < len(ranges); k += 2 {
			if ranges[k] <= r && r <= ranges[k+1] {
				return r
			}
		}
	}
	if len(ranges) == 0 {
		return 'x'
	}
	return ranges[0]
}

// contextFree reports whether an expression that is found in a text is found in every
// longer text that holds it: it has no anchor and no word boundary.
func contextFree(expr string) bool {
	tree, err := syntax.Parse(expr, syntax.Perl)
	return err == nil && !hasAnchor(tree)
}

func hasAnchor(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(re.Sub, hasAnchor)
}
