"""What makes a text relevant: its terms, names, language, and words of alarm."""
