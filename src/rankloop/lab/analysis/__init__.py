"""Analysis: from flat rows to means, intervals and honest comparisons."""
