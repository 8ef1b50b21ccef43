"""Every test is seeded: Hypothesis tries the same examples each time."""

from hypothesis import settings

settings.register_profile("seeded", derandomize=True, deadline=None)
settings.load_profile("seeded")
