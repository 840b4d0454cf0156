"""Prints the values of reference_test.go: python3 reference.py (scipy 1.10.1, statsmodels 0.13.5)."""
from decimal import Decimal, getcontext

import numpy as np
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

p = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216, 0.222, 0.251, 0.269, 0.275, 0.34, 0.341, 0.384, 0.569, 0.594, 0.696, 0.762, 0.94, 0.942, 0.975, 0.986]
print("holm", [float("%.12g" % v) for v in multipletests(p, method="holm")[1]])
print("bh", [float("%.12g" % v) for v in multipletests(p, method="fdr_bh")[1]])

for b, c in [(0, 6), (3, 12), (39, 38), (120, 161)]:
    print("mcnemar", b, c, "%.12g" % mcnemar([[0, b], [c, 0]], exact=True).pvalue)
for t in [(8, 2, 1, 5), (3, 0, 0, 3), (50, 10, 40, 20), (200, 100, 240, 60)]:
    print("fisher", t, "%.12g" % stats.fisher_exact([t[:2], t[2:]])[1])

y = [1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 1, 0.5, 2.5]
g = [0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 4, 4, 4, 5]
fit = sm.OLS(y, np.ones(len(y))).fit(cov_type="cluster", cov_kwds={"groups": np.array(g)})
print("cluster", "%.12g %.12g" % (fit.params[0], fit.bse[0]))

d = np.array([12, -3, 7, 0.5, 4, -1.25, 9, 2, -6, 3.5, 1, 8])
r = stats.permutation_test((d,), np.sum, permutation_type="samples", n_resamples=np.inf)
print("flips", "%.12g" % r.pvalue)

# P(sum of v·Exp(1) <= 0) for distinct v, by partial fractions; Gaffke's bound is where it
# is alpha, with one cluster more of mean size and the least value.
getcontext().prec = 60
def below(values):
    total = Decimal(0)
    for i, v in enumerate(values):
        if v < 0:
            part = Decimal(1)
            for j, w in enumerate(values):
                if j != i:
                    part *= v / (v - w)
            total += part
    return total
def gaffke(num, den, least, alpha):
    num, den = [Decimal(v) for v in num], [Decimal(v) for v in den]
    size = sum(den) / len(den)
    f = lambda m: below([a - m * b for a, b in zip(num, den)] + [(least - m) * size]) - alpha
    lo, hi = Decimal(least), sum(num) / sum(den)
    for _ in range(180):
        mid = (lo + hi) / 2
        if f(mid) <= 0:
            lo = mid
        else:
            hi = mid
    return lo
num = ["0.91", "-0.32", "0.13", "0.05", "0.77", "0.4", "0.25", "-0.08", "0.61", "0.5", "0.34", "0.02"]
for alpha in ["0.05", "0.025", "0.005"]:
    print("gaffke", alpha, "%.12g" % (gaffke(num, [1] * 12, -1, Decimal(alpha))))
print("gaffke sizes", "%.12g" % (gaffke(["2.5", "3", "1.75", "6", "4.5", "0.5"], ["3", "4", "2", "7", "9", "1"], 0, Decimal("0.025"))))

# Woodruff's interval of a quantile, of clusters, written down from the paper's description.
rng = np.random.RandomState(7)
x, cl = [], []
for k in range(30):
    base = rng.normal()
    for _ in range(1 + k % 5):
        x.append(round(float(np.exp(base + rng.normal())), 4)); cl.append(k)
x, cl = np.array(x), np.array(cl)
for q in (0.5, 0.9):
    center = np.quantile(x, q)
    ind = (x <= center).astype(float)
    se = sm.OLS(ind, np.ones(len(x))).fit(cov_type="cluster", cov_kwds={"groups": cl}).bse[0]
    ratio = stats.norm.ppf(0.975) / stats.t.ppf(0.975, 29)
    size = min(q * (1 - q) / se**2, len(x)) * ratio**2
    s, n = np.sort(x), len(x)
    # the least and the largest value whose rank the binomial distribution does not exclude
    low = max(r for r in range(n) if r == 0 or stats.beta.cdf(1 - q, size - r / n * size, r / n * size + 1) <= 0.025)
    high = max(r for r in range(n) if r == 0 or stats.beta.cdf(q, size - r / n * size, r / n * size + 1) <= 0.025)
    print("quantile", q, s[low], s[n - 1 - high])
print("x", list(x)); print("cl", list(cl))
