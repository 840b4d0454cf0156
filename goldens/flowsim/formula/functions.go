package formula

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// function is what is called on a value that is not null.
type function struct {
	// least and most are how many arguments it takes.
	least, most int
	run         func(env *Env, of any, args []any) (any, error)
}

var functions = map[string]function{
	"toUpperCase": ofText("toUpperCase", strings.ToUpper),
	"toLowerCase": ofText("toLowerCase", strings.ToLower),
	"trim":        ofText("trim", strings.TrimSpace),
	"includes":    {1, 1, includes},
	"split":       {1, 1, split},
	"join":        {0, 1, join},
	"round":       {0, 1, round},
}

var functionNames = strings.Join(slices.Sorted(maps.Keys(functions)), ", ")

func ofText(name string, change func(string) string) function {
	return function{0, 0, func(env *Env, of any, _ []any) (any, error) {
		text, ok := of.(string)
		if !ok {
			return nil, fmt.Errorf("%s() needs a text, not %s", name, kindOf(of))
		}
		return change(text), env.spend(len(text) / 16)
	}}
}

// includes says whether a text has a part, or a list an item.
func includes(env *Env, of any, args []any) (any, error) {
	switch of := of.(type) {
	case string:
		part, err := env.text(args[0])
		if err == nil {
			err = env.spend(len(of) / 16)
		}
		return err == nil && strings.Contains(of, part), err
	case []any:
		for _, item := range of {
			if same, err := env.equal(item, args[0]); same || err != nil {
				return same, err
			}
		}
		return false, nil
	}
	return nil, fmt.Errorf("includes() needs a text or a list, not %s", kindOf(of))
}

func split(env *Env, of any, args []any) (any, error) {
	text, ok := of.(string)
	separator, isText := args[0].(string)
	if !ok || !isText {
		return nil, fmt.Errorf("split() needs two texts, not %s and %s", kindOf(of), kindOf(args[0]))
	}
	if err := env.spend(len(text)/16 + strings.Count(text, separator)); err != nil {
		return nil, err
	}
	parts := strings.Split(text, separator)
	out := make([]any, len(parts))
	for i, part := range parts {
		out[i] = part
	}
	return out, nil
}

func join(env *Env, of any, args []any) (any, error) {
	items, ok := of.([]any)
	separator := ","
	if len(args) > 0 {
		var isText bool
		separator, isText = args[0].(string)
		ok = ok && isText
	}
	if !ok {
		return nil, errors.New("join() needs a list and a text")
	}
	if err := env.spend(len(items) * (1 + len(separator)/16)); err != nil {
		return nil, err
	}
	texts := make([]string, len(items))
	for i, item := range items {
		text, err := env.text(item)
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}
	return strings.Join(texts, separator), nil
}

// round rounds a number, a half up, to a whole one or to at most ten digits.
func round(_ *Env, of any, args []any) (any, error) {
	n, ok := of.(float64)
	digits := 0.0
	if len(args) > 0 {
		var isNumber bool
		digits, isNumber = args[0].(float64)
		ok = ok && isNumber && digits >= 0 && digits <= 10
	}
	if !ok {
		return nil, errors.New("round() needs a number, and at most ten digits")
	}
	scale := math.Pow(10, math.Trunc(digits))
	if math.Abs(n) > 1e15/scale {
		return n, nil // every digit that it has is before the point
	}
	return math.Floor(n*scale+0.5)/scale + 0, nil
}
