"""What the training prints: F1 of words and of snippets, as chosen and as Markdown, and how sure the choice is."""
import collections, os, re, subprocess, tempfile

import numpy as np

import labels, weights_file

WORD = re.compile(r"\w+")


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
        page["f1"] = f1(page, keep)
        scores[page["type"]].append(page["f1"])
        text = "\n".join(text for text, kept in zip(page["texts"], keep) if kept)
        text = re.sub(r"\s+", " ", text).lower()
        found = lambda snippets: np.mean([re.sub(r"\s+", " ", s.lower()) in text for s in snippets])
        if page["with"]:
            present.append(found(page["with"]))
        if page["without"]:
            absent.append(found(page["without"]))
    say(name, scores, present, absent)


def say(name, scores, present, absent):
    everything = [score for kind in scores.values() for score in kind]
    macro = np.mean([np.mean(kind) for kind in scores.values()])
    snippets = f"with={np.mean(present):.3f} without={np.mean(absent):.3f} " if present and absent else ""
    print(f"{name}: F1={np.mean(everything):.4f} macro={macro:.4f} {snippets}"
          + " ".join(f"{kind}={np.mean(scores[kind]):.3f}" for kind in sorted(scores)), flush=True)


def report_snippets(name, pages, keeps):
    kept = lambda page, keep: "\n".join(text for text, kept in zip(page["texts"], keep) if kept)
    say_snippets(name, pages, [kept(page, keep) for page, keep in zip(pages, keeps)])


def say_snippets(name, pages, texts):
    """Precision, recall and F1 over all snippets together, and the F1 of each language with enough pages."""
    counts = collections.defaultdict(lambda: np.zeros(4))
    for page, text in zip(pages, texts):
        text = labels.fold(text)
        found = sum(labels.fold(snippet) in text for snippet in page["with"])
        wrong = sum(labels.fold(snippet) in text for snippet in page["without"])
        counts[language(page)] += (found, wrong, len(page["with"]) - found, 1)
    rates = lambda right, wrong, missed: (2 * right / max(1, 2 * right + wrong + missed), right / max(1, right + wrong),
                                          right / max(1, right + missed))
    f1, precision, recall = rates(*sum(counts.values())[:3])
    by_language = " ".join(f"{name}={rates(*count[:3])[0]:.3f}({count[3]:.0f})" for name, count in
                           sorted(counts.items(), key=lambda item: -item[1][3]) if count[3] >= 8)
    print(f"{name}, snippets: F1={f1:.4f} P={precision:.4f} R={recall:.4f} {by_language}", flush=True)


def language(page):
    """The language that a page declares."""
    found = re.search(rb"<html[^>]*\blang=[\"']?([a-zA-Z]{2})", page["html"])
    return found[1].decode().lower() if found else "none"


def convert(options, sets, models):
    """Scores what becomes of every page with the weights that have not seen its domain."""
    scorer = {"__file__": os.path.join(options.pages, "score"), "__name__": "score"}
    exec(compile(open(scorer["__file__"]).read(), scorer["__file__"], "exec"), scorer)
    with tempfile.TemporaryDirectory() as scratch:
        paths = [os.path.join(scratch, f"{held}.bin") for held in range(len(models))]
        for model, path in zip(models, paths):
            with open(path, "wb") as out:
                weights_file.write_all(model, [(0, 0), (1, 1)], out)
        for pages in sets:
            texts = []
            for page in pages:
                done = subprocess.run([options.convert, page["url"] or "https://example.com/"], input=page["html"],
                                      stdout=subprocess.PIPE, env={**os.environ, "RAGMAKER_WEIGHTS": paths[page["fold"]]})
                texts.append(scorer["visible_text"](done.stdout.decode()))
            if pages[0]["type"] is None:
                say_snippets("as Markdown", pages, texts)
            else:
                say_converted(scorer, pages, texts)


def say_converted(scorer, pages, texts):
    scores, present, absent = collections.defaultdict(list), [], []
    for page, text in zip(pages, texts):
        page["f1"] = scorer["word_scores"](text, page["main_content"] or "")[2]
        scores[page["type"]].append(page["f1"])
        for snippets, found in ((page["with"], present), (page["without"], absent)):
            if snippets:
                found.append(np.mean([scorer["folded"](snippet) in scorer["folded"](text) for snippet in snippets]))
    say("as Markdown", scores, present, absent)


def calibrate(pages):
    """How sure the choice is to have F1 over 0.9, by its expected F1: points of an isotonic regression (Zadrozny and
    Elkan 2002) on pages of domains that the model has not seen.  Prints how often that is so, by confidence."""
    from sklearn.isotonic import IsotonicRegression
    expected = np.array([page.get("expected", 0.0) for page in pages])
    good = np.array([page["f1"] > 0.9 for page in pages], float)
    points = np.unique(np.quantile(expected, np.linspace(0, 1, 17)).astype("f4"))
    smooth = lambda at: IsotonicRegression(y_min=0.02, y_max=0.98, out_of_bounds="clip").fit(expected[at], good[at])
    parts = np.arange(len(pages)) % 10
    confidence = np.zeros(len(pages))
    for part in range(10):
        confidence[parts == part] = np.interp(expected[parts == part], points, smooth(parts != part).predict(points))
    for low, high in ((0, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.85), (0.85, 0.95), (0.95, 1.01)):
        some = (confidence >= low) & (confidence < high)
        if some.any():
            print(f"confidence {low:.2f} to {high:.2f}: {some.sum()} pages, mean {confidence[some].mean():.2f}, "
                  f"F1 over 0.9: {good[some].mean():.2f}", flush=True)
    return list(zip(points, smooth(parts >= 0).predict(points)))
