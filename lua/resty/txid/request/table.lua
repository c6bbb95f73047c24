-- The options of a policy, and the headers that cannot carry an id. Written by `make headers` from src/request/: do not
-- edit.

return {
    options = {
        {
            name = "header",
            takes = "words",
            expected = 'the name of a header or a list of names',
            default = "X-Request-Id",
            is_of_lua = true,
            is_of_policy = true,
        },
        {
            name = "accept",
            takes = "networks",
            expected = 'true, false, a list of networks or a function',
            default = false,
            is_of_policy = true,
        },
        {
            name = "on_invalid",
            takes = "word",
            expected = '"replace" or "reject"',
            default = "replace",
            is_of_policy = true,
        },
        {
            name = "valid",
            takes = "text",
            expected = 'a regular expression or a function',
            default = false,
        },
        {
            name = "format",
            takes = "text",
            expected = 'the name of a format or a function',
            default = "txid",
        },
        {
            name = "trace",
            takes = "words",
            expected = '"off", "traceparent", "b3", "b3_single", "aws", "gcp", "datadog", "jaeger" or a list of these',
            default = "off",
            is_of_policy = true,
        },
        {
            name = "trace_span",
            takes = "word",
            expected = '"new" or "pass"',
            default = "new",
            is_of_policy = true,
        },
        {
            name = "trace_id_header",
            takes = "name_or_off",
            expected = 'the name of a header or false',
            default = false,
            is_of_policy = true,
        },
        {
            name = "trace_ids",
            takes = "words",
            expected = '"random", "sorted_seconds", "sorted" or { "sorted", "epoch=DAY" }',
            default = "random",
            is_of_policy = true,
        },
        {
            name = "trace_random_flag",
            takes = "switch",
            expected = 'true or false',
            default = true,
            is_of_policy = true,
        },
        {
            name = "trace_pass_others",
            takes = "switch",
            expected = 'true or false',
            default = false,
            is_of_policy = true,
        },
        {
            name = "sample",
            takes = "word",
            expected = '"off", a ratio such as "1%" or "1/1000", or "$variable"',
            default = "off",
            is_of_policy = true,
        },
        {
            name = "server_timing",
            takes = "switch",
            expected = 'true or false',
            default = false,
        },
        {
            name = "response",
            takes = "switch",
            expected = 'true or false',
            default = true,
            is_of_lua = true,
        },
        {
            name = "upstream",
            takes = "switch",
            expected = 'true or false',
            default = true,
            is_of_lua = true,
        },
    },
    most_headers = 4,
    reserved = [[
        accept age allow alt-svc authorization b3 cache-control connection cookie date depth destination etag expect
        expires forwarded from host http2-settings keep-alive last-event-id last-modified link location max-forwards
        origin overwrite pragma range referer refresh retry-after server set-cookie status strict-transport-security
        sw8 te traceparent tracestate trailer transfer-encoding uber-trace-id upgrade user-agent vary via
        www-authenticate x-amzn-trace-id x-cloud-trace-context x-real-ip
    ]],
    reserved_beginnings = [[
        accept- access-control- content- if- proxy- sec- sw8- x-accel- x-b3- x-datadog- x-forwarded- x-sendfile
    ]],
}
