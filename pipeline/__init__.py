"""Build and score language-trajectory benchmarks: raw GPS in, validated benchmark out.

Read `stages.py` (the journey) and `records.py` (the life of an item) first.
"""
