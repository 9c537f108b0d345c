"""Reports on context events: standard logging, OpenTelemetry, trace files."""
