"""Tuning: the best settings for some data, honestly found. Optuna comes with the extra `tune`."""
