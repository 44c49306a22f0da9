"""What a change did: comparisons of versions, with their statistics held to arithmetic."""
