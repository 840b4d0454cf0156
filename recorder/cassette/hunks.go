package cassette

// maxCells bounds the table in which two lists are compared.
const maxCells = 1 << 18

// hunk means that old[a:b] became now[c:d].
type hunk struct{ a, b, c, d int }

// hunks returns the differences of two lists, in order: around the longest common
// subsequence, or as one hunk if the search would take too long.
func hunks(old, now []string) []hunk {
	start, end := 0, 0
	for start < min(len(old), len(now)) && old[start] == now[start] {
		start++
	}
	for end < min(len(old), len(now))-start && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	a, b := old[start:len(old)-end], now[start:len(now)-end]
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	if len(a) == 0 || len(b) == 0 || (len(a)+1)*(len(b)+1) > maxCells {
		return []hunk{{start, start + len(a), start, start + len(b)}}
	}
	common := commonTails(a, b)
	var found []hunk
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if i < len(a) && j < len(b) && a[i] == b[j] {
			i, j = i+1, j+1
			continue
		}
		h := hunk{start + i, start + i, start + j, start + j}
		for (i < len(a) || j < len(b)) && (i == len(a) || j == len(b) || a[i] != b[j]) {
			if j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1] {
				i++
			} else {
				j++
			}
		}
		h.b, h.d = start+i, start+j
		found = append(found, h)
	}
	return found
}

// commonTails returns at [i][j] the length of the longest common subsequence of a[i:] and
// b[j:].
func commonTails(a, b []string) [][]int32 {
	cells := make([]int32, (len(a)+1)*(len(b)+1))
	rows := make([][]int32, len(a)+1)
	for i := range rows {
		rows[i] = cells[i*(len(b)+1) : (i+1)*(len(b)+1)]
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				rows[i][j] = rows[i+1][j+1] + 1
			} else {
				rows[i][j] = max(rows[i+1][j], rows[i][j+1])
			}
		}
	}
	return rows
}
