"""The engine: it climbs the ladder of strategies, and writes the receipt."""
