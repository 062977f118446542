"""What the paper's abstract, evaluation and conclusion say in numbers, and whether it holds here."""
