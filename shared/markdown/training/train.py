#!/usr/bin/env python3
"""Train the model that chooses a page's main content, and write src/extract/weights.bin.

    pip install -r requirements.txt
    cargo build --release -p ragmaker-markdown --features training --examples
    training/train.py PAGES --examples target/release/examples/examples \\
        --convert target/release/examples/convert --out src/extract/weights.bin

PAGES holds truth.jsonl.gz (one JSON object per page: id, url, type, main_content, with, without) and
pages/ID.html.gz; for --snippets, a folder snippets with the same of pages of which only with and without are
known; for --convert, the script that scores Markdown.  --articles is a folder in the form of PAGES, which
articles.py makes.  Every figure printed is of pages whose domain the model has not seen: five folds, no domain
in two of them; `as Markdown` is what really becomes of the pages, converted with the weights of the fold that
holds them out; `the other collections` is a collection by what was learned from the others alone.

The model is boosted forests of oblivious trees (Prokhorenkova et al. 2018, CatBoost): one for each kind
of page; then one for the blocks of articles, which learns from all collections, and one for those of other
kinds, which learns from PAGES.  Each is the mean of several (Breiman 1996), and also sees what the words in
and around a block, and around the blocks around, say by themselves (vocabulary.py; stacking: Wolpert 1992).
"""
import argparse, collections, gzip, hashlib, json, multiprocessing, os, re, subprocess, sys, tempfile
from urllib.parse import urlparse

import numpy as np

import labels, vocabulary, weights_file
from evaluate import calibrate, convert, report, report_snippets

FOLDS = 5
BORDERS = 32
THREADS = 2
ROWS = 160  # blocks of one page that are learned from: more say little that is new
KINDS = ["article", "documentation", "forum", "product", "collection", "listing", "service"]
PLACES = 5  # where words stand
WEAK, KEPT, DROPPED = 0.7, 5.0, 10.0  # weights of pages that are labelled weakly, and of the blocks that snippets are sure of
BLENDED = 0.4  # how much of a weak label is the other collection's
MIN_EXPECTED_F1, TEMPLATE_WORDS = 0.25, 40  # as in src/extract/choose.rs
WORD = re.compile(r"\w+")


def read_pages(folder, examples):
    truth = read_truth(os.path.join(folder, "truth.jsonl.gz"), os.path.join(folder, "pages"))
    show(truth, examples)
    with multiprocessing.Pool() as pool:
        sides = [(page["words"], WORD.findall((page["main_content"] or "").lower())) for page in truth]
        for page, found in zip(truth, pool.starmap(labels.label, sides, chunksize=8)):
            page["labels"] = found
            # A longer text that stands there twice is as true the second time.
            best = collections.defaultdict(float)
            for words, value in zip(page["words"], found):
                best[tuple(words)] = max(best[tuple(words)], np.nan_to_num(value))
            page["copies"] = np.array([best[tuple(words)] if len(words) >= 6 else value
                                       for words, value in zip(page["words"], found)])
    return truth


def read_truth(path, pages):
    truth = [json.loads(line) for line in gzip.open(path, "rt", encoding="utf-8")]
    for page in truth:
        page["html"] = gzip.open(os.path.join(pages, page["id"] + ".html.gz")).read()
        page["weight"] = 1.0
    return truth


def read_snippet_pages(folder, examples):
    """Pages of which only snippets are known that must or must not be kept.  What stands between them is labelled
    by trafilatura, each block by the share of its words that its two modes keep, and corrected by the snippets."""
    truth = read_truth(os.path.join(folder, "truth.jsonl.gz"), folder)
    show(truth, examples)
    with multiprocessing.Pool() as pool:
        found = pool.starmap(labels.label_weakly, [(page["texts"], page["html"], page["url"], page["with"],
                                                    page["without"]) for page in truth], chunksize=8)
    for page, (values, certain) in zip(truth, found):
        page["labels"] = page["copies"] = values
        page["certain"] = certain
        page["type"] = None
        page["weight"] = WEAK
    return truth


def show(truth, examples, weights=None):
    """Reads the examples of pages from Rust, with the probabilities by these weights."""
    with tempfile.TemporaryDirectory() as scratch:
        paths = []
        for page in truth:
            path = os.path.join(scratch, page["id"] + ".html")
            with open(path, "wb") as out:
                out.write(page["html"])
            # Some pages come without their address.
            paths.append(path + "\t" + (page["url"] or "" if number(page) % 6 else ""))
        environment = {**os.environ, **({"RAGMAKER_WEIGHTS": weights} if weights else {})}
        data = subprocess.run([examples], input="\n".join(paths).encode(), stdout=subprocess.PIPE, check=True,
                              env=environment).stdout
    at = 0

    def take(count, kind="<u4"):
        nonlocal at
        at += 4 * count
        return np.frombuffer(data, kind, count, at - 4 * count)

    for page in truth:
        count, width, around, of_page = (int(number) for number in take(4))
        page["texts"] = []
        for _ in range(count):
            length = int(take(1)[0])
            page["texts"].append(data[at : at + length].decode())
            at += length
        page["words"] = [WORD.findall(text.lower()) for text in page["texts"]]
        placed, hashes = [], []
        for _ in range(count * PLACES):
            placed.append(int(take(1)[0]))
            hashes.append(take(placed[-1]))
        page["placed"] = np.array(placed, int).reshape(count, PLACES)
        page["hashes"] = np.concatenate(hashes) if hashes else np.zeros(0, "u4")
        page["features"] = take(count * width, "<f4").reshape(count, width)
        page["own"] = page["features"][0, -of_page:] if count else np.zeros(of_page, "f4")
        page["reach"] = take(2 * count * around).reshape(count, around, 2)
        page["groups"] = take(count)
        page["predicted"] = take(count, "<f4")
        page["domain"] = domain(page)
        page["fold"] = int(hashlib.sha1(page["domain"].encode()).hexdigest(), 16) % FOLDS
    width = max(page["features"].shape[1] for page in truth)
    for page in truth:
        if not page["texts"]:
            page["features"] = np.zeros((0, width), "f4")
            page["own"] = np.zeros(len(truth[0]["own"]), "f4")


def number(page):
    return int(re.sub(r"\D", "", page["id"]))


def domain(page):
    if "site" in page:
        return page["site"]
    host = (urlparse(page["url"] or "").hostname or page["id"]).removeprefix("www.")
    return ".".join(host.split(".")[-2:])


def choose(page, probabilities):
    """The blocks whose choice has the highest expected F1 (Lewis 1995, Ye et al. 2012)."""
    sizes = page["features"][:, 0].astype(float)
    probabilities = smoothed(page, probabilities)
    seen = set()
    # A text that the page has twice is chosen once; in Rust, twice where both stand beside each other.
    for at in np.argsort(-probabilities, kind="stable"):
        words = tuple(page["words"][at])
        if len(words) >= 6 and page["features"][at, 11] != 9:
            if words in seen:
                probabilities[at] = 0
            seen.add(words)
    order = np.argsort(-probabilities, kind="stable")
    mass = np.cumsum(sizes[order] * probabilities[order])
    size = np.cumsum(sizes[order])
    expected = 2 * mass / (size + mass[-1] + 1e-9) if len(order) else mass
    keep = np.zeros(len(probabilities), bool)
    if len(order):
        best = int(np.argmax(expected))
        page["expected"] = expected[best]
        keep[order[: best + 1]] = expected[best] >= MIN_EXPECTED_F1 or size[-1] < TEMPLATE_WORDS
    return keep


def smoothed(page, probabilities):
    """The probabilities of the blocks with words, moved half-way to the mean of their sibling group."""
    worded = (page["features"][:, 0] > 0).astype(float)
    counts = np.bincount(page["groups"], worded)
    groups = np.bincount(page["groups"], probabilities * worded) / np.maximum(counts, 1)
    return worded * (probabilities + groups[page["groups"]]) / 2


def fit(rows, labels, weights, trees, depth, rate, seed=1, borders=None):
    from catboost import CatBoostClassifier, Pool
    model = CatBoostClassifier(iterations=trees, depth=depth, learning_rate=rate, loss_function="CrossEntropy",
                               border_count=BORDERS, random_seed=seed, thread_count=THREADS, verbose=False, l2_leaf_reg=6,
                               rsm=0.35, bootstrap_type="Bernoulli", subsample=0.7, allow_writing_files=False)
    pool = Pool(rows, labels, weight=weights)
    if borders:
        first = not os.path.exists(borders)
        pool.quantize(**({"border_count": BORDERS} if first else {"input_borders": borders}))
        if first:
            pool.save_quantization_borders(borders)
    model.fit(pool)
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "model.json")
        model.save_model(path, format="json")
        return forest(json.load(open(path)))


def forest(model):
    """A forest as its bias and its trees: the splits (feature, border) and the leaves of each."""
    scale, bias = model["scale_and_bias"]
    trees = []
    for tree in model["oblivious_trees"]:
        splits = [(split["float_feature_index"], float(np.float32(split["border"]))) for split in tree["splits"]]
        trees.append((splits, np.array(tree["leaf_values"]) * scale))
    return bias[0], trees


def fit_blocks(pages, options):
    """The mean of forests that see other blocks, labels and weights of the same pages."""
    with tempfile.TemporaryDirectory() as scratch:
        borders = os.path.join(scratch, "borders.tsv")
        members = []
        for seed in range(options.seed * 100, options.seed * 100 + options.members):
            labels, weigh = MEMBERS[seed % len(MEMBERS)]
            members.append(fit(*stack(pages, seed, labels, weigh), options.trees, options.depth, options.rate, seed, borders))
    return (sum(bias for bias, _ in members) / len(members),
            [(splits, leaves / len(members)) for _, trees in members for splits, leaves in trees])


def fit_kinds(pages):
    """For each kind of page, a forest that tells it from the others."""
    pages = [page for page in pages if page["type"]]
    rows = np.stack([page["own"] for page in pages])
    return [fit(rows, np.array([float(page["type"] == kind) for page in pages]), None, 40, 4, 0.1) for kind in KINDS]


def logits(model, rows):
    bias, trees = model
    sums, places = np.full(len(rows), float(bias)), {}
    columns = np.ascontiguousarray(rows.T)
    for splits, leaves in trees:
        leaf = np.zeros(len(rows), np.int64)
        for level, split in enumerate(splits):
            if split not in places:
                places[split] = columns[split[0]] > np.float32(split[1])
            leaf |= places[split].astype(np.int64) << level
        sums += leaves[leaf]
    return sums


def context(page, first):
    """Columns of the probabilities by words of the blocks around."""
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
    groups = np.bincount(page["groups"], first * sizes) / np.bincount(page["groups"], sizes)
    columns += [groups[page["groups"]], np.bincount(page["groups"])[page["groups"]]]
    return np.stack(columns, 1).astype(np.float32)


def columns_of(page, table):
    """The columns of a page's blocks, for the forest."""
    scores = vocabulary.text_scores(table, page)
    kinds = np.tile(page["kinds"], (len(scores), 1))
    return np.concatenate([page["features"], kinds, scores, context(page, sigmoid(scores[:, -1]))], 1).astype("f4")


def sigmoid(logits):
    """The probabilities of logits."""
    return 1 / (1 + np.exp(-logits.astype(float)))


def stack(pages, seed, labels, weigh):
    parts = []
    for page in pages:
        if page["texts"]:
            picked, weights = pick(page, seed, weigh)
            parts.append((page["rows"][picked], page[labels][picked], weights))
    return [np.concatenate(column) for column in zip(*parts)]


def pick(page, seed, weigh):
    """Some of a page's blocks, and how much each counts."""
    known = np.flatnonzero(~np.isnan(page["labels"]))
    picked = np.random.default_rng([seed, number(page)]).permutation(known)[:ROWS]
    return picked, weigh(page)[picked] * (len(known) / max(1, len(picked)))


def by_page(page):
    """Every page of a collection counts alike, and in it a block by its size."""
    sizes = np.array([min(len(words), 200) for words in page["words"]], float) ** 0.6
    return sizes / (sizes.sum() + 20) * 50 * of_label(page)


def by_truth(page):
    """What is wrongly taken counts as it does for F1: by how little there was to take."""
    sizes = np.array([min(len(words), 200) for words in page["words"]], float) ** 0.6
    return sizes / ((sizes * np.nan_to_num(page["labels"])).sum() + 0.15 * sizes.sum() + 20) * 25 * of_label(page)


def of_label(page):
    """How much the labels of a page's blocks are to be trusted."""
    if "certain" not in page:
        return 1.0
    sure = np.where(page["labels"] > 0.5, KEPT, DROPPED)
    return page["weight"] * np.where(page["certain"], sure, 1.0)


MEMBERS = [("labels", by_page), ("labels", by_truth), ("copies", by_page), ("copies", by_truth)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages")
    parser.add_argument("--examples", required=True)
    parser.add_argument("--convert", help="an executable that converts a page with the weights in RAGMAKER_WEIGHTS")
    parser.add_argument("--snippets", action="store_true", help="learn from pages of which only snippets are known, too")
    parser.add_argument("--articles", metavar="FOLDER", help="learn from these articles, too")
    parser.add_argument("--both", action="store_true", help="predict the pages of seven kinds by the others, too")
    parser.add_argument("--out")
    parser.add_argument("--seed", type=int, default=0, help="other blocks and columns, for judging a change twice")
    parser.add_argument("--trees", type=int, default=90)
    parser.add_argument("--members", type=int, default=8, help="forests that are averaged")
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--rate", type=float, default=0.2)
    options = parser.parse_args()
    pages = read_pages(options.pages, options.examples)
    articles = read_pages(options.articles, options.examples) if options.articles else []
    others = read_snippet_pages(os.path.join(options.pages, "snippets"), options.examples) if options.snippets else []
    sets = [some for some in (pages, articles, others) if some]
    for some in sets:
        print(len(some), "pages with snippets" if some is others else "pages", sum(len(page["texts"]) for page in some),
              "blocks", pages[0]["features"].shape[1], "features", flush=True)
    report("everything", pages, [np.ones(len(page["texts"]), bool) for page in pages])
    for some in sets:
        keeps = [np.nan_to_num(page["labels"]) >= 0.5 for page in some]
        (report_snippets if some is others else report)("best possible", some, keeps)

    # Each collection by what was learned from the others. The snippets' pages come last: their weak labels are then
    # mixed with what the model says.
    for held in sets if len(sets) > 1 else ():
        learned = [page for some in sets if some is not held for page in some]
        if held is pages and not options.both:
            continue
        set_kinds(learned, pages)
        set_rows(learned, learned)
        kind, table, forest = fit_kinds(pages), vocabulary.fit(learned, blocks), fit_blocks(learned, options)
        for page in held:
            page["kinds"] = kinds_of(kind, page)
            predict(page, table, forest)
        say_all("the other collections", held)
        if held is others:
            for page in others:
                blend(page)
    # Folds of all, so that no domain is learned from and predicted.
    everything = [page for some in sets for page in some]
    kinds = set_kinds(everything, pages)
    right = np.mean([KINDS[np.argmax(page["kinds"])] == page["type"] for page in pages])
    print(f"kind of page: {right:.3f} right", flush=True)
    # What the other collections teach makes articles better, of which they consist, and other kinds worse.
    by_fold, whole = [], []
    for learned in (everything, pages):
        tables = set_rows(everything, learned)
        forests = []
        for held in range(FOLDS):
            forests.append(fit_blocks([page for page in learned if page["fold"] != held], options))
            for page in everything:
                if page["fold"] == held and page["texts"] and is_article(page) == (learned is everything):
                    page["probabilities"] = sigmoid(logits(forests[held], page["rows"]))
        by_fold.append(list(zip(tables, forests)))
        if options.out:
            whole.append((vocabulary.fit(learned, blocks), fit_blocks(learned, options)))
    for some in sets:
        say_all("other domains", some)
    if options.convert:
        convert(options, sets, list(zip(kinds, zip(*by_fold))))
    if options.out:
        kind = fit_kinds(pages)
        with open(options.out, "wb") as out:
            weights_file.write_all((kind, whole), calibrate(pages), out)
        compare(pages[::20], options, kind, whole)


def set_kinds(pages, known):
    """Sets the kinds of every page, by what the pages of the other folds teach whose kind is known."""
    models = [fit_kinds([page for page in known if page["fold"] != held]) for held in range(FOLDS)]
    for page in pages:
        page["kinds"] = kinds_of(models[page["fold"]], page)
    return models


def set_rows(pages, learned):
    """Sets the columns of every page, by the words of the other folds of what is learned from."""
    tables = [vocabulary.fit([page for page in learned if page["fold"] != held], blocks) for held in range(FOLDS)]
    for page in pages:
        if page["texts"]:
            page["rows"] = columns_of(page, tables[page["fold"]])
    return tables


def is_article(page):
    """Whether the model of articles predicts the page."""
    return KINDS[np.argmax(page["kinds"])] == "article"


def predict(page, table, forest):
    if page["texts"]:
        page["probabilities"] = sigmoid(logits(forest, columns_of(page, table)))


def kinds_of(model, page):
    return np.array([sigmoid(logits(forest, page["own"][None]))[0] for forest in model], "f4")


def blend(page):
    """Moves the labels that no snippet is sure of towards what the model says that was trained on the other collection:
    trafilatura's mistakes are seldom its own."""
    unsure = ~np.isnan(page["labels"]) & ~page["certain"]
    if unsure.any():
        mixed = (1 - BLENDED) * page["labels"] + BLENDED * page["probabilities"]
        page["labels"] = page["copies"] = np.where(unsure, mixed, page["labels"])


def say_all(name, pages):
    keeps = [choose(page, page.get("probabilities", np.zeros(0))) for page in pages]
    (report if pages[0]["type"] else report_snippets)(name, pages, keeps)


def blocks(page):
    """All blocks of a page that are known to be content or not."""
    known = np.flatnonzero(~np.isnan(page["labels"]))
    return known, by_page(page)[known]


def compare(pages, options, kind, of_blocks):
    """How far Rust, with the weights just written, is from what was trained."""
    show(pages, options.examples, os.path.abspath(options.out))
    apart = [np.zeros(0)]
    for page in pages:
        if page["texts"]:
            page["kinds"] = kinds_of(kind, page)
            table, forest = of_blocks[not is_article(page)]
            apart.append(np.abs(smoothed(page, sigmoid(logits(forest, columns_of(page, table)))) - page["predicted"]))
    apart = np.concatenate(apart)
    print(f"Rust is {apart.mean():.4f} from Python, at most {apart.max():.3f}, {len(apart)} blocks", flush=True)


if __name__ == "__main__":
    sys.exit(main())
