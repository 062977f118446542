import numpy as np
import pytest
from support.files import pairs, write, zipped

from ialspp import datasets

NCF = {
    "tiny.train.rating": "0\t0\t5\t978824268\n0\t2\t3\t978302174\n1\t1\t4\t978300019\n",
    "tiny.test.rating": "0\t1\t5\t978824351\n1\t0\t3\t978300174\n",
    "tiny.test.negative": "(0,1)\t3\t9\n(1,0)\t2\t3\n",
}


@pytest.mark.parametrize("rating", ["{}", "{}.0"])
def test_ncf_files_become_a_split_with_candidates(rating, tmp_path):
    contents = {
        **NCF,
        "tiny.train.rating": "".join(f"{u}\t{i}\t{rating.format(4)}\n" for u, i in [(0, 0), (0, 2), (1, 1)]),
    }
    for path in (write(tmp_path / "f", contents), zipped(tmp_path / "f.zip", contents)):
        found = datasets.load("ncf", path, name="tiny")
        assert found.protocol == "leave-one-out"
        assert found.train.items.ids.tolist() == [0, 1, 2, 3, 9]  # 9 is only among the negatives
        assert set(pairs(found.train)) == {(0, 0), (0, 2), (1, 1)}
        assert set(pairs(found.test.wanted)) == {(0, 1), (1, 0)}
        candidates = found.test.candidates
        assert [found.train.items.ids[candidates.columns_of(u)].tolist() for u in (0, 1)] == [
            [1, 3, 9],
            [0, 2, 3],
        ]


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("tiny.test.negative", "(0,1)\t3\n(1,x)\t2\n", r"test\.negative, line 2.*'x'"),
        (
            "tiny.test.negative",
            "(0,3)\t9\n(1,0)\t2\n",
            r"user 0 with item 1 is wanted, but not among the candidates",
        ),
        ("tiny.test.negative", "(0,1)\t2\n(1,0)\t3\n", r"user 0 with item 2 is a candidate.*trained on"),
        ("tiny.train.rating", "ann\t1\t5\n", r"train\.rating.*users must be whole numbers, got 'ann'"),
        ("tiny.test.rating", "0\n", r"test\.rating.*"),
    ],
)
def test_wrong_ncf_files_are_errors(file, content, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        datasets.ncf(write(tmp_path, {**NCF, file: content}), "tiny")


LIGHTGCN = {"train.txt": "0 0 1\n1 2 \n2\n4 7\r\n", "test.txt": "0 3\n\n1 0 8"}


def test_lightgcn_files_become_a_weak_split(tmp_path):
    for path in (
        write(tmp_path / "f", LIGHTGCN),
        zipped(tmp_path / "f.zip", {f"f/{k}": v for k, v in LIGHTGCN.items()}),
    ):
        found = datasets.load("lightgcn", path)
        assert found.protocol == "weak"
        assert found.train.users.ids.tolist() == list(range(5))  # 3 occurs nowhere, 2 has no items
        assert found.train.items.ids.tolist() == list(range(9))
        assert set(pairs(found.train)) == {(0, 0), (0, 1), (1, 2), (4, 7)}
        assert set(pairs(found.test.wanted)) == {(0, 3), (1, 0), (1, 8)}


def test_the_place_in_a_line_of_lightgcn_is_the_time(tmp_path):
    files = {"test.txt": "1 5", "train.txt": "0 4 1 3\n2\n1 2 0\n0 6\n"}
    found = datasets.lightgcn(write(tmp_path, files)).train
    pair = zip(found.by_user.row_numbers.tolist(), found.by_user.columns.tolist(), strict=True)
    times = dict(zip(pair, found.times.tolist(), strict=True))
    assert times == {(0, 4): 0, (0, 1): 1, (0, 3): 2, (1, 2): 0, (1, 0): 1, (0, 6): 0}


def test_ascending_lines_of_lightgcn_have_no_order_of_time(tmp_path):
    files = {"test.txt": "1 5 4", "train.txt": "0 1 3\n1 0 1 2\n2 0\n"}
    assert datasets.lightgcn(write(tmp_path, files)).train.times is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("0 1\n1 2 x3\n", r"train\.txt, line 2: a whole number is required, got 'x3'"),
        ("0 1\n\n1 -2 3\n", r"line 3.*'-2'"),
        ("0 1.5", r"line 1.*'1\.5'"),
        ("\ufeff0 1", r"line 1"),
        ("0 1\n0 123456789 2\n", r"line 2: a number of at most 8 digits is required, got '123456789'"),
    ],
)
def test_what_is_no_number_is_named_with_file_and_line(content, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        datasets.lightgcn(write(tmp_path, {**LIGHTGCN, "train.txt": content}))


def test_empty_lightgcn_files_are_an_error(tmp_path):
    with pytest.raises(ValueError, match="at least one pair"):
        datasets.lightgcn(write(tmp_path, {"train.txt": "", "test.txt": ""}))


def test_lightgcn_files_are_what_python_reads(tmp_path):
    rng = np.random.default_rng(0)
    lines = [[user, *rng.integers(0, 10 ** rng.integers(1, 5), rng.integers(0, 5))] for user in range(200)]
    text = "\n".join(" ".join(map(str, line)) for line in lines)
    found = datasets.lightgcn(write(tmp_path, {"train.txt": text, "test.txt": "199 12345"}))
    assert set(pairs(found.train)) == {(line[0], item) for line in lines for item in line[1:]}
    assert (found.train.n_users, found.train.n_items) == (200, 12346)


def test_the_real_ncf_split_has_its_counts(shared_data):
    found = datasets.ncf(shared_data("ncf-ml1m"))
    assert (found.train.n_users, found.train.n_items, len(found.train)) == (6_040, 3_706, 994_169)
    assert len(found.test.wanted) == 6_040
    assert len(found.test.candidates.columns) == 604_000 - 156  # so many are among their own negatives


def test_the_real_gowalla_split_has_its_counts(shared_data):
    found = datasets.lightgcn(shared_data("gowalla"))
    assert (found.train.n_users, found.train.n_items, len(found.train)) == (29_858, 40_981, 810_128)
    assert len(found.test.wanted) == 217_242
