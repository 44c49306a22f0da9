"""Review by people: a page that asks them for scores, and the way their scores come back.

python -m pipeline review export helsinki --raters H1,H2,H3
python -m pipeline review import helsinki-H1.jsonl helsinki-H2.jsonl
"""
