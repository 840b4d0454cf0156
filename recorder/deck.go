package recorder

// rawRequest is a request as it is: with its canonical URL, its body unread.
type rawRequest struct{ method, url, body string }

// recordings are those of one canonical request, in recorded order.
type recordings struct {
	indexes []int
	next    int // the first one not yet used
}

// deck finds the recording for a request in constant time.
type deck struct {
	tape     *tape
	byDigest map[string]*recordings
	// byBytes spares a request that was recorded byte for byte its digest.
	byBytes map[rawRequest]*recordings
	left    int
}

func newDeck(t *tape) *deck {
	n := len(t.interactions)
	d := &deck{tape: t, left: n, byDigest: make(map[string]*recordings, n), byBytes: make(map[rawRequest]*recordings, n)}
	all, first := make([]recordings, n), make([]int, n) // one of each, as a rule
	for i := range t.interactions {
		it := &t.interactions[i]
		rs := d.byDigest[it.digest]
		if rs == nil {
			rs = &all[i]
			rs.indexes = first[i : i : i+1]
			d.byDigest[it.digest] = rs
		}
		rs.indexes = append(rs.indexes, i)
		d.byBytes[it.raw()] = rs
	}
	return d
}

func (it *interaction) raw() rawRequest {
	return rawRequest{it.Request.Method, it.Request.URL, it.Request.Body}
}

// find returns all recordings of a request, used or not; nil without any. It
// changes nothing.
func (d *deck) find(req rawRequest) *recordings {
	if rs := d.byBytes[req]; rs != nil {
		return rs
	}
	return d.byDigest[requestDigest(req.method, req.url, req.body)]
}

// draw uses up the next recording; -1 when there is none left.
func (d *deck) draw(rs *recordings) int {
	if rs.next == len(rs.indexes) {
		return -1
	}
	i := rs.indexes[rs.next]
	rs.next++
	d.left--
	return i
}

// nearest returns the index of the recorded request most like req, -1 in an
// empty deck.
func (d *deck) nearest(req rawRequest) int {
	best, score := -1, -1.0
	for i := range d.tape.interactions {
		if s := likeness(d.tape.interactions[i].raw(), req); s > score {
			best, score = i, s
		}
	}
	return best
}

// likeness weighs the URL double: where a request goes says most.
func likeness(a, b rawRequest) float64 {
	s := 2*overlap(a.url, b.url) + overlap(a.body, b.body)
	if a.method == b.method {
		s++
	}
	return s
}

// overlap is the share of the longer text that both begin or end with.
func overlap(a, b string) float64 {
	longer, shorter := max(len(a), len(b)), min(len(a), len(b))
	if longer == 0 {
		return 1
	}
	return float64(min(shorter, commonPrefix(a, b)+commonSuffix(a, b))) / float64(longer)
}
