"""Outputs: what tools wrote, taken apart by its kind into lines that can be kept one by one."""
