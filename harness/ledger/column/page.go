package column

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

var (
	errInexact   = errors.New("it has a number beyond 2^53, which cannot be computed with")
	errNotFinite = errors.New("it has a value that is not a finite number (NaN or infinite), which cannot be computed with; correct what wrote it, or leave the column out")
)

// readPage appends the rows of a page. words is the range of the chunk's dictionary in v.Words.
func (v *Vector) readPage(page parquet.Page, kind Kind, words *dictionary) error {
	rows := int(page.NumRows())
	data := page.Data()
	if kind == Text {
		return v.addTexts(page, &data, words)
	}
	if page.Dictionary() != nil {
		return errors.New("numbers with a dictionary, which cupel does not write")
	}
	if kind == Bool {
		return v.addBools(data.Boolean(), page.DefinitionLevels(), rows)
	}
	from := len(v.Numbers)
	var ok bool
	switch data.Kind() {
	case encoding.Int32:
		ok = addNumbers(v, data.Int32())
	case encoding.Int64:
		ok = addNumbers(v, data.Int64())
	case encoding.Double:
		ok = addNumbers(v, data.Double())
	default:
		return fmt.Errorf("numbers of type %v", data.Kind())
	}
	if !ok && slices.ContainsFunc(v.Numbers[from:], func(f float64) bool { return math.IsNaN(f) || math.IsInf(f, 0) }) {
		return errNotFinite
	}
	if !ok {
		return errInexact
	}
	if levels := page.DefinitionLevels(); levels != nil {
		return v.spread(levels, from)
	}
	if len(v.Numbers)-from != rows {
		return fmt.Errorf("a page of %d values for %d rows", len(v.Numbers)-from, rows)
	}
	return nil
}

// usualRows is slightly more than the rows of a row group that cupel writes.
const usualRows = 17 << 10

func addNumbers[N int32 | int64 | float64](v *Vector, values []N) (ok bool) {
	from := len(v.Numbers)
	if need := from + len(values); cap(v.Numbers) < need {
		v.Numbers = append(make([]float64, 0, max(need, usualRows)), v.Numbers...)
	}
	v.Numbers = v.Numbers[:from+len(values)]
	to, bad := v.Numbers[from:], false
	for i, x := range values {
		f := float64(x)
		bad = bad || !(f >= -maxExact && f <= maxExact) // also true for NaN
		to[i] = f
	}
	return !bad
}

// spread moves the numbers from an index on to their rows. A row of level 0 has no number.
func (v *Vector) spread(levels []byte, from int) error {
	nulls := 0
	for _, l := range levels {
		nulls += int(1 - min(l, 1))
	}
	next := len(v.Numbers) - from - 1
	if next+1 != len(levels)-nulls {
		return fmt.Errorf("a page of %d values for %d rows", next+1, len(levels)-nulls)
	}
	for len(v.Nulls) < from {
		v.Nulls = append(v.Nulls, false)
	}
	v.Numbers = append(v.Numbers, make([]float64, nulls)...)
	v.Nulls = append(v.Nulls, make([]bool, len(levels))...)
	numbers, null := v.Numbers[from:], v.Nulls[from:]
	for i := len(levels) - 1; i >= 0; i-- {
		if levels[i] == 0 {
			numbers[i], null[i] = 0, true
		} else {
			numbers[i] = numbers[next]
			next--
		}
	}
	return nil
}

// addBools appends rows. levels are nil if every row has a value; a row of level 0 has none.
func (v *Vector) addBools(bits, levels []byte, rows int) error {
	values := rows - bytes.Count(levels, []byte{0})
	if len(bits) < (values+7)/8 || levels != nil && len(levels) != rows {
		return fmt.Errorf("a page of %d bytes for %d rows", len(bits), rows)
	}
	next := 0
	for i := range rows {
		null := levels != nil && levels[i] == 0
		v.Bools = append(v.Bools, !null && bits[next/8]>>(next%8)&1 == 1)
		if levels != nil {
			v.Nulls = append(v.Nulls, null)
		}
		if !null {
			next++
		}
	}
	return nil
}

// dictionary is the range of a chunk's dictionary in the words of a vector.
type dictionary struct {
	read       bool
	from, size int
}

func (v *Vector) addTexts(page parquet.Page, data *encoding.Values, words *dictionary) error {
	rows := int(page.NumRows())
	dict := page.Dictionary()
	if dict == nil {
		text, ends := data.ByteArray()
		if len(ends) != rows+1 {
			return fmt.Errorf("a page of %d texts for %d rows", len(ends)-1, rows)
		}
		return v.addWords(text, ends, true)
	}
	if !words.read {
		*words = dictionary{true, len(v.Words), dict.Len()}
		d := dict.Page().Data()
		text, ends := d.ByteArray()
		if len(ends) != dict.Len()+1 && dict.Len() > 0 {
			return fmt.Errorf("a dictionary of %d texts, not %d", len(ends)-1, dict.Len())
		}
		if err := v.addWords(text, ends, false); err != nil {
			return err
		}
	}
	index := data.Int32()
	if len(index) != rows {
		return fmt.Errorf("a page of %d values for %d rows", len(index), rows)
	}
	for _, i := range index {
		if i < 0 || int(i) >= words.size {
			return fmt.Errorf("word %d of a dictionary of %d", i, words.size)
		}
		v.Index = append(v.Index, i+int32(words.from))
	}
	return nil
}

// addWords appends texts, and a row for each if rows is set.
func (v *Vector) addWords(text []byte, ends []uint32, rows bool) error {
	own := string(text)
	for i := 0; i+1 < len(ends); i++ {
		from, to := ends[i], ends[i+1]
		if from > to || int64(to) > int64(len(own)) {
			return errors.New("a text that ends behind its page")
		}
		if rows {
			v.Index = append(v.Index, int32(len(v.Words)))
		}
		v.Words = append(v.Words, own[from:to])
	}
	return nil
}
