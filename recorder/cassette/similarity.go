package cassette

// Nearest returns the index of the recorded request most like req, and how req
// differs from it: at most 13 lines of bounded length, without credentials. It returns -1
// if there is none.
func (t *Data) Nearest(req Request) (best int, diff []string) {
	best, score := -1, -1.0
	for i := range t.Interactions {
		if s := similarity(t.Interactions[i].Raw(), req); s > score {
			best, score = i, s
		}
	}
	if best >= 0 {
		diff = diffRequests(t.Interactions[best].Raw(), req)
	}
	return best, diff
}

// similarity weighs the URL double, because it is the most distinctive part.
func similarity(a, b Request) float64 {
	s := 2*overlap(a.URL, b.URL) + overlap(a.Body, b.Body)
	if a.Method == b.Method {
		s++
	}
	if a.Role == b.Role {
		s++
	}
	return s
}

// overlap is the common prefix and suffix as a share of the longer text.
func overlap(a, b string) float64 {
	longer, shorter := max(len(a), len(b)), min(len(a), len(b))
	if longer == 0 {
		return 1
	}
	return float64(min(shorter, commonPrefix(a, b)+commonSuffix(a, b))) / float64(longer)
}
