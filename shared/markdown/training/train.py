#!/usr/bin/env python3
"""Train the model that chooses a page's main content, and write src/extract/weights.bin.

    pip install -r requirements.txt
    cargo build --release -p ragmaker-markdown --features training --examples
    training/train.py PAGES --examples target/release/examples/examples [--out src/extract/weights.bin]

PAGES holds truth.jsonl.gz (one JSON object per page: id, url, type, main_content, with, without) and
pages/ID.html.gz.  Every figure printed is of pages whose domain the model has not seen: five folds,
no domain in two of them.  The model is boosted forests of oblivious trees (Prokhorenkova et al.
2018, CatBoost): one for each kind of page, then two for blocks, of which the first sees a block, the second also what the first thinks of the blocks around it.
"""
import argparse, collections, gzip, hashlib, json, os, re, struct, subprocess, sys, tempfile
from urllib.parse import urlparse

import numpy as np

FOLDS = 5
ROWS = 160  # blocks of one page that are learned from: more say little that is new
KINDS = ["article", "documentation", "forum", "product", "collection", "listing", "service"]
WORD = re.compile(r"\w+")


def read_pages(folder, examples):
    truth = [json.loads(line) for line in gzip.open(os.path.join(folder, "truth.jsonl.gz"), "rt", encoding="utf-8")]
    with tempfile.TemporaryDirectory() as scratch:
        paths = []
        for page in truth:
            path = os.path.join(scratch, page["id"] + ".html")
            with open(path, "wb") as out:
                out.write(gzip.open(os.path.join(folder, "pages", page["id"] + ".html.gz")).read())
            # Some pages come without their address.
            paths.append(path + "\t" + (page["url"] or "" if int(page["id"]) % 6 else ""))
        data = subprocess.run([examples], input="\n".join(paths).encode(), stdout=subprocess.PIPE, check=True).stdout
    at = 0
    for page in truth:
        count, width, around, of_page = struct.unpack_from("<IIII", data, at)
        at += 16
        texts = []
        for _ in range(count):
            (length,) = struct.unpack_from("<I", data, at)
            texts.append(data[at + 4 : at + 4 + length].decode())
            at += 4 + length
        page["texts"] = texts
        page["words"] = [WORD.findall(text.lower()) for text in texts]
        page["features"] = np.frombuffer(data, "<f4", count * width, at).reshape(count, width)
        if not count:
            page["features"] = np.zeros((0, truth[0]["features"].shape[1]), "f4")
        at += 4 * count * width
        page["own"] = page["features"][0, -of_page:] if count else np.zeros(of_page, "f4")
        page["reach"] = np.frombuffer(data, "<u4", 2 * count * around, at).reshape(count, around, 2)
        at += 8 * count * around
        page["kin"] = np.frombuffer(data, "<u4", count, at)
        at += 4 * count
        page["labels"] = label(page)
        page["fold"] = fold(page)
    return truth


def fold(page):
    host = (urlparse(page["url"] or "").hostname or page["id"]).removeprefix("www.")
    domain = ".".join(host.split(".")[-2:])
    return int(hashlib.sha1(domain.encode()).hexdigest(), 16) % FOLDS


def label(page):
    """The share of each block's words that the true content has, in its order."""
    truth = WORD.findall((page["main_content"] or "").lower())
    grams = collections.Counter(tuple(truth[i : i + 4]) for i in range(len(truth) - 3))
    joined = " " + " ".join(truth) + " "
    labels = np.full(len(page["words"]), np.nan)
    short = collections.defaultdict(list)
    for at, words in enumerate(page["words"]):
        if len(words) >= 4:
            mine = [tuple(words[i : i + 4]) for i in range(len(words) - 3)]
            labels[at] = sum(gram in grams for gram in mine) / len(mine)
        elif words:
            short[tuple(words)].append(at)
    long = [(at, value) for at, value in enumerate(labels) if not np.isnan(value)]
    for words, places in short.items():
        times = joined.count(" " + " ".join(words) + " ")
        # The copies nearest to what is certainly content are the ones that are in it.
        def nearness(at):
            weight = total = 0.0
            for other, value in long:
                distance = abs(other - at)
                if distance <= 12:
                    weight += value / distance
                    total += 1 / distance
            return weight / total if total else 0.0
        ranked = sorted(places, key=lambda at: -nearness(at))
        for rank, at in enumerate(ranked):
            near = nearness(at)
            labels[at] = 1.0 if rank < times and near > 0.3 else (0.3 if rank < times and near > 0.05 else 0.0)
    return labels


def f1(page, keep):
    want = collections.Counter(WORD.findall((page["main_content"] or "").lower()))
    got = collections.Counter(word for words, kept in zip(page["words"], keep) if kept for word in words)
    if not want or not got:
        return float(not want and not got)
    overlap = sum((want & got).values())
    return 2 * overlap / (sum(want.values()) + sum(got.values()))


def report(name, pages, keeps):
    scores = collections.defaultdict(list)
    present, absent = [], []
    for page, keep in zip(pages, keeps):
        scores[page["type"]].append(f1(page, keep))
        text = "\n".join(text for text, kept in zip(page["texts"], keep) if kept)
        text = re.sub(r"\s+", " ", text).lower()
        found = lambda snippets: np.mean([re.sub(r"\s+", " ", s.lower()) in text for s in snippets])
        if page["with"]:
            present.append(found(page["with"]))
        if page["without"]:
            absent.append(found(page["without"]))
    everything = [score for kind in scores.values() for score in kind]
    macro = np.mean([np.mean(kind) for kind in scores.values()])
    print(f"{name}: F1={np.mean(everything):.4f} macro={macro:.4f} with={np.mean(present):.3f} without={np.mean(absent):.3f} "
          + " ".join(f"{kind}={np.mean(scores[kind]):.3f}" for kind in sorted(scores)), flush=True)


def choose(page, chances):
    """The blocks whose choice has the highest expected F1 (Lewis 1995, Ye et al. 2012)."""
    sizes = page["features"][:, 0].astype(float)
    chances = chances.copy()
    said = set()
    for at in np.argsort(-chances, kind="stable"):  # a text that stands there twice is said once
        words = tuple(page["words"][at])
        if len(words) >= 6 and page["features"][at, 11] != 9:
            if words in said:
                chances[at] = 0
            said.add(words)
    order = np.argsort(-chances, kind="stable")
    mass = np.cumsum(sizes[order] * chances[order])
    size = np.cumsum(sizes[order])
    expected = 2 * mass / (size + mass[-1] + 1e-9) if len(order) else mass
    keep = np.zeros(len(chances), bool)
    if len(order):
        best = int(np.argmax(expected))
        keep[order[: best + 1]] = True
        keep &= chances >= 0.12
    return keep


def fit(rows, labels, weights, trees, depth, rate, seed=1):
    from catboost import CatBoostClassifier, Pool
    model = CatBoostClassifier(iterations=trees, depth=depth, learning_rate=rate, loss_function="CrossEntropy",
                               border_count=32, random_seed=seed, thread_count=2, verbose=False, l2_leaf_reg=6,
                               rsm=0.35, bootstrap_type="Bernoulli", subsample=0.7, allow_writing_files=False)
    model.fit(Pool(rows, labels, weight=weights))
    return model


def fit_kinds(pages):
    """For each kind of page, a forest that tells it from the others."""
    rows = np.stack([page["own"] for page in pages])
    return [fit(rows, np.array([float(page["type"] == kind) for page in pages]), None, 40, 4, 0.1) for kind in KINDS]


def chance(model, rows):
    return 1 / (1 + np.exp(-model.predict(rows, prediction_type="RawFormulaVal")))


def context(page, first):
    """What the second forest sees beside the features: the first one's opinion of the blocks around."""
    count = len(first)
    sizes = np.sqrt(page["features"][:, 0].astype(float) + 0.5)
    columns = [first]
    for step in (1, 2, 3):
        columns += [np.concatenate([np.full(min(step, count), -1.0), first[:-step]])[:count],
                    np.concatenate([first[step:], np.full(min(step, count), -1.0)])[-count:]]
    for reach in (4, 10, 25):
        before, after = np.zeros(count), np.zeros(count)
        mass = np.concatenate([[0], np.cumsum(first * sizes)])
        size = np.concatenate([[0], np.cumsum(sizes)])
        for at in range(count):
            low, high = max(0, at - reach), min(count, at + reach + 1)
            before[at] = (mass[at] - mass[low]) / (size[at] - size[low]) if at > low else -1
            after[at] = (mass[high] - mass[at + 1]) / (size[high] - size[at + 1]) if high > at + 1 else -1
        columns += [before, after]
    total = (first * sizes).sum() / sizes.sum() if count else 0
    columns += [np.full(count, total), np.full(count, first.max() if count else 0)]
    seen = np.concatenate([[0], np.cumsum(first * sizes)])[:count]
    columns += [seen / (seen.max() + 1e-6) if count else seen]
    mass = np.concatenate([[0], np.cumsum(first * sizes)])
    size = np.concatenate([[0], np.cumsum(sizes)])
    for level in range(page["reach"].shape[1] if count else 0):
        low, high = page["reach"][:, level, 0], page["reach"][:, level, 1]
        columns.append((mass[high] - mass[low]) / np.maximum(size[high] - size[low], 1e-6))
    groups = np.bincount(page["kin"], first * sizes) / np.bincount(page["kin"], sizes)
    columns += [groups[page["kin"]], np.bincount(page["kin"])[page["kin"]]]
    return np.stack(columns, 1).astype(np.float32)


def stack(pages, rows):
    parts = []
    pages = [page for page in pages if page["texts"]]
    for page in pages:
        known = np.flatnonzero(~np.isnan(page["labels"]))
        picked = np.random.default_rng(int(page["id"])).permutation(known)[:ROWS]
        weights = weigh(page)[picked] * (len(known) / max(1, len(picked)))
        parts.append((rows(page)[picked], page["labels"][picked], weights))
    return [np.concatenate(column) for column in zip(*parts)]


def weigh(page):
    sizes = np.array([min(len(words), 200) for words in page["words"]], float) ** 0.6
    return sizes / (sizes.sum() + 20) * 50


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages")
    parser.add_argument("--examples", required=True)
    parser.add_argument("--out")
    parser.add_argument("--trees", type=int, nargs=2, default=[140, 80])
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--folds", type=int, nargs="*", default=list(range(FOLDS)), help="the folds to judge by")
    parser.add_argument("--rate", type=float, default=0.2)
    options = parser.parse_args()
    pages = read_pages(options.pages, options.examples)
    print(len(pages), "pages", sum(len(page["texts"]) for page in pages), "blocks",
          pages[0]["features"].shape[1], "features", flush=True)
    report("everything", pages, [np.ones(len(page["texts"]), bool) for page in pages])
    report("best possible", pages, [np.nan_to_num(page["labels"]) >= 0.5 for page in pages])

    for held in range(FOLDS):
        for kind, model in enumerate(fit_kinds([page for page in pages if page["fold"] != held])):
            for page in pages:
                if page["fold"] == held:
                    page.setdefault("kinds", np.zeros(len(KINDS), "f4"))[kind] = chance(model, page["own"][None])[0]
    right = np.mean([KINDS[np.argmax(page["kinds"])] == page["type"] for page in pages])
    print(f"kind of page: {right:.3f} right", flush=True)

    first = lambda page: np.concatenate([page["features"], np.tile(page["kinds"], (len(page["texts"]), 1))], 1)
    for held in range(FOLDS):
        model = fit(*stack([page for page in pages if page["fold"] != held], first), options.trees[0], options.depth, options.rate)
        for page in pages:
            if page["fold"] == held and len(page["texts"]):
                page["first"] = chance(model, first(page))
    for page in pages:
        page.setdefault("first", np.zeros(len(page["texts"])))
    report("first forest", pages, [choose(page, page["first"]) for page in pages])

    second = lambda page: np.concatenate([first(page), context(page, page["first"])], 1)
    for held in range(FOLDS):
        model = fit(*stack([page for page in pages if page["fold"] != held], second), options.trees[1], options.depth, options.rate)
        for page in pages:
            if page["fold"] == held:
                page["second"] = chance(model, second(page)) if len(page["texts"]) else np.zeros(0)
    report("both forests", pages, [choose(page, page["second"]) for page in pages])
    for bar in (0.3, 0.4, 0.5):
        report(f"both, at {bar}", pages, [page["second"] >= bar for page in pages])
    if options.out:
        forests = fit_kinds(pages) + [
                   fit(*stack(pages, first), options.trees[0], options.depth, options.rate),
                   fit(*stack(pages, second), options.trees[1], options.depth, options.rate)]
        with open(options.out, "wb") as out:
            for forest in forests:
                write(forest, out)


def write(model, out):
    """A forest: how many trees, their depth, the bias; per tree its splits (feature, border), its leaves."""
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "model.json")
        model.save_model(path, format="json")
        forest = json.load(open(path))
    trees = forest["oblivious_trees"]
    scale, bias = forest["scale_and_bias"]
    depth = max(len(tree["splits"]) for tree in trees)
    out.write(struct.pack("<IIf", len(trees), depth, bias[0]))
    for tree in trees:
        splits = [(split["float_feature_index"], split["border"]) for split in tree["splits"]]
        leaves = [value * scale for value in tree["leaf_values"]]
        while len(splits) < depth:  # a split that nothing passes
            splits.append((0, 3.4e38))
            leaves += [0.0] * len(leaves)
        for feature, border in splits:
            out.write(struct.pack("<Hf", feature, border))
        out.write(struct.pack(f"<{len(leaves)}f", *leaves))


if __name__ == "__main__":
    sys.exit(main())
