"""Report of an experiment: tables, charts and the page that holds them."""
