package tool

// kindOf guesses a value's kind from its first byte; scalarEnd verifies it.
func kindOf(b byte) byte {
	switch b {
	case '{', '[', '"', 't', 'f', 'n':
		return b
	}
	if b == '-' || isDigit(b) {
		return '0'
	}
	return 0
}

// skipSpace returns the first index at or after i that holds no JSON white space.
func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// scalarEnd returns the index after the scalar of this kind that starts at i.
func scalarEnd(s string, i int, kind byte) (end int, ok bool) {
	switch kind {
	case '"':
		return stringEnd(s, i)
	case '0':
		return numberEnd(s, i)
	case 't':
		return wordEnd(s, i, "true")
	case 'f':
		return wordEnd(s, i, "false")
	case 'n':
		return wordEnd(s, i, "null")
	}
	return i, false
}

func wordEnd(s string, i int, word string) (end int, ok bool) {
	end = i + len(word)
	return end, end <= len(s) && s[i:end] == word
}

// stringEnd returns the index after the string whose opening quote is at i.
func stringEnd(s string, i int) (end int, ok bool) {
	for i++; i < len(s); i++ {
		switch b := s[i]; {
		case b == '"':
			return i + 1, true
		case b < ' ':
			return i, false
		case b == '\\':
			n := escapeLen(s[i:])
			if n == 0 {
				return i, false
			}
			i += n - 1
		}
	}
	return i, false
}

// escapeLen is the length of the escape sequence at the start of s, 0 if it is none.
func escapeLen(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(s[2:]); ok {
			return 6
		}
	}
	return 0
}

// hex4 reads four hexadecimal digits.
func hex4(s string) (unit rune, ok bool) {
	if len(s) < 4 {
		return 0, false
	}
	for i := range 4 {
		b := s[i]
		switch {
		case isDigit(b):
			b -= '0'
		case 'a' <= b|0x20 && b|0x20 <= 'f':
			b = b | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		unit = unit<<4 | rune(b)
	}
	return unit, true
}

// numberEnd returns the index after the number that starts at i.
func numberEnd(s string, i int) (end int, ok bool) {
	if s[i] == '-' {
		i++
	}
	whole := digitsEnd(s, i)
	if whole == i || (s[i] == '0' && whole > i+1) {
		return i, false
	}
	i = whole
	if i < len(s) && s[i] == '.' {
		frac := digitsEnd(s, i+1)
		if frac == i+1 {
			return i, false
		}
		i = frac
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		exp := digitsEnd(s, i)
		return exp, exp > i
	}
	return i, true
}

func digitsEnd(s string, i int) int {
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
