"""Seeded random torch programs as data: a list of (feature, seed) pairs and what interprets it."""
