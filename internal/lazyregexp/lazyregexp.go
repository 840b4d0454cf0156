// Package lazyregexp compiles patterns when they are first used. A start of the program
// compiles none of the patterns in variables of packages, which took a fifth of it.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a pattern that is compiled when it is first used. It is safe for concurrent use.
type Regexp struct {
	compiled func() *regexp.Regexp
}

// New returns the pattern of expr. A test binary compiles it at once, others when it is first
// used. An invalid expr panics then.
func New(expr string) *Regexp {
	r := &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
	if len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test") {
		r.compiled()
	}
	return r
}

// String is that of [regexp.Regexp].
func (r *Regexp) String() string { return r.compiled().String() }

// MatchString is that of [regexp.Regexp].
func (r *Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

// FindString is that of [regexp.Regexp].
func (r *Regexp) FindString(s string) string { return r.compiled().FindString(s) }

// FindStringIndex is that of [regexp.Regexp].
func (r *Regexp) FindStringIndex(s string) []int { return r.compiled().FindStringIndex(s) }

// FindStringSubmatch is that of [regexp.Regexp].
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

// FindStringSubmatchIndex is that of [regexp.Regexp].
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compiled().FindStringSubmatchIndex(s)
}

// FindAllIndex is that of [regexp.Regexp].
func (r *Regexp) FindAllIndex(b []byte, n int) [][]int { return r.compiled().FindAllIndex(b, n) }

// FindAllSubmatchIndex is that of [regexp.Regexp].
func (r *Regexp) FindAllSubmatchIndex(b []byte, n int) [][]int {
	return r.compiled().FindAllSubmatchIndex(b, n)
}

// FindAllString is that of [regexp.Regexp].
func (r *Regexp) FindAllString(s string, n int) []string { return r.compiled().FindAllString(s, n) }

// FindAllStringIndex is that of [regexp.Regexp].
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch is that of [regexp.Regexp].
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is that of [regexp.Regexp].
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString is that of [regexp.Regexp].
func (r *Regexp) ReplaceAllString(s, by string) string {
	return r.compiled().ReplaceAllString(s, by)
}

// ReplaceAllStringFunc is that of [regexp.Regexp].
func (r *Regexp) ReplaceAllStringFunc(s string, by func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, by)
}

// Split is that of [regexp.Regexp].
func (r *Regexp) Split(s string, n int) []string { return r.compiled().Split(s, n) }
