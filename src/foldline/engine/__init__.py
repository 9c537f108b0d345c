"""The engine, which runs the ladder of strategies and builds the receipt."""
