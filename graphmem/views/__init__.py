"""Provenance for people to look at; built from values alone."""
