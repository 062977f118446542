"""The machine and the process: CPUs, instruction sets, locks, progress, checks of settings."""
