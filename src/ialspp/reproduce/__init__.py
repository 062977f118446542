"""The paper's evaluation, measured again: from a data set to figures, tables and claims."""
