"""One adapter a matcher: a network frame goes in once, then points in and path and points out."""
