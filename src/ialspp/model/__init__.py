"""The model: training, what it learned, and the queries it answers."""
