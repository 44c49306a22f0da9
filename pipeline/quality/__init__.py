"""From annotated to released texts: checks, judging, agreement, human review."""
