"""Core contracts: the strategy protocol, Asks, budget, price, settings."""
