"""The paper's figures, drawn from a run with matplotlib."""
