"""Text scores: logistic regression over the hashed words in and around a block, as src/extract/words.rs
reads them.  A word counts for itself, and once more for the kind of page; one that fewer than five domains
have is left out, so that nothing is learned of a single site."""
import struct

import numpy as np
from scipy import sparse
from sklearn.linear_model import SGDClassifier

DOMAINS = 5  # that a word must be met on
GROUPS = 1 << 13  # of four words each
DECAY = 1e-5


def mixed(hashes):
    """The finalizer of MurmurHash3."""
    hashes = hashes.astype(np.uint32)
    hashes = (hashes ^ (hashes >> 16)) * np.uint32(0x85EBCA6B)
    hashes = (hashes ^ (hashes >> 13)) * np.uint32(0xC2B2AE35)
    return hashes ^ (hashes >> 16)


def of_kind(hashes, kind):
    return mixed(hashes ^ np.uint32((kind + 1) * 0x85EBCA77 & 0xFFFFFFFF))


def common(pages, hashes):
    """The hashes that are met on enough domains, in order."""
    domains = {}
    for page in pages:
        domains.setdefault(page["domain"], []).append(page)
    met = [np.unique(np.concatenate([hashes(page) for page in some])) for some in domains.values()]
    known, times = np.unique(np.concatenate(met), return_counts=True)
    return known[times >= DOMAINS]


def rows(page, known, hashes, picked):
    """A row for every picked block: of every known word, how much of its place it is."""
    places = np.repeat(np.arange(page["placed"].size), page["placed"].ravel())
    at = np.searchsorted(known, hashes)
    at[at == len(known)] = 0
    found = known[at] == hashes
    shares = 1 / np.sqrt(np.maximum(page["placed"].ravel(), 1))[places]
    table = sparse.csr_matrix((shares[found], (places[found] // page["placed"].shape[1], at[found])),
                              shape=(len(page["placed"]), len(known)))
    return table[picked]


def fit(pages, pick):
    """A table of words that tells content by them; `pick` says which blocks of a page are learned from, and
    how much each counts."""
    known = common(pages, lambda page: page["hashes"])
    for page in pages:
        at = np.minimum(np.searchsorted(known, page["hashes"]), len(known) - 1)
        kept = page["hashes"][known[at] == page["hashes"]]
        page["of kind"] = of_kind(np.unique(kept), int(np.argmax(page["kinds"])))
    twice = common(pages, lambda page: page.pop("of kind"))
    parts, labels, weights = [], [], []
    for page in pages:
        if not page["texts"]:
            continue
        picked, weight = pick(page)
        crossed = of_kind(page["hashes"], int(np.argmax(page["kinds"])))
        parts.append(sparse.hstack([rows(page, known, page["hashes"], picked), rows(page, twice, crossed, picked)]))
        labels.append(page["labels"][picked])
        weights.append(weight)
    table, labels, weights = sparse.vstack(parts).tocsr(), np.concatenate(labels), np.concatenate(weights)
    true, false = np.flatnonzero(labels > 0), np.flatnonzero(labels < 1)
    model = SGDClassifier(loss="log_loss", alpha=DECAY, max_iter=12, tol=None, random_state=0)
    model.fit(sparse.vstack([table[true], table[false]]), np.repeat([1, 0], [len(true), len(false)]),
              sample_weight=np.concatenate([(labels * weights)[true], ((1 - labels) * weights)[false]]))
    worth = np.abs(model.coef_[0]) * np.sqrt(np.asarray(table.multiply(table).T @ weights).ravel())
    return pack(np.concatenate([known, twice]), model.coef_[0], worth) + (float(model.intercept_[0]),)


def pack(hashes, weights, worth):
    """Groups of four: parts of hashes and weights; what finds no room is worth least."""
    scale = np.percentile(np.abs(weights), 99.9) / 127
    whole = np.clip(np.round(weights / scale), -127, 127).astype(np.int8)
    parts, values = np.zeros((GROUPS, 4), np.uint8), np.zeros((GROUPS, 4), np.int8)
    used = np.zeros(GROUPS, int)
    for at in np.argsort(-worth, kind="stable"):
        group, part = hashes[at] % GROUPS, hashes[at] >> 24
        if whole[at] and used[group] < 4 and part not in parts[group, : used[group]]:
            parts[group, used[group]], values[group, used[group]] = part, whole[at]
            used[group] += 1
    return parts, values, float(np.float32(scale))


def weigh(table, hashes):
    parts, values, scale, _ = table
    groups = hashes % GROUPS
    same = parts[groups] == (hashes >> 24)[:, None]
    first = same.argmax(1)
    return np.where(same.any(1), values[groups, first], 0) * scale


def text_scores(table, page):
    """For every block the score of its words, place by place, and their sum."""
    placed = page["placed"]
    weights = weigh(table, page["hashes"]) + weigh(table, of_kind(page["hashes"], int(np.argmax(page["kinds"]))))
    sums = np.bincount(np.repeat(np.arange(placed.size), placed.ravel()), weights, placed.size).reshape(placed.shape)
    sums = sums / np.sqrt(np.maximum(placed, 1))
    return np.concatenate([sums, sums.sum(1, keepdims=True) + table[3]], 1).astype("f4")


def write(table, out):
    """The bias, the scale of the weights, how many groups; per group four parts of hashes, four weights."""
    parts, values, scale, bias = table
    out.write(struct.pack("<ffI", bias, scale, len(parts)))
    out.write(np.concatenate([parts, values.view(np.uint8)], 1).tobytes())
