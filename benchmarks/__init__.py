"""Benchmarks: ratios measured in one run on one machine. ``make bench``; never part of the tests."""
