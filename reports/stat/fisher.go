package stat

// Fisher is the exact two-sided p-value for a 2×2 table of independent counts,
// rows (a, b) and (c, d): the probability, with all margins held, of the tables
// no likelier than this one, as in R's fisher.test. It is 1 when a margin is 0.
// ok is false when a count is negative or all are 0.
//
// R. A. Fisher, "The Logic of Inductive Inference", Journal of the Royal
// Statistical Society 98 (1935) 39–82; Agresti (2013), section 3.5.
func Fisher(a, b, c, d int) (p float64, ok bool) {
	if min(a, b, c, d) < 0 || max(a, b, c, d) == 0 {
		return 0, false
	}
	first, second, column := float64(a+b), float64(c+d), float64(a+c)
	low, high := max(0, a-d), min(a+b, a+c)
	mode := int((first + 1) * (column + 1) / (first + second + 2))
	return noLikelier(low, high, min(max(mode, low), high), a, func(i int) float64 {
		x := float64(i)
		return (first - x) / (x + 1) * (column - x) / (second - column + x + 1)
	}), true
}
