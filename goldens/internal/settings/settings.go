// Package settings reads settings of a suite into Go values by their yaml tags, so that
// cupel.yaml and suites take a setting that is declared once, as a Go type.
package settings

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// maxInteger bounds whole numbers; what a setting means bounds it further.
const maxInteger = 1 << 40

// Read reads those of the named fields that o has, once, and records every problem at its
// place. It returns a function that sets them in a struct: nested structs field by field,
// anything else as a whole. Structs that it sets share lists and what is within maps, but no
// maps. Fields are texts, of which only those within lists and maps may be blank, flags,
// numbers, durations, any values as their JSON, and structs, pointers, lists and maps of
// these.
func Read[T any](o yamlfile.Object, names []string) func(*T) {
	set := fields(o, reflect.TypeFor[T](), names)
	return func(to *T) { set(reflect.ValueOf(to).Elem()) }
}

type setter func(to reflect.Value)

func fields(o yamlfile.Object, t reflect.Type, names []string) setter {
	var all []setter
	for _, f := range reflect.VisibleFields(t) {
		p, ok := o.Get(nameOf(f))
		switch {
		case !ok || !slices.Contains(names, nameOf(f)):
		case f.Type.Kind() == reflect.String:
			text := p.Filled()
			all = append(all, func(to reflect.Value) { to.FieldByIndex(f.Index).SetString(text) })
		default:
			set := read(p, f.Type)
			all = append(all, func(to reflect.Value) { set(to.FieldByIndex(f.Index)) })
		}
	}
	return func(to reflect.Value) {
		for _, set := range all {
			set(to)
		}
	}
}

func read(p yamlfile.Place, t reflect.Type) setter {
	value := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Struct:
		names := Names(t)
		return fields(p.Object(names), t, names)
	case reflect.Map:
		value = reflect.MakeMap(t)
		for _, e := range p.Entries() {
			one := reflect.New(t.Elem()).Elem()
			read(e.Value, t.Elem())(one)
			value.SetMapIndex(reflect.ValueOf(e.Key), one)
		}
		return func(to reflect.Value) {
			to.Set(reflect.MakeMap(t))
			for key, one := range value.Seq2() {
				to.SetMapIndex(key, one)
			}
		}
	case reflect.Slice:
		items := p.Items()
		value = reflect.MakeSlice(t, len(items), len(items))
		for i, item := range items {
			read(item, t.Elem())(value.Index(i))
		}
	case reflect.Pointer:
		set := read(p, t.Elem())
		return func(to reflect.Value) {
			to.Set(reflect.New(t.Elem()))
			set(to.Elem())
		}
	case reflect.Interface:
		_ = json.Unmarshal(p.JSON(), value.Addr().Interface()) // it has just been written, or its problem recorded
	case reflect.Bool:
		value.SetBool(p.Flag())
	case reflect.Float64:
		value.SetFloat(p.Number(math.Inf(1)))
	case reflect.String:
		value.SetString(p.Text())
	default:
		if t == reflect.TypeFor[time.Duration]() {
			value.SetInt(int64(p.Duration()))
		} else {
			value.SetInt(p.Integer(-maxInteger, maxInteger))
		}
	}
	return func(to reflect.Value) { to.Set(value) }
}

// Names returns the names of a struct's fields.
func Names(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name := nameOf(f); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}
