"""The verbs, one module each, over the store and the two models."""
