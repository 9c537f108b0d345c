"""Contracts of the middle: the strategy protocol, what it may ask, budget, price, settings."""
