package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// KeyError says why a call has no key. Code is tool_name_invalid, args_not_json,
// args_not_object, args_too_large, args_too_deep or duplicate_key:PATH.
type KeyError struct{ Code string }

func (e *KeyError) Error() string { return "tool: no canonical form: " + e.Code }

// Canonical returns the canonical form of an arguments object: RFC 8785 (members
// in order of UTF-16 code units, shortest strings and numbers), except that an
// integer beyond float64 keeps its digits, a number beyond its range its value,
// and a lone surrogate its escape. Empty text and null count as {}; anything else
// but an object without duplicate keys is a *KeyError.
func Canonical(args []byte) ([]byte, error) {
	tree, code := parseArgs(args)
	if code != "" {
		return nil, &KeyError{Code: "args_" + code}
	}
	if twice := tree.Duplicates(1); len(twice) > 0 {
		return nil, &KeyError{Code: "duplicate_key:" + strings.TrimPrefix(twice[0].Path, ".")}
	}
	return appendCanonical(make([]byte, 0, len(args)+2), tree), nil
}

// Key returns the idempotency key of a call, name|canonical arguments, and the
// SHA-256 hex of the canonical arguments. The error is that of Canonical, or a
// *KeyError for an empty name.
func Key(c Call) (key, argsHash string, err error) {
	if c.Name == "" {
		return "", "", &KeyError{Code: "tool_name_invalid"}
	}
	args, err := Canonical(c.Args)
	if err != nil {
		return "", "", fmt.Errorf("key of a %s call: %w", Label(c.Name), err)
	}
	sum := sha256.Sum256(args)
	return c.Name + "|" + string(args), hex.EncodeToString(sum[:]), nil
}

func appendCanonical(out []byte, v JSON) []byte {
	switch v.Kind {
	case '{':
		members := v.Members
		if !slices.IsSortedFunc(members, compareMembers) {
			members = slices.Clone(members)
			slices.SortFunc(members, compareMembers)
		}
		out = append(out, '{')
		for i, m := range members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendString(out, m.Name), ':')
			out = appendCanonical(out, m.Value)
		}
		return append(out, '}')
	case '[':
		out = append(out, '[')
		for i, e := range v.Elems {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendCanonical(out, e)
		}
		return append(out, ']')
	case '"':
		return appendString(out, unquote(v.Raw))
	case '0':
		return appendNumber(out, v.Raw)
	}
	return append(out, v.Raw...)
}

// AppendCanonical appends the canonical form of a decoded JSON value: maps, slices,
// strings, json.Number, booleans and nil. Whatever else there is in it is written as null.
func AppendCanonical(out []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		out = append(out, '{')
		for i, name := range slices.SortedFunc(maps.Keys(v), compareUTF16) {
			if i > 0 {
				out = append(out, ',')
			}
			out = AppendCanonical(append(appendString(out, name), ':'), v[name])
		}
		return append(out, '}')
	case []any:
		out = append(out, '[')
		for i, e := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = AppendCanonical(out, e)
		}
		return append(out, ']')
	case string:
		return appendString(out, v)
	case json.Number:
		return appendNumber(out, string(v))
	case bool:
		return strconv.AppendBool(out, v)
	}
	return append(out, "null"...)
}

// appendString writes s with the escapes of RFC 8785. s may hold surrogates as
// unquote leaves them.
func appendString(out []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	out = append(out, '"')
	for i := 0; i < len(s); i++ {
		b := s[i]
		switch {
		case b == '"' || b == '\\':
			out = append(out, '\\', b)
		case b >= ' ':
			if unit, ok := surrogateAt(s, i); ok {
				out = fmt.Appendf(out, `\u%04x`, unit)
				i += 2
				continue
			}
			out = append(out, b)
		case strings.IndexByte("\b\t\n\f\r", b) >= 0:
			out = append(out, '\\', "btn.fr"[b-'\b'])
		default:
			out = append(out, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&0xF])
		}
	}
	return append(out, '"')
}

func compareMembers(a, b Member) int { return compareUTF16(a.Name, b.Name) }

// compareUTF16 orders strings by UTF-16 code units. That is byte order unless both have
// a character from U+D000 up: there, surrogates sort before U+E000.
func compareUTF16(a, b string) int {
	high := func(r rune) bool { return r >= 0xD000 }
	if !strings.ContainsFunc(a, high) || !strings.ContainsFunc(b, high) {
		return strings.Compare(a, b)
	}
	return slices.Compare(units(a), units(b))
}

func units(s string) []uint16 {
	var out []uint16
	for i := 0; i < len(s); {
		if unit, ok := surrogateAt(s, i); ok {
			out = append(out, uint16(unit))
			i += 3
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		out = utf16.AppendRune(out, r)
		i += n
	}
	return out
}
