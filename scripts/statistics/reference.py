"""Computes the figures of experiments with numpy and scipy, from other formulas than Freshet's where there are some.

Reads a JSON list of cases from standard input: clicks and impressions of each bucket during and before an experiment, for
the variant and control, and numbers of readers with their shares. Writes a list of figures.
"""
import json
import sys

import numpy as np
from scipy import integrate, optimize, special, stats

SCALE, ALPHA = 0.1, 0.05


def scores(clicks, shown):
    rate = clicks.sum() / shown.sum()
    return rate, (clicks - rate * shown) / shown.mean()


def evidence(difference, variance, width):
    """The mean likelihood over the mixture, by numerical integration, over that of no difference."""
    sd = np.sqrt(variance)
    near = sorted([-12 * width, 0, difference, 12 * width])
    mean, _ = integrate.quad(lambda d: stats.norm.pdf(difference, d, sd) * stats.norm.pdf(d, 0, width), near[0], near[-1],
                             points=[x for x in near[1:-1]], limit=500, epsabs=0, epsrel=1e-9)
    return mean / stats.norm.pdf(difference, 0, sd)


def compare(case):
    arms = [{k: np.array(v, float) for k, v in arm.items()} for arm in case["arms"]]
    (one, a), (two, b) = (scores(arm["clicks"], arm["shown"]) for arm in arms)
    difference, parts = one - two, [a, b]
    if case["prior"]:
        both = [np.concatenate([arm[k] for arm in arms]) for k in ("clicks_before", "shown_before")]
        _, before = scores(*both)
        before = [before[: len(a)], before[len(a):]]
        # One slope for both arms, each with an intercept of its own: a linear model with a column for each.
        x = np.concatenate(before)
        model = np.column_stack([x, np.r_[np.ones(len(a)), np.zeros(len(b))], np.r_[np.zeros(len(a)), np.ones(len(b))]])
        slope = np.linalg.lstsq(model, np.concatenate(parts), rcond=None)[0][0]
        difference -= slope * (before[0].mean() - before[1].mean())
        parts = [p - slope * x for p, x in zip(parts, before)]
    variance = sum(stats.sem(p) ** 2 for p in parts)
    width = SCALE * (one + two) / 2
    half = optimize.brentq(lambda d: np.log(evidence(d, variance, width)) + np.log(ALPHA), 0, 30 * np.sqrt(variance))
    return {"difference": difference, "variance": variance, "p": min(1.0, 1 / evidence(difference, variance, width)),
            "low": max(-1.0, difference - half), "high": min(1.0, difference + half)}


def balance(readers, shares):
    """The probability of the numbers by a Dirichlet mixture around the shares, compared with the shares themselves."""
    readers, shares = np.array(readers), np.array(shares) / sum(shares)
    mixture = stats.dirichlet_multinomial(1000 * shares, readers.sum()).logpmf(readers)
    return min(1.0, float(np.exp(stats.multinomial(readers.sum(), shares).logpmf(readers) - mixture)))


print(json.dumps([{**compare(c), "balance": balance(c["readers"], c["shares"])} for c in json.load(sys.stdin)]))
