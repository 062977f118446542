"""What the attack `kills` strikes: fits with checkpoints, updates of one file, saves, exports."""
