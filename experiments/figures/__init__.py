"""What the pages say in figures, a module a page; fill_figures.py writes it there."""
