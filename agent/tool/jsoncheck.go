package tool

import "unicode/utf8"

// Limits on what is read into a tree. Text beyond them is still checked for
// being JSON, in one pass without allocating per value.
const (
	maxBytes  = 64 << 10 // of the whole text
	maxDepth  = 64       // of nested objects and arrays
	maxValues = 8192     // of values in the text, member names not counted
)

// Shape is what one pass over a text learns about it.
type Shape struct {
	// Kind is that of the outermost value, as in JSON.
	Kind byte
	// Depth is the deepest nesting of objects and arrays, 0 for a scalar.
	Depth int
	// Values counts all values, the outermost included.
	Values int
	// Bytes is the length of the text.
	Bytes int

	members int // of all objects
}

// TooDeep reports nesting beyond 64 levels.
func (s Shape) TooDeep() bool { return s.Depth > maxDepth }

// TooLarge reports a text beyond 64 KiB or 8192 values.
func (s Shape) TooLarge() bool { return s.Bytes > maxBytes || s.Values > maxValues }

// checkJSON reports whether text is exactly one JSON value (RFC 8259, valid UTF-8)
// with nothing but white space around it. It does not recurse, so any nesting
// is safe. Shape is zero unless ok.
func checkJSON(text string) (shape Shape, ok bool) {
	if !utf8.ValidString(text) {
		return Shape{}, false
	}
	c := checker{text: text, shape: Shape{Bytes: len(text)}}
	for {
		if !c.value() {
			return Shape{}, false
		}
		more, ok := c.next()
		if !ok {
			return Shape{}, false
		}
		if !more {
			return c.shape, true
		}
	}
}

// checker walks a text, depth opening brackets deep: the first are in few, the
// others in more.
type checker struct {
	text  string
	at    int
	depth int
	few   [maxDepth]byte
	more  []byte
	shape Shape
}

func (c *checker) push(opening byte) {
	if c.depth < maxDepth {
		c.few[c.depth] = opening
	} else {
		c.more = append(c.more[:c.depth-maxDepth], opening)
	}
	c.depth++
}

// opening is the innermost bracket not yet closed.
func (c *checker) opening() byte {
	if c.depth <= maxDepth {
		return c.few[c.depth-1]
	}
	return c.more[c.depth-maxDepth-1]
}

// value reads a scalar, an empty container, or opens containers up to the first
// scalar or empty container inside them.
func (c *checker) value() bool {
	for {
		c.at = skipSpace(c.text, c.at)
		if c.at >= len(c.text) {
			return false
		}
		kind := kindOf(c.text[c.at])
		if c.shape.Values == 0 {
			c.shape.Kind = kind
		}
		c.shape.Values++
		if kind != '{' && kind != '[' {
			end, ok := scalarEnd(c.text, c.at, kind)
			c.at = end
			return ok
		}
		empty, ok := c.enter()
		if !ok || empty {
			return ok
		}
	}
}

// enter steps into the container at the cursor, past the first member's name.
func (c *checker) enter() (empty, ok bool) {
	opening := c.text[c.at]
	c.push(opening)
	c.shape.Depth = max(c.shape.Depth, c.depth)
	c.at = skipSpace(c.text, c.at+1)
	if c.at >= len(c.text) {
		return false, false
	}
	if c.text[c.at] == opening+2 { // in ASCII, ']' is '['+2 and '}' is '{'+2
		c.depth--
		c.at++
		return true, true
	}
	if opening == '[' {
		return false, true
	}
	return false, c.name()
}

// name reads a member's name and the colon after it.
func (c *checker) name() bool {
	at := skipSpace(c.text, c.at)
	if at >= len(c.text) || c.text[at] != '"' {
		return false
	}
	end, ok := stringEnd(c.text, at)
	if !ok {
		return false
	}
	c.shape.members++
	at = skipSpace(c.text, end)
	c.at = at + 1
	return at < len(c.text) && c.text[at] == ':'
}

// next closes containers up to the next comma. more says that a value follows;
// ok, when no more, that the text is complete.
func (c *checker) next() (more, ok bool) {
	for {
		c.at = skipSpace(c.text, c.at)
		if c.depth == 0 {
			return false, c.at == len(c.text)
		}
		if c.at >= len(c.text) {
			return false, false
		}
		opening := c.opening()
		switch c.text[c.at] {
		case ',':
			c.at++
			if opening == '{' && !c.name() {
				return false, false
			}
			return true, true
		case opening + 2:
			c.depth--
			c.at++
		default:
			return false, false
		}
	}
}
