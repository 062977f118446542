"""How a side is cut into pieces, and how their sums are added up. This needs no Ray."""

import numpy as np
import pytest

from ialspp.cluster.jobs import PIECES_FOR_EACH_WORKER, added_up, pieces_of


def bounds(shards):
    return np.arange(shards + 1) * 3


@pytest.mark.parametrize("workers", [1, 2, 3, 10, 1000])
@pytest.mark.parametrize("shards", [16, 39, 132, 256])
def test_pieces_cover_all_rows_and_there_are_several_for_each_worker(shards, workers):
    pieces = pieces_of("user", bounds(shards), workers)
    assert [piece.begin for piece in pieces] == [0, *(piece.end for piece in pieces[:-1])]
    assert pieces[-1].end == 3 * shards
    assert len(pieces) >= min(PIECES_FOR_EACH_WORKER * workers, shards)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_sums_of_pieces_are_added_in_the_order_of_the_tree(workers):
    shards = 39
    numbers = np.random.default_rng(0).normal(size=shards) * 10.0 ** np.arange(shards)

    def in_pairs(node):
        return added_up({(shard, shard + 1): number for shard, number in enumerate(numbers)}, node)

    pieces = pieces_of("item", bounds(shards), workers)
    assert added_up({piece.node: in_pairs(piece.node) for piece in pieces}, (0, shards)) == in_pairs(
        (0, shards)
    )
