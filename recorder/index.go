package recorder

import (
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// sameRequest is the recordings of one canonical request, in recorded order.
type sameRequest struct {
	indexes []int
	next    int // the first one not yet used
}

// recordingIndex finds the recording for a request in constant time.
type recordingIndex struct {
	data     *cassette.Data
	byDigest map[string]*sameRequest
	// byBytes avoids the digest of a request that was recorded byte for byte.
	byBytes map[cassette.Request]*sameRequest
	left    int
}

func newRecordingIndex(t *cassette.Data) *recordingIndex {
	n := len(t.Interactions)
	d := &recordingIndex{data: t, left: n, byDigest: make(map[string]*sameRequest, n), byBytes: make(map[cassette.Request]*sameRequest, n)}
	all, first := make([]sameRequest, n), make([]int, n) // usually one of each
	for i := range t.Interactions {
		it := &t.Interactions[i]
		rs := d.byDigest[it.Digest]
		if rs == nil {
			rs = &all[i]
			rs.indexes = first[i : i : i+1]
			d.byDigest[it.Digest] = rs
		}
		rs.indexes = append(rs.indexes, i)
		d.byBytes[it.Raw()] = rs
	}
	return d
}

// find returns all recordings of a request, used or not; nil if there are none. It does not
// modify the index.
func (d *recordingIndex) find(req cassette.Request) *sameRequest {
	if rs := d.byBytes[req]; rs != nil {
		return rs
	}
	return d.byDigest[req.Digest()]
}

// next uses the next recording; -1 if all are used.
func (d *recordingIndex) next(rs *sameRequest) int {
	if rs.next == len(rs.indexes) {
		return -1
	}
	i := rs.indexes[rs.next]
	rs.next++
	d.left--
	return i
}
