"""Files with one thing changed, and checksums that are right all the same."""

import json

from ialspp.files import container


def rewrite(path, content, place, value):
    """Write a sound file's content with one thing changed, and return the path.

    place: "description/settings/dim" and so on; value: None to leave it out, or what makes it of the old one.
    """
    path.write_bytes(content)
    opened = container.Container.open(path)
    arrays, metadata = dict(opened.arrays), dict(opened.metadata)
    whole = {"description": json.loads(metadata["description"]), "metadata": metadata, "arrays": arrays}
    *parents, key = place.split("/")
    node = whole
    for parent in parents:
        node = node[int(parent) if isinstance(node, list) else parent]
    old = node.pop(key, None)
    if value is not None:
        node[key] = value(old) if callable(value) else value
    if parents[0] == "description":
        metadata["description"] = json.dumps(whole["description"])
    container.write(path, arrays, metadata)
    return path


def changed(place, value):
    """Make what changes one number of an array."""

    def change(array):
        array = array.copy()
        array.reshape(-1)[place] = value
        return array

    return change
