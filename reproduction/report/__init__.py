"""A run as a page of HTML and as a summary in Markdown."""
