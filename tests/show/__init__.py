"""The show command: a tiny project on disk, the screen, and the page in a real browser."""
