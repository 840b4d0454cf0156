package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/internal/spell"
)

// The kinds of node types.
const (
	KindTrigger   = "trigger"   // starts a workflow, one in each
	KindFlow      = "flow"      // decides where items go and when
	KindTransform = "transform" // makes items of items
	KindAction    = "action"    // acts on something outside of the workflow
)

// Type describes the nodes of one type.
type Type struct {
	Name        string  `json:"name"`
	Kind        string  `json:"kind"`
	Category    string  `json:"category"`
	Description string  `json:"description"`
	Versions    []int   `json:"versions"`
	Params      []Param `json:"parameters"`
	// Inputs and Outputs are the names of the ports, in order. A switch has an output for
	// each of its rules instead: see Ports.
	Inputs  []string `json:"inputs"`
	Outputs []string `json:"outputs"`
	// AllInputs says that each input must be connected.
	AllInputs   bool         `json:"allInputs,omitempty"`
	Credentials []Credential `json:"credentials,omitempty"`
	// Hints say what users of the type get wrong.
	Hints []string `json:"hints,omitempty"`
}

// Param describes a parameter of a node type, or a field of an object in one.
type Param struct {
	Name string `json:"name"`
	// Type is one of the Type constants below. A text with expressions is allowed, whatever
	// the type, except for fields and enums, which are constants.
	Type        string   `json:"type"`
	Required    bool     `json:"required,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Default     any      `json:"default,omitempty"`
	Description string   `json:"description,omitempty"`
	// When has values of other parameters, by name: there must be one of them, or the
	// parameter is neither required nor allowed.
	When map[string][]string `json:"when,omitempty"`
	// Fields are those of an object, or of the objects of a list; nil: any.
	Fields []Param `json:"fields,omitempty"`
	// Of is the type of the items of a list that are not objects; "": any.
	Of string `json:"of,omitempty"`
	// Most is how many items a list has; 0: 1,000.
	Most int `json:"most,omitempty"`
}

// The types of parameters.
const (
	TypeText    = "string"
	TypeNumber  = "number"
	TypeBoolean = "boolean"
	TypeList    = "array"
	TypeObject  = "object"
	TypeAny     = "any"
	// TypeField is the path of a field of an item, such as customer.name.
	TypeField = "field"
)

// Credential is a type of credentials that a node takes.
type Credential struct {
	Type string `json:"type"`
	// When has values of parameters with which it is required; else it is not used.
	When map[string][]string `json:"when,omitempty"`
}

// CredentialType describes credentials of one type.
type CredentialType struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Generic credentials serve any address, so no service is found by them.
	Generic bool `json:"generic,omitempty"`
}

// CredentialTypes returns the types of credentials that nodes take. The caller must not
// change them.
func CredentialTypes() []CredentialType { return credentialTypes }

var credentialTypes = []CredentialType{
	{"googleSheetsOAuth2Api", "Google Sheets, by OAuth2", false},
	{"httpBasicAuth", "user name and password of any HTTP address", true},
	{"httpHeaderAuth", "a header with a key, for any HTTP address", true},
	{"slackApi", "Slack, by a bot token", false},
	{"smtp", "a mail server", false},
}

var byName = func() map[string]*Type {
	index := map[string]*Type{}
	for _, t := range catalogue {
		index[t.Name] = t
	}
	return index
}()

// Types returns all node types, triggers first. The caller must not change them.
func Types() []*Type { return catalogue }

// Find returns the node type of a name; nil if there is none.
func Find(name string) *Type { return byName[name] }

// Nearest returns the name of the type that a misspelt name probably stands for; "" if
// none is near.
func Nearest(name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[i+1:] // as other systems name them, with a package
	}
	for _, suffix := range []string{"", "Trigger", "Node"} {
		if short := strings.TrimSuffix(name, suffix); Find(short) != nil {
			return short
		}
	}
	return spell.Nearest(name, slices.Sorted(maps.Keys(byName)))
}

// Newest is the version of a node that names none.
func (t *Type) Newest() int { return slices.Max(t.Versions) }

// Ports returns how many input and output ports a node of the type has.
func (t *Type) Ports(n *Node) (inputs, outputs int) {
	if t.Name != "switch" {
		return len(t.Inputs), len(t.Outputs)
	}
	rules, _ := n.Parameters["rules"].([]any)
	outputs = len(rules)
	if n.Parameters["fallback"] == "extra" {
		outputs++
	}
	return 1, outputs
}

// param returns a parameter by its name.
func param(params []Param, name string) *Param {
	if i := slices.IndexFunc(params, func(p Param) bool { return p.Name == name }); i >= 0 {
		return &params[i]
	}
	return nil
}

// Param returns the value of a parameter as it was given, or its default; nil without both.
func (t *Type) Param(n *Node, name string) any {
	if v, given := n.Parameters[name]; given {
		return v
	}
	if p := param(t.Params, name); p != nil {
		return p.Default
	}
	return nil
}

// holds reports whether parameters have values that others depend on.
func holds(when map[string][]string, params []Param, values map[string]any) bool {
	for name, allowed := range when {
		v, given := values[name]
		if p := param(params, name); !given && p != nil {
			v = p.Default
		}
		if text, ok := v.(string); !ok || !slices.Contains(allowed, text) {
			return false
		}
	}
	return true
}

// Needs returns the type of the credential that a node must have; "" if none.
func (t *Type) Needs(n *Node) string {
	for _, c := range t.Credentials {
		if holds(c.When, t.Params, n.Parameters) {
			return c.Type
		}
	}
	return ""
}

// BadField says what is wrong with the path of a field; "" if nothing is. Names that mean
// something else to other systems are refused.
func BadField(path string) string {
	switch {
	case strings.TrimSpace(path) == "":
		return "it is empty"
	case utf8.RuneCountInString(path) > maxName:
		return fmt.Sprintf("it is longer than %d characters", maxName)
	}
	for _, part := range strings.Split(path, ".") {
		if slices.Contains([]string{"", "__proto__", "constructor", "prototype"}, part) {
			return fmt.Sprintf("a field cannot have the name %q", part)
		}
	}
	return ""
}
