package plan

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/clip"
)

// maxEffort bounds the values of a schema, its references followed: what one value
// may be checked against. Without a bound, some forty definitions that each refer twice
// to the next would keep a machine busy for years.
const maxEffort = 10_000

// checkEffort refuses a schema that takes too long to hold a value against, or whose
// effort cannot be estimated: one that refers to itself, or by other means than the path
// to a part of it.
func checkEffort(root tool.JSON) error {
	e := effort{root: root, known: map[string]int{}}
	n := e.of(root)
	switch {
	case e.wrong != "":
		return errors.New(e.wrong)
	case e.based && len(e.known) > 0:
		return errors.New("$id and $ref do not go together: leave $id out")
	case n > maxEffort:
		return fmt.Errorf("its references repeat too much: more than %d values when they are followed", maxEffort)
	}
	return nil
}

// effort counts the values of a schema, each as often as it is referred to.
type effort struct {
	root  tool.JSON
	known map[string]int // by reference; -1 while it is being counted
	wrong string
	based bool // a part has its own address, which references begin at
}

func (e *effort) of(v tool.JSON) int {
	n := 1
	for _, m := range v.Members {
		text := m.Value.Text()
		switch {
		case m.Value.Kind != '"':
			n += e.of(m.Value)
		case m.Name == "$ref":
			n += e.referred(text)
		case m.Name == "$dynamicRef" || m.Name == "$recursiveRef":
			e.wrong = m.Name + " is not accepted: refer to a part by $ref, such as #/$defs/name"
		case m.Name == "$id" || m.Name == "id":
			e.based = true
		}
	}
	for _, elem := range v.Elems {
		n += e.of(elem)
	}
	return min(n, maxEffort+1)
}

// referred counts what a reference leads to. One that leads nowhere is a matter of
// the compiler.
func (e *effort) referred(ref string) int {
	n, met := e.known[ref]
	switch {
	case met && n < 0:
		e.wrong = fmt.Sprintf("the reference %q leads back to itself", clip.Runes(ref, maxTitle))
		return 0
	case met:
		return n
	case ref != "#" && !strings.HasPrefix(ref, "#/"):
		e.wrong = fmt.Sprintf("the reference %q is not accepted: refer to a part such as #/$defs/name", clip.Runes(ref, maxTitle))
		return 0
	}
	e.known[ref] = -1
	e.known[ref] = e.of(part(e.root, ref))
	return e.known[ref]
}

// part follows a JSON pointer (RFC 6901) in a fragment; nothing where it leads nowhere.
func part(v tool.JSON, ref string) tool.JSON {
	pointer, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
	if err != nil {
		return tool.JSON{}
	}
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" {
			break
		}
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v.Elems) {
			v = v.Elems[i]
			continue
		}
		v, _ = v.Get(name)
	}
	return v
}
