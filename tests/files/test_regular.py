"""Pipes, sockets and devices where a file is expected."""

import os
import socket
import threading
from pathlib import Path

import numpy as np
import pytest
from support.stores import posix

from ialspp import ImplicitMF, Interactions, store
from ialspp.files.container import Container, StoreError, write
from ialspp.model.checkpoint import Checkpoint


def resume(path):
    return ImplicitMF.resume(path, Interactions.from_arrays(user=[1], item=[1]))


questions = pytest.mark.parametrize(
    "question", [store.info, store.verify, ImplicitMF.load, resume, Checkpoint.read, Container.open]
)


@posix
@questions
def test_a_pipe_is_refused_at_once(tmp_path, question):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match=r"pipe is a pipe; a regular file is required$"):
        question(tmp_path / "pipe")


@posix
@questions
def test_a_device_is_refused_at_once(question):
    with pytest.raises(StoreError, match=r"^/dev/zero is a device; a regular file is required$"):
        question(Path("/dev/zero"))


@posix
def test_a_socket_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with pytest.raises(StoreError, match="socket is a socket"):
            store.info("socket")


@posix
def test_a_pipe_that_takes_the_place_of_a_file_meanwhile_is_refused(tmp_path):
    """Nobody ever writes to the pipe: who waits for its other end waits for ever."""
    path = tmp_path / "model"
    write(path, {"a": np.ones(3)}, {})
    done = threading.Event()

    def replace():
        while not done.is_set():
            os.mkfifo(tmp_path / "pipe")
            (tmp_path / "pipe").replace(path)
            write(tmp_path / "file", {"a": np.ones(3)}, {})
            (tmp_path / "file").replace(path)

    replacing = threading.Thread(target=replace)
    replacing.start()
    said = set()
    try:
        for _ in range(300):
            try:
                Container.open(path)
            except StoreError as error:
                said.add(str(error))
    finally:
        done.set()
        replacing.join()
    assert said <= {f"{path} is a pipe; a regular file is required"}
