/*
 * The variables. They are indexed, so that they keep their values even if they are only accessed by
 * name, and they belong to the main request, because a subrequest may have its own variables.
 */

#include "ngx_http_txid.h"

#define ngx_txid_of(name)     ngx_http_ ## name
#define NGX_TXID_VAR(name)    NGX_HTTP_VAR_ ## name


static ngx_int_t
ngx_http_txid_of_main(ngx_http_request_t *r, ngx_http_variable_value_t *v, ngx_uint_t index)
{
    ngx_http_variable_value_t  *vv;

    vv = ngx_http_get_indexed_variable(r->main, index);
    if (vv == NULL) {
        return NGX_ERROR;
    }

    *v = *vv;
    return NGX_OK;
}


static ngx_int_t
ngx_http_txid_txid(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_txid_ids_t  *ids = (ngx_txid_ids_t *) data;

    if (r->variables != r->main->variables) {
        return ngx_http_txid_of_main(r, v, ids->index);
    }
    return ngx_txid_make_txid(ids->generator, r->pool, v);
}


static ngx_int_t
ngx_http_txid_ids(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_txid_ids_t  *ids = (ngx_txid_ids_t *) data;

    if (r->variables != r->main->variables) {
        return ngx_http_txid_of_main(r, v, ids->index);
    }
    return ngx_txid_make(ids->maker, r->pool, r->connection->log, v);
}


static ngx_int_t
ngx_http_txid_request_id(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_http_txid_main_conf_t  *tmcf;

    if (r->variables != r->main->variables) {
        tmcf = ngx_http_get_module_main_conf(r, ngx_http_txid_module);
        return ngx_http_txid_of_main(r, v, tmcf->request);
    }
    return ngx_http_txid_read_id(r->main, v);
}


static ngx_int_t
ngx_http_txid_trace_id(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_http_txid_main_conf_t  *tmcf;

    if (r->variables != r->main->variables) {
        tmcf = ngx_http_get_module_main_conf(r, ngx_http_txid_module);
        return ngx_http_txid_of_main(r, v, tmcf->span);
    }
    return ngx_http_txid_read_span(r->main, v);
}


static ngx_int_t
ngx_http_txid_part(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data)
{
    const ngx_txid_part_t  *part = (const ngx_txid_part_t *) data;

    const txid_span  *span;
    static ngx_str_t  tags = ngx_string("x-datadog-tags");

    span = ngx_http_txid_kept_span(r->main);
    if (span == NULL) {
        return NGX_ERROR;
    }

    if (span->of == TXID_SPAN_OF_TRACE) {
        v->not_found = 1;
        return NGX_OK;
    }

    if (span->is_datadog && part->kind == TXID_SPAN_KIND_DATADOG_TAGS) {
        return ngx_http_txid_join_headers(r->main, &tags, v);
    }
    return ngx_txid_read_part(span, part, r->pool, v);
}


/* As its tags, it is passed on only with its own trace. */
static ngx_int_t
ngx_http_txid_datadog_origin(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data)
{
    const txid_span  *span;
    static ngx_str_t  name = ngx_string("x-datadog-origin");

    span = ngx_http_txid_kept_span(r->main);
    if (span == NULL) {
        return NGX_ERROR;
    }
    if (!span->is_datadog) {
        v->not_found = 1;
        return NGX_OK;
    }
    return ngx_http_txid_join_headers(r->main, &name, v);
}


/* It is passed on only with the trace that it came with. */
ngx_int_t
ngx_http_txid_tracestate(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data)
{
    const txid_span  *span;
    static ngx_str_t  name = ngx_string("tracestate");

    /* The tracestate of a trace that begins here. */
    static const ngx_txid_part_t  own = { ngx_null_string, 0, 0, 0, TXID_SPAN_KIND_TRACESTATE };

    span = ngx_http_txid_kept_span(r->main);
    if (span == NULL) {
        return NGX_ERROR;
    }
    if (!span->is_continued) {
        return ngx_txid_read_part(span, &own, r->pool, v);
    }
    return ngx_http_txid_join_headers(r->main, &name, v);
}


static ngx_int_t
ngx_http_txid_read_time(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_txid_time_t  *time = (ngx_txid_time_t *) data;

    return ngx_txid_read_time(ngx_http_get_flushed_variable(r, time->source), time, r->pool, v);
}


static ngx_int_t
ngx_http_txid_find_hidden(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_txid_hidden_t  *hidden = (ngx_txid_hidden_t *) data;

    return ngx_txid_show_hidden(hidden, ngx_http_get_flushed_variable(r, hidden->source), r->pool,
        r->connection->log, v);
}


#include "ngx_txid_variables.h"


ngx_int_t
ngx_http_txid_add_variables(ngx_conf_t *cf)
{
    ngx_http_txid_main_conf_t  *tmcf;

    static ngx_str_t  request = ngx_string("request_txid");
    static ngx_str_t  tracestate = ngx_string("txid_tracestate");
    static ngx_str_t  origin = ngx_string("txid_datadog_origin");
    static ngx_str_t  otlp = ngx_string("txid_otlp");

    if (ngx_http_txid_add_common(cf) != NGX_OK) {
        return NGX_ERROR;
    }

    tmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_txid_module);
    /* Where this module is not, a map defines it for Lua. That map may stay. */
    tmcf->request_variable = ngx_http_add_variable(cf, &request, NGX_HTTP_VAR_CHANGEABLE);
    tmcf->request = ngx_http_get_variable_index(cf, &request);
    if (tmcf->request_variable == NULL || tmcf->request == NGX_ERROR
        || ngx_http_txid_add(cf, &origin, ngx_http_txid_datadog_origin, 0, NGX_HTTP_VAR_NOCACHEABLE)
           != NGX_OK
        || ngx_http_txid_add(cf, &otlp, ngx_http_txid_otlp, 0, 0) != NGX_OK)
    {
        return NGX_ERROR;
    }
    return ngx_http_txid_add(cf, &tracestate, ngx_http_txid_tracestate, 0,
        NGX_HTTP_VAR_NOCACHEABLE);
}


/*
 * Takes $request_txid back from a map. What writes to the variable itself is refused: the data of
 * set is the index, and named captures leave it out.
 */
ngx_int_t
ngx_http_txid_take_back(ngx_conf_t *cf, const ngx_http_txid_main_conf_t *tmcf)
{
    ngx_http_variable_t  *var = tmcf->request_variable;

    if (var->get_handler != NULL && (var->data == 0 || var->data == (uintptr_t) tmcf->request)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "\"$request_txid\" is ngx_http_txid_module's: "
                           "remove what sets it");
        return NGX_ERROR;
    }

    var->get_handler = ngx_http_txid_request_id;
    var->data = 0;
    var->flags = 0;
    return NGX_OK;
}


/*
 * Returns $realip_remote_addr, or NULL if there is no such variable, which is only known after all
 * modules have added theirs.
 */
ngx_http_variable_t *
ngx_http_txid_find_realip(ngx_conf_t *cf)
{
    ngx_uint_t                  i;
    ngx_hash_key_t             *key;
    ngx_http_core_main_conf_t  *cmcf;
    static ngx_str_t            name = ngx_string("realip_remote_addr");

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);
    key = cmcf->variables_keys->keys.elts;

    for (i = 0; i < cmcf->variables_keys->keys.nelts; i++) {
        if (key[i].key.len == name.len && ngx_strncmp(key[i].key.data, name.data, name.len) == 0) {
            return key[i].value;
        }
    }
    return NULL;
}
