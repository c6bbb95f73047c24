/*
 * Reads the id and the trace that a request carries.
 */

#include "ngx_http_txid.h"


/*
 * The peer of the connection. If realip has replaced its address, the original one is in a variable. If that cannot be
 * read, the peer is one that only "all" contains: c->sockaddr may be what the client made up.
 */
void
ngx_http_txid_find_peer(ngx_http_request_t *r, txid_peer *peer)
{
    ngx_connection_t           *c;
    ngx_http_variable_value_t  *vv;
    ngx_http_txid_main_conf_t  *tmcf;

    c = r->connection;
    peer->sockaddr = c->sockaddr;

    tmcf = ngx_http_get_module_main_conf(r, ngx_http_txid_module);
    if (tmcf->realip == NGX_DECLINED) {
        return;
    }

    vv = ngx_http_get_indexed_variable(r, tmcf->realip);
    if (vv == NULL || vv->not_found) {
        peer->sockaddr = NULL;
        peer->text.len = 0;

    } else if (vv->data != c->addr_text.data) {
        peer->sockaddr = NULL;
        peer->text.len = vv->len;
        peer->text.data = (char *) vv->data;
    }
}


/* X_Request_Id is not X-Request-Id, and a removed header has no hash. */
static ngx_uint_t
ngx_http_txid_is(const ngx_table_elt_t *h, const ngx_str_t *lowcase_name, ngx_uint_t hash)
{
    return h->hash == hash && h->key.len == lowcase_name->len
           && ngx_strncmp(h->lowcase_key, lowcase_name->data, lowcase_name->len) == 0;
}


void
ngx_http_txid_find_header(ngx_http_request_t *r, const ngx_str_t *lowcase_name, ngx_uint_t hash, txid_header *header)
{
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    header->count = 0;

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            if (ngx_http_txid_is(&h[i], lowcase_name, hash)) {
                header->count++;
                header->value.len = h[i].value.len;
                header->value.data = (char *) h[i].value.data;
            }
        }
    }
}


/* All values of a header that is a list. nginx joins them itself only since 1.23. */
ngx_int_t
ngx_http_txid_join_headers(ngx_http_request_t *r, const ngx_str_t *lowcase_name, ngx_http_variable_value_t *v)
{
    u_char           *joined, *end;
    size_t            len;
    ngx_uint_t        i, hash;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    len = 0;
    end = NULL;
    joined = NULL;
    hash = ngx_hash_key(lowcase_name->data, lowcase_name->len);

    for ( ;; ) {
        for (part = &r->headers_in.headers.part; part; part = part->next) {
            h = part->elts;

            for (i = 0; i < part->nelts; i++) {
                if (!ngx_http_txid_is(&h[i], lowcase_name, hash)) {
                    continue;
                }
                if (joined == NULL) {
                    len += h[i].value.len + 1;
                    continue;
                }
                if (end != joined) {
                    *end++ = ',';
                }
                end = ngx_cpymem(end, h[i].value.data, h[i].value.len);
            }
        }

        if (joined != NULL || len == 0) {
            break;
        }

        joined = ngx_pnalloc(r->pool, len);
        if (joined == NULL) {
            return NGX_ERROR;
        }
        end = joined;
    }

    ngx_txid_set(v, joined, end - joined);
    v->not_found = len == 0;
    return NGX_OK;
}


txid_verdict
ngx_http_txid_judge(ngx_http_request_t *r, txid_header *header)
{
    txid_peer                  peer;
    ngx_http_txid_srv_conf_t  *tscf;

    tscf = ngx_http_get_module_srv_conf(r, ngx_http_txid_module);
    if (tscf->accept == NULL) {
        return TXID_VERDICT_NEW;
    }

    ngx_http_txid_find_header(r, &tscf->header, tscf->header_hash, header);
    if (header->count == 0) {
        return TXID_VERDICT_NEW;
    }

    ngx_http_txid_find_peer(r, &peer);
    return txid_judge(tscf->accept, &peer, header);
}


ngx_int_t
ngx_http_txid_read_span(ngx_http_request_t *r, ngx_http_variable_value_t *v)
{
    txid_span                 *span;
    txid_peer                  peer;
    ngx_uint_t                 i;
    txid_header                headers[TXID_TRACE_HEADERS];
    ngx_http_txid_srv_conf_t  *tscf;

    /* In the order of txid_span_continue. */
    static const ngx_str_t     names[TXID_TRACE_HEADERS] = {
        ngx_string("traceparent"), ngx_string("b3"), ngx_string("x-b3-traceid"), ngx_string("x-b3-spanid"),
        ngx_string("x-b3-parentspanid"), ngx_string("x-b3-sampled"), ngx_string("x-b3-flags")
    };

    span = ngx_palloc(r->pool, sizeof(txid_span));
    if (span == NULL) {
        return NGX_ERROR;
    }

    tscf = ngx_http_get_module_srv_conf(r, ngx_http_txid_module);
    ngx_http_txid_find_peer(r, &peer);

    if (tscf->trace == 0 || tscf->accept == NULL || !txid_networks_contain(tscf->accept, &peer)) {
        txid_span_start(span);

    } else {
        for (i = 0; i < TXID_TRACE_HEADERS; i++) {
            ngx_http_txid_find_header(r, &names[i], ngx_hash_key(names[i].data, names[i].len), &headers[i]);
        }
        txid_span_continue(tscf->trace - 1, headers, span);
    }

    ngx_txid_keep_span(span, v);
    return NGX_OK;
}
