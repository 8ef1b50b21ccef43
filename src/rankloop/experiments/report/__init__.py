"""The report: tables, charts and the page that holds them."""
