package text

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMarkdownEscapes(t *testing.T) {
	for in, want := range map[string]string{
		"plain 95.2% (of 3), ok":  "plain 95.2% (of 3), ok",
		"a|b":                     "a&#124;b",
		"*b* _i_ `c` ~~d~~":       "&#42;b&#42; &#95;i&#95; &#96;c&#96; &#126;&#126;d&#126;&#126;",
		"[x](http://e.x)":         "&#91;x&#93;(http&#58;//e&#46;x)",
		"<b>&amp;":                "&#60;b&#62;&#38;amp;",
		"@team #12 www.example.x": "&#64;team &#35;12 www&#46;example&#46;x",
		"line\nbreak":             "line break",
	} {
		require.Equal(t, want, Escape(in))
	}
}
