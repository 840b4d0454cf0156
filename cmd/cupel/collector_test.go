package main

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARunCollectsLess(t *testing.T) {
	was := debug.SetGCPercent(50)
	defer debug.SetGCPercent(was)
	percent := func() int {
		now := debug.SetGCPercent(50)
		debug.SetGCPercent(now)
		return now
	}
	for _, c := range []struct {
		name string
		env  map[string]string
		want int
	}{{"unless told", nil, gcPercent}, {"GOGC has the last word", map[string]string{"GOGC": "50"}, 50}} {
		t.Run(c.name, func(t *testing.T) {
			p := &process{env: func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }}
			back := p.collectLess()
			require.Equal(t, c.want, percent())
			back()
			require.Equal(t, 50, percent())
		})
	}
}
