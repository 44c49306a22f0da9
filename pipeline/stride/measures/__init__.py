"""The 20 measures of STRIDE by axis, as the published scorer computes them, and corrected ones."""
