/*
 * Reads the id and the trace that a request carries.
 */

#include "ngx_http_txid.h"


/* A header that a trace comes in, and its place in txid_headers. */
typedef struct {
    ngx_http_txid_name_t   name;
    size_t                 at;
} ngx_http_txid_trace_header_t;


#define trace_header(text, field)  { { ngx_string(text), 0 }, offsetof(txid_headers, field) }

static ngx_http_txid_trace_header_t  ngx_http_txid_trace_headers[] = {
    trace_header("traceparent", traceparent),
    trace_header("b3", b3),
    trace_header("x-b3-traceid", x_b3_trace_id),
    trace_header("x-b3-spanid", x_b3_span_id),
    trace_header("x-b3-parentspanid", x_b3_parent_span_id),
    trace_header("x-b3-sampled", x_b3_sampled),
    trace_header("x-b3-flags", x_b3_flags),
    { { ngx_null_string, 0 }, 0 }
};


/* A bit for each hash modulo 64: most other headers are told from these by one test. */
static uint64_t  ngx_http_txid_trace_bits;

#define hash_bit(hash)  ((uint64_t) 1 << ((hash) & 63))


void
ngx_http_txid_init_request(void)
{
    ngx_http_txid_trace_header_t  *known;

    for (known = ngx_http_txid_trace_headers; known->name.name.len; known++) {
        known->name.hash = ngx_hash_key(known->name.name.data, known->name.name.len);
        ngx_http_txid_trace_bits |= hash_bit(known->name.hash);
    }
}


/*
 * The peer of the connection. If realip has replaced its address, the original one is in a variable. If that cannot be
 * read, the peer is one that only "all" contains: c->sockaddr may be what the client made up.
 */
static void
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
static ngx_inline ngx_uint_t
ngx_http_txid_is(const ngx_table_elt_t *h, const ngx_http_txid_name_t *name)
{
    return h->hash == name->hash && h->key.len == name->name.len
           && ngx_memcmp(h->lowcase_key, name->name.data, name->name.len) == 0;
}


static ngx_inline void
ngx_http_txid_add(txid_header *header, const ngx_table_elt_t *h)
{
    header->count++;
    header->value.len = h->value.len;
    header->value.data = (char *) h->value.data;
}


static void
ngx_http_txid_find_id(ngx_http_request_t *r, const ngx_http_txid_name_t *name, txid_header *header)
{
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    header->count = 0;

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            if (ngx_http_txid_is(&h[i], name)) {
                ngx_http_txid_add(header, &h[i]);
            }
        }
    }
}


static void
ngx_http_txid_find_trace(ngx_http_request_t *r, const ngx_http_txid_name_t *trace_id, txid_headers *headers)
{
    ngx_uint_t                      i;
    ngx_list_part_t                *part;
    ngx_table_elt_t                *h;
    ngx_http_txid_trace_header_t   *known;

    ngx_memzero(headers, sizeof(txid_headers));

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            if (ngx_http_txid_is(&h[i], trace_id)) {
                ngx_http_txid_add(&headers->trace_id, &h[i]);
            }

            if (!(ngx_http_txid_trace_bits & hash_bit(h[i].hash))) {
                continue;
            }

            for (known = ngx_http_txid_trace_headers; known->name.name.len; known++) {
                if (ngx_http_txid_is(&h[i], &known->name)) {
                    ngx_http_txid_add((txid_header *) ((u_char *) headers + known->at), &h[i]);
                    break;
                }
            }
        }
    }
}


/* All values of a header that is a list. nginx joins them itself only since 1.23. */
ngx_int_t
ngx_http_txid_join_headers(ngx_http_request_t *r, const ngx_str_t *lowcase_name, ngx_http_variable_value_t *v)
{
    u_char                *joined, *end;
    size_t                 len;
    ngx_uint_t             i;
    ngx_list_part_t       *part;
    ngx_table_elt_t       *h;
    ngx_http_txid_name_t   name;

    len = 0;
    end = NULL;
    joined = NULL;
    name.name = *lowcase_name;
    name.hash = ngx_hash_key(lowcase_name->data, lowcase_name->len);

    for ( ;; ) {
        for (part = &r->headers_in.headers.part; part; part = part->next) {
            h = part->elts;

            for (i = 0; i < part->nelts; i++) {
                if (!ngx_http_txid_is(&h[i], &name)) {
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


/* Returns a txid_verdict. */
ngx_int_t
ngx_http_txid_judge(ngx_http_request_t *r, txid_header *header)
{
    txid_peer                  peer;
    ngx_http_txid_srv_conf_t  *tscf;

    tscf = ngx_http_get_module_srv_conf(r, ngx_http_txid_module);
    if (!tscf->accepts) {
        return TXID_VERDICT_NEW;
    }

    ngx_http_txid_find_id(r, &tscf->header, header);
    if (header->count == 0) {
        return TXID_VERDICT_NEW;
    }

    ngx_http_txid_find_peer(r, &peer);
    return txid_policy_judge(tscf->policy, &peer, header);
}


ngx_int_t
ngx_http_txid_read_span(ngx_http_request_t *r, ngx_http_variable_value_t *v)
{
    txid_span                 *span;
    txid_peer                  peer;
    txid_headers               headers;
    ngx_http_txid_srv_conf_t  *tscf;

    span = ngx_palloc(r->pool, sizeof(txid_span));
    if (span == NULL) {
        return NGX_ERROR;
    }

    tscf = ngx_http_get_module_srv_conf(r, ngx_http_txid_module);

    if (tscf->accepts && tscf->traces) {
        ngx_http_txid_find_peer(r, &peer);
        ngx_http_txid_find_trace(r, &tscf->trace_id_header, &headers);
        txid_span_continue(tscf->policy, ngx_txid_clock_ms(), &peer, &headers, span);

    } else {
        txid_span_start(tscf->policy, ngx_txid_clock_ms(), span);
    }

    ngx_txid_keep_span(span, v);
    return NGX_OK;
}
