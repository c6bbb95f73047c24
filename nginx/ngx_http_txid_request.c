/*
 * Reads the id and the trace that a request carries.
 */

#include "ngx_http_txid.h"


/* A header that a trace comes in, and its place in txid_headers. */
typedef struct {
    ngx_http_txid_name_t   name;
    size_t                 at;
    u_char                 text[TXID_TRACE_HEADER_MAX_LEN];
} ngx_http_txid_trace_header_t;


static ngx_http_txid_trace_header_t  ngx_http_txid_trace_headers[TXID_TRACE_HEADERS];

/* The header of each place by these bits of the hash: no two have the same, and few others. */
#define ngx_http_txid_place(hash)  (((hash) >> 3) & 127)

static ngx_http_txid_trace_header_t  *ngx_http_txid_trace_header_of[128];


ngx_int_t
ngx_http_txid_hash_trace_headers(ngx_conf_t *cf)
{
    ngx_uint_t                      i;
    ngx_http_txid_trace_header_t   *known;
    ngx_http_txid_trace_header_t  **place;

    for (i = 0; i < TXID_TRACE_HEADERS; i++) {
        known = &ngx_http_txid_trace_headers[i];
        known->at = offsetof(txid_headers, of_trace) + i * sizeof(txid_header);
        known->name.name.data = known->text;
        known->name.name.len = txid_trace_header(i, (char *) known->text);

        if (known->name.name.len == 0) {
            continue;
        }

        known->name.hash = ngx_hash_key(known->text, known->name.name.len);
        place = &ngx_http_txid_trace_header_of[ngx_http_txid_place(known->name.hash)];
        if (*place != NULL && *place != known) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "txid: \"%V\" and \"%V\" have one place",
                &(*place)->name.name, &known->name.name);
            return NGX_ERROR;
        }
        *place = known;
    }
    return NGX_OK;
}


/*
 * The peer of the connection. If realip has replaced its address, the original one is in a
 * variable. If that cannot be read, the peer is one that only "all" contains: c->sockaddr may be
 * forged by the client.
 */
static ngx_inline void
ngx_http_txid_find_peer(ngx_http_request_t *r, txid_peer *peer)
{
    ngx_connection_t           *c;
    ngx_http_variable_t        *realip;
    ngx_http_txid_main_conf_t  *tmcf;
    ngx_http_variable_value_t   v;

    c = r->connection;
    peer->sockaddr = c->sockaddr;

    tmcf = ngx_http_get_module_main_conf(r, ngx_http_txid_module);
    realip = tmcf->realip;
    if (realip == NULL) {
        return;
    }

    /* Not kept for the request, so that realip may still replace the address. */
    v.not_found = 0;
    if (realip->get_handler(r, &v, realip->data) != NGX_OK || v.not_found) {
        peer->sockaddr = NULL;
        peer->text.len = 0;

    } else if (v.data != c->addr_text.data) {
        peer->sockaddr = NULL;
        peer->text.len = v.len;
        peer->text.data = (char *) v.data;
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


static ngx_inline void
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


_Static_assert(TXID_TRACE_HEADERS == 20, "the loop is unrolled");


/* No value of a header that is not there is read. Rolled up, it takes 30 instructions more. */
static ngx_inline void
ngx_http_txid_no_trace(txid_header *of_trace)
{
    ngx_uint_t  i;

#pragma GCC unroll 20
    for (i = 0; i < TXID_TRACE_HEADERS; i++) {
        of_trace[i].count = 0;
    }
}


/* Returns 0, and leaves the headers unset, if the request has none of them. */
static ngx_uint_t
ngx_http_txid_find_trace(ngx_http_request_t *r, const ngx_http_txid_srv_conf_t *tscf,
    txid_headers *headers)
{
    ngx_uint_t                     i, any;
    txid_header                   *header;
    ngx_list_part_t               *part;
    ngx_table_elt_t               *h;
    ngx_http_txid_trace_header_t  *known;

    any = 0;

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            known = ngx_http_txid_trace_header_of[ngx_http_txid_place(h[i].hash)];

            if (known == NULL && h[i].hash != tscf->trace_id_header.hash) {
                continue;
            }

            if (known && ngx_http_txid_is(&h[i], &known->name)) {
                header = (txid_header *) ((u_char *) headers + known->at);

            } else if (ngx_http_txid_is(&h[i], &tscf->trace_id_header)) {
                header = &headers->of_trace[0];

            } else {
                continue;
            }

            if (!any) {
                ngx_http_txid_no_trace(headers->of_trace);
                any = 1;
            }
            ngx_http_txid_add(header, &h[i]);
        }
    }
    return any;
}


/* All values of a header that is a list. nginx joins them itself only since 1.23. */
ngx_int_t
ngx_http_txid_join_headers(ngx_http_request_t *r, const ngx_str_t *lowcase_name,
    ngx_http_variable_value_t *v)
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


/*
 * The first valid id in the other headers, after this verdict on the first one. Not inlined: most
 * servers have none.
 */
static ngx_int_t __attribute__((noinline))
ngx_http_txid_judge_others(ngx_http_request_t *r, const ngx_http_txid_srv_conf_t *tscf,
    ngx_int_t verdict, txid_header *header)
{
    txid_peer   peer;
    ngx_uint_t  i;

    for (i = 0; i < TXID_OTHER_IDS && tscf->other_headers[i].name.len; i++) {
        ngx_http_txid_find_id(r, &tscf->other_headers[i], header);
        if (header->count == 0) {
            continue;
        }

        ngx_http_txid_find_peer(r, &peer);
        verdict = txid_policy_judge(tscf->policy, &peer, header);
        if (verdict == TXID_VERDICT_ACCEPTED) {
            break;
        }
    }
    return verdict;
}


/* Returns a txid_verdict. */
static ngx_inline ngx_int_t
ngx_http_txid_judge(ngx_http_request_t *r, const ngx_http_txid_srv_conf_t *tscf,
    txid_header *header)
{
    ngx_int_t  verdict;
    txid_peer  peer;

    if (tscf->trusts_nobody) {
        return TXID_VERDICT_NEW;
    }

    verdict = TXID_VERDICT_NEW;
    ngx_http_txid_find_id(r, &tscf->header, header);
    if (header->count) {
        ngx_http_txid_find_peer(r, &peer);
        verdict = txid_policy_judge(tscf->policy, &peer, header);
    }

    if (verdict != TXID_VERDICT_ACCEPTED && tscf->has_other_headers) {
        return ngx_http_txid_judge_others(r, tscf, verdict, header);
    }
    return verdict;
}


ngx_uint_t
ngx_http_txid_sent_invalid_id(ngx_http_request_t *r)
{
    txid_header                header;
    ngx_http_txid_srv_conf_t  *tscf;

    tscf = ngx_http_get_module_srv_conf(r, ngx_http_txid_module);
    return ngx_http_txid_judge(r, tscf, &header) == TXID_VERDICT_INVALID;
}


ngx_int_t
ngx_http_txid_read_id(ngx_http_request_t *r, ngx_http_variable_value_t *v)
{
    txid_header                 header;
    const txid_span            *span;
    ngx_http_txid_srv_conf_t   *tscf;
    ngx_http_txid_main_conf_t  *tmcf;

    tscf = ngx_http_get_module_srv_conf(r, ngx_http_txid_module);

    if (ngx_http_txid_judge(r, tscf, &header) == TXID_VERDICT_ACCEPTED) {
        ngx_txid_set(v, (u_char *) header.value.data, header.value.len);
        return NGX_OK;
    }

    if (tscf->of_trace) {
        span = ngx_http_txid_kept_span(r);
        if (span == NULL) {
            return NGX_ERROR;
        }
        ngx_txid_keep_span(span, v);
        return NGX_OK;
    }

    if (tscf->maker != NULL) {
        return ngx_txid_make(tscf->maker, r->pool, r->connection->log, v);
    }

    tmcf = ngx_http_get_module_main_conf(r, ngx_http_txid_module);
    return ngx_txid_make_txid(tmcf->generator, r->pool, v);
}


/* Returns 0, or a txid_error with its message. */
int32_t
ngx_http_txid_check_sample(const ngx_str_t *sample, char *message)
{
    int32_t       rc;
    txid_policy  *policy;

    policy = txid_policy_open();
    rc = txid_policy_set(policy, "sample", sizeof("sample") - 1, ngx_txid_text(sample), 1, message);
    txid_policy_close(policy);
    return rc;
}


/* Not inlined, because of the room for its message. */
static void __attribute__((noinline))
ngx_http_txid_warn_of_sample(ngx_http_request_t *r, const ngx_str_t *sample)
{
    char  message[TXID_MESSAGE_LEN];

    static bool  said;

    if (!said && ngx_http_txid_check_sample(sample, message) != 0) {
        said = true;
        ngx_log_error(NGX_LOG_WARN, r->connection->log, 0,
                      "txid_sample: %s; such traces are recorded", message);
    }
}


/* The share of this location, which a variable may have. */
static ngx_inline ngx_int_t
ngx_http_txid_decide(ngx_http_request_t *r, ngx_http_complex_value_t *sample, txid_span *span)
{
    ngx_str_t  value;

    if (ngx_http_complex_value(r, sample, &value) != NGX_OK) {
        return NGX_ERROR;
    }
    if (!txid_span_decide(span, (const char *) value.data, value.len)) {
        ngx_http_txid_warn_of_sample(r, &value);
    }
    return NGX_OK;
}


ngx_int_t
ngx_http_txid_read_span(ngx_http_request_t *r, ngx_http_variable_value_t *v)
{
    txid_span                 *span;
    txid_peer                  peer;
    txid_headers               headers;
    ngx_http_txid_loc_conf_t  *tlcf;
    ngx_http_txid_srv_conf_t  *tscf;

    span = ngx_palloc(r->pool, sizeof(txid_span));
    if (span == NULL) {
        return NGX_ERROR;
    }

    tscf = ngx_http_get_module_srv_conf(r, ngx_http_txid_module);

    if (!tscf->trusts_nobody && tscf->traces && ngx_http_txid_find_trace(r, tscf, &headers)) {
        ngx_http_txid_find_peer(r, &peer);
        txid_span_continue(tscf->policy, ngx_txid_clock_ms(), &peer, &headers, span);

    } else {
        txid_span_start(tscf->policy, ngx_txid_clock_ms(), span);
    }

    tlcf = ngx_http_get_module_loc_conf(r, ngx_http_txid_module);
    if (tlcf->sample != NULL && span->open
        && ngx_http_txid_decide(r, tlcf->sample, span) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_txid_keep_span(span, v);
    return NGX_OK;
}


/*
 * The variable is read here, because ngx_http_get_indexed_variable() takes 40 instructions more. As
 * there, one that failed is not tried again: an access log has already counted the length of its
 * line.
 */
static ngx_inline ngx_http_variable_value_t *
ngx_http_txid_kept(ngx_http_request_t *r, ngx_uint_t index,
    ngx_int_t (*read)(ngx_http_request_t *r, ngx_http_variable_value_t *v))
{
    ngx_http_variable_value_t  *v;

    v = &r->variables[index];
    if (!v->valid && !v->not_found && read(r, v) != NGX_OK) {
        v->not_found = 1;
    }
    return v;
}


const ngx_http_variable_value_t *
ngx_http_txid_kept_id(ngx_http_request_t *r)
{
    ngx_http_txid_main_conf_t  *tmcf;

    tmcf = ngx_http_get_module_main_conf(r, ngx_http_txid_module);
    return ngx_http_txid_kept(r, tmcf->request, ngx_http_txid_read_id);
}


const txid_span *
ngx_http_txid_kept_span(ngx_http_request_t *r)
{
    ngx_http_txid_main_conf_t  *tmcf;

    tmcf = ngx_http_get_module_main_conf(r, ngx_http_txid_module);
    return ngx_txid_kept_span(ngx_http_txid_kept(r, tmcf->span, ngx_http_txid_read_span));
}
