"""Files of data sets, and the pairs that were read from them."""

import zipfile

import numpy as np


def text(rows, separator):
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def write(folder, contents):
    """The folder, with these files in it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name).write_text(content)
    return folder


def zipped(path, contents):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


def pairs(data):
    """{(user, item): weight} by id."""
    rows = data.by_user
    weights = np.ones(len(data)) if rows.weights is None else rows.weights
    users, items = data.users.ids[rows.row_numbers], data.items.ids[rows.columns]
    return {(u, i): w for u, i, w in zip(users.tolist(), items.tolist(), weights.tolist(), strict=True)}
