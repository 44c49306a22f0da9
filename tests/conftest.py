"""What holds for every test: one distutils, and no test that fails because the machine is slow.

setuptools puts its own `distutils` in the place of Python's, and refuses to be imported once
another library has brought in that one; vLLM imports it, whatever ran before.
"""

import setuptools  # noqa: F401
from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
