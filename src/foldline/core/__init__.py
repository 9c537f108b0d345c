"""The pure middle: standard library only, no I/O, no clock, no logging."""
