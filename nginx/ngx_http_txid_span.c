/*
 * $txid_otlp: the span of a request as a line of a log.
 */

#include "ngx_http_txid.h"


static ngx_inline void
ngx_http_txid_set_text(txid_text *text, const ngx_str_t *str)
{
    text->len = str->len;
    text->data = (char *) str->data;
}


/* The values of txid_span_attr, in memory of the request. */
static ngx_int_t
ngx_http_txid_set_attributes(ngx_http_request_t *r, const ngx_array_t *list,
    txid_span_texts *texts)
{
    ngx_str_t                  value;
    ngx_uint_t                 i;
    txid_attribute            *attribute;
    ngx_http_txid_span_attr_t *attr;

    attribute = ngx_palloc(r->pool, list->nelts * sizeof(txid_attribute));
    if (attribute == NULL) {
        return NGX_ERROR;
    }

    attr = list->elts;
    for (i = 0; i < list->nelts; i++) {
        if (ngx_http_complex_value(r, &attr[i].value, &value) != NGX_OK) {
            return NGX_ERROR;
        }
        ngx_http_txid_set_text(&attribute[i].key, &attr[i].key);
        ngx_http_txid_set_text(&attribute[i].value, &value);
    }

    texts->attributes = attribute;
    texts->attribute_count = list->nelts;
    return NGX_OK;
}


static ngx_int_t
ngx_http_txid_set_texts(ngx_http_request_t *r, const txid_span *span, txid_span_texts *texts)
{
    ngx_str_t                         name;
    ngx_http_variable_value_t         tracestate;
    ngx_http_core_srv_conf_t         *cscf;
    ngx_http_txid_loc_conf_t         *tlcf;
    ngx_http_txid_main_conf_t        *tmcf;
    const ngx_http_variable_value_t  *id;

    static ngx_str_t  http = ngx_string("http");
#if (NGX_SSL || NGX_COMPAT)
    static ngx_str_t  https = ngx_string("https");
#endif

    ngx_memzero(texts, sizeof(txid_span_texts));

    tmcf = ngx_http_get_module_main_conf(r, ngx_http_txid_module);
    tlcf = ngx_http_get_module_loc_conf(r, ngx_http_txid_module);
    cscf = ngx_http_get_module_srv_conf(r, ngx_http_core_module);

    ngx_http_txid_set_text(&texts->service, &tmcf->span_service);
    ngx_http_txid_set_text(&texts->method, &r->method_name);
    ngx_http_txid_set_text(&texts->path, &r->unparsed_uri);
    ngx_http_txid_set_text(&texts->scheme, &http);
#if (NGX_SSL || NGX_COMPAT)
    if (r->connection->ssl) {
        ngx_http_txid_set_text(&texts->scheme, &https);
    }
#endif
    ngx_http_txid_set_text(&texts->host, r->headers_in.server.len ? &r->headers_in.server
                                                                  : &cscf->server_name);
    ngx_http_txid_set_text(&texts->client, &r->connection->addr_text);
    ngx_http_txid_set_text(&texts->protocol, &r->http_protocol);
    if (r->headers_in.user_agent) {
        ngx_http_txid_set_text(&texts->user_agent, &r->headers_in.user_agent->value);
    }

    id = ngx_http_txid_kept_id(r);
    if (!id->not_found) {
        texts->request_id.len = id->len;
        texts->request_id.data = (char *) id->data;
    }

    if (span->is_continued) {
        if (ngx_http_txid_tracestate(r, &tracestate, 0) != NGX_OK) {
            return NGX_ERROR;
        }
        if (!tracestate.not_found) {
            texts->tracestate.len = tracestate.len;
            texts->tracestate.data = (char *) tracestate.data;
        }
    }

    /* As in $status. */
    texts->status = r->err_status ? r->err_status : r->headers_out.status;
    texts->start_ms = (uint64_t) r->start_sec * 1000 + r->start_msec;

    if (tlcf->span_name) {
        if (ngx_http_complex_value(r, tlcf->span_name, &name) != NGX_OK) {
            return NGX_ERROR;
        }
        ngx_http_txid_set_text(&texts->name, &name);
    }

    if (tlcf->span_attrs) {
        return ngx_http_txid_set_attributes(r, tlcf->span_attrs, texts);
    }
    return NGX_OK;
}


/* Not inlined, because most of its room stays untouched, and those without a line need none. */
static ngx_int_t __attribute__((noinline))
ngx_http_txid_write_line(ngx_http_request_t *r, const txid_span *span,
    ngx_http_variable_value_t *v)
{
    char              line[TXID_SPAN_LINE_MAX_LEN];
    size_t            len;
    u_char           *text;
    txid_span_texts   texts;

    if (ngx_http_txid_set_texts(r, span, &texts) != NGX_OK) {
        return NGX_ERROR;
    }

    len = txid_span_line(span, &texts, line);
    text = ngx_pnalloc(r->pool, len);
    if (text == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(text, line, len);
    ngx_txid_set(v, text, len);
    return NGX_OK;
}


ngx_int_t
ngx_http_txid_otlp(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data)
{
    const txid_span  *span;

    ngx_txid_set(v, (u_char *) "", 0);

    /* A subrequest has no span. Not kept, because the variable is that of the main request. */
    if (r != r->main) {
        v->valid = 0;
        return NGX_OK;
    }

    span = ngx_http_txid_kept_span(r);
    if (span == NULL || span->of != TXID_SPAN_OF_THIS_HOP || !ngx_txid_is_recorded(span)) {
        v->not_found = 1;
        return NGX_OK;
    }
    return ngx_http_txid_write_line(r, span, v);
}


char *
ngx_http_txid_span_attr(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_txid_loc_conf_t  *tlcf = conf;

    ngx_str_t                         *words;
    ngx_http_txid_span_attr_t         *attr;
    ngx_http_compile_complex_value_t   ccv;

    if (tlcf->span_attrs == NULL) {
        tlcf->span_attrs = ngx_array_create(cf->pool, 4, sizeof(ngx_http_txid_span_attr_t));
        if (tlcf->span_attrs == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    attr = ngx_array_push(tlcf->span_attrs);
    if (attr == NULL) {
        return NGX_CONF_ERROR;
    }

    words = cf->args->elts;
    attr->key = words[1];
    ngx_memzero(&ccv, sizeof(ngx_http_compile_complex_value_t));
    ccv.cf = cf;
    ccv.value = &words[2];
    ccv.complex_value = &attr->value;
    return ngx_http_compile_complex_value(&ccv) == NGX_OK ? NGX_CONF_OK : NGX_CONF_ERROR;
}
