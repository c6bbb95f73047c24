-- The kinds of headers that a trace comes in. The library has the same list.

return { "traceparent", "b3", "b3_single", "aws", "gcp", "datadog", "jaeger" }
