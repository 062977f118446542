"""The model: training, what it learned, and the questions it answers."""
