"""Which of a page's blocks the true content holds: the words of the page aligned with those of the truth."""
import collections, heapq, re

import numpy as np

LEAST = 4  # words that are alike by more than chance
REACHES = (6, 12, 25, 50, 120)  # words between a short block and what is certain


def label(blocks, truth):
    """The share of each block's words that the truth has; NaN for a block without words.

    blocks: for every block its words; truth: the words of the true content.  Long runs are found
    by greedy string tiling (Wise 1993), in any order, each word of the truth used once.  A block
    too short for that is in the truth if it stands there where the runs around it say.
    """
    page = [word for words in blocks for word in words]
    ends = np.cumsum([0] + [len(words) for words in blocks])
    labels = np.full(len(blocks), np.nan)
    if not page:
        return labels
    to = tile(page, truth)
    used = np.zeros(len(truth), bool)
    used[to[to >= 0]] = True
    places = collections.defaultdict(list)
    for at, word in enumerate(truth):
        places[word].append(at)

    def nearest():
        """For every word of the truth: its place on the page, and the last and next one that has a place."""
        back = np.full(len(truth), -1)
        back[to[to >= 0]] = np.flatnonzero(to >= 0)
        at = np.arange(len(truth))
        last = np.maximum.accumulate(np.where(back >= 0, at, -1)) if len(truth) else at
        following = np.where(back >= 0, at, len(truth))[::-1]
        return back, last, np.minimum.accumulate(following)[::-1] if len(truth) else at

    def skipped(start, end, at, until, known):
        """How many words are skipped if the page's start..end is the truth's at..until."""
        back, last, following = known
        ways = []
        if last[at] >= 0:
            gap = start - back[last[at]] - 1
            ways.append(at - last[at] - 1 + (gap if gap >= 0 else -2 * gap))
        if following[at] < len(truth):
            gap = back[following[at]] - end
            ways.append(following[at] - until + (gap if gap >= 0 else -2 * gap))
        return min(ways, default=np.inf)

    for reach in REACHES:
        for _ in range(3):
            known, found = nearest(), []
            for block, words in enumerate(blocks):
                start, end = ends[block], ends[block + 1]
                if not words or (to[start:end] >= 0).any():
                    continue
                for at in places.get(words[0], ()):
                    until = at + len(words)
                    if truth[at:until] == words and not used[at:until].any():
                        cost = skipped(start, end, at, until, known)
                        if cost <= reach * (1 + 0.5 * min(len(words), 4)):
                            found.append((cost, block, at))
            changed = False
            for _, block, at in sorted(found):
                start, end = ends[block], ends[block + 1]
                if to[start] < 0 and not used[at : at + end - start].any():
                    to[start:end] = np.arange(at, at + end - start)
                    used[at : at + end - start] = changed = True
            if not changed:
                break
    # What is left of blocks that the truth has in part, or with a word changed.
    back, last, following = nearest()
    for at in np.flatnonzero(to < 0):
        best = (13, None)
        for place in places.get(page[at], ()):
            if used[place]:
                continue
            costs = []
            if last[place] >= 0:
                costs.append(abs(at - back[last[place]] - (place - last[place])) + place - last[place])
            if following[place] < len(truth):
                costs.append(abs(back[following[place]] - at - (following[place] - place)) + following[place] - place)
            best = min(best, (min(costs, default=99), place), key=lambda way: way[0])
        if best[1] is not None:
            to[at] = best[1]
            used[best[1]] = True
    found = np.concatenate([[0], np.cumsum(to >= 0)])
    sizes = np.diff(ends)
    labels[sizes > 0] = (np.diff(found[ends]))[sizes > 0] / sizes[sizes > 0]
    return labels


def tile(page, truth):
    """For every word of the page its place in the truth, or -1: the longest common runs first, and
    of equal ones those where most around is common."""
    runs = collections.defaultdict(list)
    for at in range(len(truth) - LEAST + 1):
        runs[tuple(truth[at : at + LEAST])].append(at)
    common = np.zeros(len(page) + 1)
    for at in range(len(page) - LEAST + 1):
        if tuple(page[at : at + LEAST]) in runs:
            common[at + 1 : at + LEAST + 1] = 1
    common = np.cumsum(common)
    low, high = np.maximum(0, np.arange(len(page)) - 100), np.minimum(len(page), np.arange(len(page)) + 100)
    density = (common[high] - common[low]) / (high - low)
    heap = []
    for start in range(len(page) - LEAST + 1):
        for at in runs.get(tuple(page[start : start + LEAST]), ()):
            if start and at and page[start - 1] == truth[at - 1]:
                continue  # a part of a run that has begun before
            length = LEAST
            while start + length < len(page) and at + length < len(truth) and page[start + length] == truth[at + length]:
                length += 1
            heap.append((-length, -density[start], start, at))
    heapq.heapify(heap)
    to, used = np.full(len(page), -1), np.zeros(len(truth), bool)
    while heap:
        length, rank, start, at = heapq.heappop(heap)
        free = (to[start : start - length] < 0) & ~used[at : at - length]
        if free.all():
            to[start : start - length] = np.arange(at, at - length)
            used[at : at - length] = True
            continue
        edges = np.flatnonzero(np.diff(np.concatenate([[0], free.astype(int), [0]])))
        for begin, end in edges.reshape(-1, 2):
            if end - begin >= LEAST:
                heapq.heappush(heap, (begin - end, rank, start + int(begin), at + int(begin)))
    return to


def label_weakly(blocks, html, url, present, absent):
    """Labels for a page of which only snippets are known, and which of them the snippets are sure of.

    blocks: the text of every block.  The label of a block is the share of its words that trafilatura (Barbaresi,
    ACL 2021) keeps, the mean of its two modes; 1 where a snippet stands that must be kept, 0 where one stands
    that must not."""
    words = [re.findall(r"\w+", block.lower()) for block in blocks]
    kept = []
    for precise in (False, True):
        import trafilatura
        text = trafilatura.extract(html, url=url, favor_precision=precise, include_comments=False, fast=False) or ""
        kept.append(label(words, re.findall(r"\w+", text.lower())))
    labels = np.mean(kept, axis=0)
    folded = [fold(block) for block in blocks]
    ends = np.cumsum([0] + [len(block) + 1 for block in folded])
    text = " ".join(folded)
    certain = np.zeros(len(blocks), bool)

    def places(snippet):
        """The blocks of each place where a snippet stands."""
        snippet, at = fold(snippet), -1
        while snippet and (at := text.find(snippet, at + 1)) >= 0:
            first = int(np.searchsorted(ends, at, "right")) - 1
            yield range(first, int(np.searchsorted(ends, at + len(snippet), "left")))

    for snippet in absent:
        for place in places(snippet):
            for block in place:
                if words[block]:
                    labels[block], certain[block] = 0.0, True
    for snippet in present:
        found = list(places(snippet))
        best = max((np.nan_to_num(labels[list(place)]).mean() for place in found), default=0)
        for place in found:
            # One that stands there more than once is content where the other text around it is.
            if np.nan_to_num(labels[list(place)]).mean() >= best - 0.1:
                for block in place:
                    if words[block]:
                        labels[block], certain[block] = 1.0, True
    return labels, certain


def fold(text):
    """A text with quotes, dashes, case and white space folded, as the scorer compares it."""
    text = text.translate({ord(c): '"' for c in "“”„«»‟″"} | {ord(c): "'" for c in "‘’‚‹›‛′`´"} | {ord(c): "-" for c in "–—‒―‐‑"})
    return re.sub(r"\s+", " ", text).strip().lower()
