"""Show one trip's whole life: on the screen, as JSON, and as a map in one HTML file.

python -m pipeline show monaco 1372636858620000589 --page trip.html
"""
