/*
 * Puts the request's id into the response. This filter runs after nginx's own headers filter, so
 * that it also replaces a header that add_header or the upstream has set.
 */

#include "ngx_http_txid.h"


static ngx_http_output_header_filter_pt  ngx_http_next_header_filter;
#if (NGX_HTTP_TXID_EARLY_HINTS)
static ngx_http_output_header_filter_pt  ngx_http_next_early_hints_filter;
#endif


static void
ngx_http_txid_remove(ngx_http_request_t *r, const ngx_str_t *name)
{
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    for (part = &r->headers_out.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            if (h[i].key.len == name->len
                && ngx_strncasecmp(h[i].key.data, name->data, name->len) == 0)
            {
                h[i].hash = 0;
            }
        }
    }
}


static ngx_int_t
ngx_http_txid_put(ngx_http_request_t *r)
{
    ngx_str_t                        *name;
    ngx_table_elt_t                  *h;
    ngx_http_txid_loc_conf_t         *tlcf;
    ngx_http_txid_srv_conf_t         *tscf;
    const ngx_http_variable_value_t  *id;

    tlcf = ngx_http_get_module_loc_conf(r, ngx_http_txid_module);
    name = &tlcf->response_header;
    if (tlcf->handle && name->data == NULL) {
        tscf = ngx_http_get_module_srv_conf(r, ngx_http_txid_module);
        name = &tscf->response_header;
    }
    if (name->len == 0 || r != r->main) {
        return NGX_OK;
    }

    id = ngx_http_txid_kept_id(r);
    if (id->not_found) {
        return NGX_ERROR;
    }

    ngx_http_txid_remove(r, name);

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    h->hash = 1;
#if (nginx_version >= 1023000)
    h->next = NULL;
#endif
    h->key = *name;
    h->value.len = id->len;
    h->value.data = id->data;
    return NGX_OK;
}


static ngx_int_t
ngx_http_txid_header_filter(ngx_http_request_t *r)
{
    return ngx_http_txid_put(r) == NGX_OK ? ngx_http_next_header_filter(r) : NGX_ERROR;
}


#if (NGX_HTTP_TXID_EARLY_HINTS)

static ngx_int_t
ngx_http_txid_early_hints_filter(ngx_http_request_t *r)
{
    return ngx_http_txid_put(r) == NGX_OK ? ngx_http_next_early_hints_filter(r) : NGX_ERROR;
}

#endif


void
ngx_http_txid_init_header_filter(void)
{
    ngx_http_next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = ngx_http_txid_header_filter;

#if (NGX_HTTP_TXID_EARLY_HINTS)
    ngx_http_next_early_hints_filter = ngx_http_top_early_hints_filter;
    ngx_http_top_early_hints_filter = ngx_http_txid_early_hints_filter;
#endif
}
