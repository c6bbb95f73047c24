/*
 * The directives that set options of the policy. Written by `make headers` from
 * src/request/options.rs: do not edit.
 */
    ngx_http_txid_policy_option("txid_header", NGX_CONF_1MORE),
    ngx_http_txid_policy_option("txid_accept", NGX_CONF_1MORE),
    ngx_http_txid_policy_option("txid_on_invalid", NGX_CONF_TAKE1),
    ngx_http_txid_policy_option("txid_trace", NGX_CONF_1MORE),
    ngx_http_txid_policy_option("txid_trace_span", NGX_CONF_TAKE1),
    ngx_http_txid_policy_option("txid_trace_id_header", NGX_CONF_TAKE1),
    ngx_http_txid_policy_option("txid_trace_ids", NGX_CONF_1MORE),
    ngx_http_txid_policy_option("txid_trace_random_flag", NGX_CONF_TAKE1),
    ngx_http_txid_policy_option("txid_trace_pass_others", NGX_CONF_TAKE1),
