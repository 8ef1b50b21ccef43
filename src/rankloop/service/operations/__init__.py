"""Operations: audit, explain, roll back, retain, and look at how everything is."""
