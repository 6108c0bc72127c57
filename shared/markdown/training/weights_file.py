"""Write the file of weights, which src/extract/model.rs reads."""
import collections, struct

import numpy as np

import vocabulary


def write_all(model, calibration, out):
    """The forests of kinds; the words and the forest for the blocks of articles, and those for all other kinds."""
    kind, of_blocks = model
    write(kind, out)
    for table, forest in of_blocks:
        vocabulary.write(table, out)
        write([forest], out)
    out.write(struct.pack("<I", len(calibration)))
    for point in calibration:
        out.write(struct.pack("<ff", *point))


def write(forests, out):
    """Forests of the same columns: how many columns are split; of each its place, how many borders it has, and
    these; per forest how many trees, their depth, the bias; per tree its splits (which of these columns, which
    of its borders), the scale of its leaves, its leaves."""
    borders = collections.defaultdict(set)
    for _, trees in forests:
        for splits, _ in trees:
            for feature, border in splits:
                borders[feature].add(border)
    features = sorted(borders)
    borders = [sorted(borders[feature]) for feature in features]
    assert max(map(len, borders)) < 127
    out.write(struct.pack("<I", len(features)))
    for feature, values in zip(features, borders):
        out.write(struct.pack(f"<HB{len(values)}f", feature, len(values), *values))
    for bias, trees in forests:
        depth = max(len(splits) for splits, _ in trees)
        out.write(struct.pack("<IIf", len(trees), depth, bias))
        for splits, leaves in trees:
            splits = [(features.index(feature), borders[features.index(feature)].index(border)) for feature, border in splits]
            while len(splits) < depth:  # a split that nothing passes
                splits.append((0, 126))
                leaves = np.append(leaves, np.zeros(len(leaves)))
            step = np.abs(leaves).max() / 127 or 1.0
            for split in splits:
                out.write(struct.pack("<HB", *split))
            out.write(struct.pack(f"<f{len(leaves)}b", step, *np.round(leaves / step).astype(int)))
