"""What the operating system and the machine provide: CPUs, instruction sets, locks, progress, checks of values."""
