"""Reports on what happens to a context: standard logging, OpenTelemetry, trace files."""
