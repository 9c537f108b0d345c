"""What happens to a context, told to logs, to OpenTelemetry and to trace files."""
