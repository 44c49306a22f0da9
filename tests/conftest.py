"""What holds for every test: none fails because the machine is slow."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
