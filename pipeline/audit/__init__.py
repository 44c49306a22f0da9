"""What a change did: two versions of the data side by side, and a release beside the last one."""
