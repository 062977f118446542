"""Tries for the processes that `torture.watching` starts, which import this module."""

import os
import signal

import numpy as np


def sound(_seed, _folder):
    return lambda number: (["even" if number % 2 == 0 else "odd"], [])


def crashing(_seed, _folder):
    def attempt(number):
        if number == 3:
            os.kill(os.getpid(), signal.SIGSEGV)
        return ["sound"], ["what it says"] if number == 5 else []

    return attempt


def greedy(_seed, _folder):
    def attempt(_number):
        np.ones(2**28)  # 2 GB
        return ["granted"], []

    return attempt
