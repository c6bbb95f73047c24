/*
 * Reads the id and the trace that a request carries.
 */

#include "ngx_http_txid.h"


/* The names of the headers of traces at their places. Those before them are a server's own. */
static ngx_http_txid_name_t  ngx_http_txid_trace_headers[TXID_PLACES];
static u_char  ngx_http_txid_trace_texts[TXID_PLACES][TXID_TRACE_HEADER_MAX_LEN];

/* The place of each by these bits of its hash: no two have the same, and few others. */
#define ngx_http_txid_slot(hash)  (((hash) >> 3) & 127)

static u_char  ngx_http_txid_slots[128];


ngx_int_t
ngx_http_txid_hash_trace_headers(ngx_conf_t *cf)
{
    u_char                *slot;
    ngx_uint_t             place;
    ngx_http_txid_name_t  *known;

    for (place = TXID_IDS + 1; place < TXID_PLACES; place++) {
        known = &ngx_http_txid_trace_headers[place];
        known->name.data = ngx_http_txid_trace_texts[place];
        known->name.len = txid_trace_header(place, (char *) known->name.data);
        known->hash = ngx_hash_key(known->name.data, known->name.len);

        slot = &ngx_http_txid_slots[ngx_http_txid_slot(known->hash)];
        if (*slot != 0 && *slot != place) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "txid: \"%V\" and \"%V\" have one slot",
                &ngx_http_txid_trace_headers[*slot].name, &known->name);
            return NGX_ERROR;
        }
        *slot = place;
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


/* Returns the place of a header, or -1. */
static ngx_inline __attribute__((always_inline)) ngx_int_t
ngx_http_txid_place(const ngx_http_txid_srv_conf_t *tscf, const ngx_table_elt_t *h,
    ngx_uint_t ids, ngx_uint_t traces)
{
    ngx_uint_t  i;

    if (ids) {
        if (ngx_http_txid_is(h, &tscf->names[0])) {
            return 0;
        }
        for (i = 1; i < tscf->ids; i++) {
            if (ngx_http_txid_is(h, &tscf->names[i])) {
                return i;
            }
        }
    }

    if (traces) {
        i = ngx_http_txid_slots[ngx_http_txid_slot(h->hash)];
        if (i && ngx_http_txid_is(h, &ngx_http_txid_trace_headers[i])) {
            return i;
        }
        if (ngx_http_txid_is(h, &tscf->names[TXID_IDS])) {
            return TXID_IDS;
        }
    }
    return -1;
}


/* Not inlined, so that others save no registers for it. */
static ngx_uint_t __attribute__((noinline))
ngx_http_txid_accepts(ngx_http_request_t *r, ngx_http_complex_value_t *accept)
{
    ngx_str_t  value;

    return ngx_http_complex_value(r, accept, &value) == NGX_OK && value.len == 1
           && value.data[0] == '1';
}


/* Says what came, and who sent it. */
static ngx_inline __attribute__((always_inline)) void
ngx_http_txid_know(ngx_http_request_t *r, const ngx_http_txid_srv_conf_t *tscf,
    txid_request *request, uint32_t came, uint32_t repeated)
{
    request->came = came;
    request->repeated = repeated;

    if (came == 0) {
        return;
    }

    request->judges = false;
    request->trust = -1;
    if (tscf->accept) {
        request->trust = ngx_http_txid_accepts(r, tscf->accept) ? 1 : -1;

    } else if (!tscf->trusts_nobody) {
        request->trust = 0;
        ngx_http_txid_find_peer(r, &request->peer);
    }
}


/* Finds the headers that the policy looks at. Inlined, because the flags are constants. */
static ngx_inline __attribute__((always_inline)) void
ngx_http_txid_find(ngx_http_request_t *r, const ngx_http_txid_srv_conf_t *tscf,
    txid_request *request, ngx_uint_t ids, ngx_uint_t traces)
{
    uint32_t          came, repeated;
    ngx_int_t         place;
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    came = 0;
    repeated = 0;

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            place = ngx_http_txid_place(tscf, &h[i], ids, traces);
            if (place != -1) {
                repeated |= came & (1 << place);
                came |= 1 << place;
                request->values[place].len = h[i].value.len;
                request->values[place].data = (char *) h[i].value.data;
            }
        }
    }

    ngx_http_txid_know(r, tscf, request, came, repeated);
}


static void __attribute__((noinline))
ngx_http_txid_find_ids(ngx_http_request_t *r, const ngx_http_txid_srv_conf_t *tscf,
    txid_request *request)
{
    ngx_http_txid_find(r, tscf, request, 1, 0);
}


/* Finds the only header with an id: most servers have no other. */
static ngx_inline __attribute__((always_inline)) void
ngx_http_txid_find_id(ngx_http_request_t *r, const ngx_http_txid_srv_conf_t *tscf,
    txid_request *request)
{
    ngx_uint_t        i, count;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h, *found;

    count = 0;
    found = NULL;

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            if (ngx_http_txid_is(&h[i], &tscf->names[0])) {
                found = &h[i];
                count++;
            }
        }
    }

    if (found) {
        request->values[0].len = found->value.len;
        request->values[0].data = (char *) found->value.data;
    }
    ngx_http_txid_know(r, tscf, request, found != NULL, count > 1);
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


/* Returns a txid_verdict. */
static ngx_inline __attribute__((always_inline)) ngx_int_t
ngx_http_txid_judge(ngx_http_request_t *r, const ngx_http_txid_srv_conf_t *tscf,
    txid_decision *decision)
{
    txid_request  request;

    if (tscf->trusts_nobody) {
        return TXID_VERDICT_NEW;
    }

    if (tscf->ids == 1) {
        ngx_http_txid_find_id(r, tscf, &request);

    } else {
        ngx_http_txid_find_ids(r, tscf, &request);
    }

    if (request.came == 0) {
        return TXID_VERDICT_NEW;
    }
    return txid_decide(tscf->policy, 0, &request, TXID_WANTS_ID, decision);
}


/* Returns whether the client sent an invalid id, and the name of its header. */
ngx_uint_t
ngx_http_txid_sent_invalid_id(ngx_http_request_t *r, ngx_str_t *name)
{
    txid_decision              decision;
    ngx_http_txid_srv_conf_t  *tscf;

    tscf = ngx_http_get_module_srv_conf(r, ngx_http_txid_module);
    if (ngx_http_txid_judge(r, tscf, &decision) != TXID_VERDICT_INVALID) {
        return 0;
    }

    txid_policy_header(tscf->policy, decision.about, (txid_text *) name);
    return 1;
}


/* The id that is kept after this verdict, or a new one. */
static ngx_inline __attribute__((always_inline)) ngx_int_t
ngx_http_txid_set_id(ngx_http_request_t *r, const ngx_http_txid_srv_conf_t *tscf, ngx_int_t verdict,
    const txid_decision *decision, ngx_http_variable_value_t *v)
{
    const txid_span            *span;
    ngx_http_txid_main_conf_t  *tmcf;

    if (verdict == TXID_VERDICT_ACCEPTED) {
        ngx_txid_set(v, (u_char *) decision->id.data, decision->id.len);
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


ngx_int_t
ngx_http_txid_read_id(ngx_http_request_t *r, ngx_http_variable_value_t *v)
{
    ngx_int_t                  verdict;
    txid_decision              decision;
    ngx_http_txid_srv_conf_t  *tscf;

    tscf = ngx_http_get_module_srv_conf(r, ngx_http_txid_module);
    verdict = ngx_http_txid_judge(r, tscf, &decision);
    return ngx_http_txid_set_id(r, tscf, verdict, &decision, v);
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
                      "txid_sample: %s; such traces are sampled", message);
    }
}


/* Decides about the span in memory of the request. */
static ngx_inline ngx_int_t
ngx_http_txid_set_span(ngx_http_request_t *r, const ngx_http_txid_srv_conf_t *tscf,
    txid_request *request, ngx_http_variable_value_t *v)
{
    ngx_str_t                  sample;
    txid_decision              decision;
    ngx_http_txid_loc_conf_t  *tlcf;

    decision.span = ngx_palloc(r->pool, sizeof(txid_span));
    if (decision.span == NULL) {
        return NGX_ERROR;
    }

    tlcf = ngx_http_get_module_loc_conf(r, ngx_http_txid_module);
    request->share = tlcf->share;

    if (tlcf->sample != NULL) {
        if (ngx_http_complex_value(r, tlcf->sample, &sample) != NGX_OK) {
            return NGX_ERROR;
        }
        request->share = txid_share((const char *) sample.data, sample.len);
    }

    (void) txid_decide(tscf->policy, ngx_txid_clock_ms(), request, TXID_WANTS_SPAN, &decision);

    if (request->share < 0 && decision.span->open) {
        ngx_http_txid_warn_of_sample(r, &sample);
    }

    if (decision.span->of == TXID_SPAN_OF_NONE) {
        v->not_found = 1;
        return NGX_OK;
    }

    ngx_txid_keep_span(decision.span, v);
    return NGX_OK;
}


ngx_int_t
ngx_http_txid_read_span(ngx_http_request_t *r, ngx_http_variable_value_t *v)
{
    txid_request               request;
    ngx_http_txid_srv_conf_t  *tscf;

    tscf = ngx_http_get_module_srv_conf(r, ngx_http_txid_module);

    if (!tscf->trusts_nobody && tscf->traces) {
        ngx_http_txid_find(r, tscf, &request, 0, 1);

    } else {
        request.came = 0;
        request.repeated = 0;
    }

    return ngx_http_txid_set_span(r, tscf, &request, v);
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


/*
 * Removes an element of the list. Others do not move, because nginx points to some of them. A part
 * may be empty then.
 */
static ngx_int_t
ngx_http_txid_cut(ngx_list_t *list, ngx_list_part_t *part, ngx_uint_t i)
{
    ngx_list_part_t  *rest;

    if (i == part->nelts - 1) {
        part->nelts--;
        return NGX_OK;
    }

    if (i == 0) {
        part->elts = (u_char *) part->elts + list->size;
        part->nelts--;
        list->nalloc -= part == list->last;
        return NGX_OK;
    }

    rest = ngx_palloc(list->pool, sizeof(ngx_list_part_t));
    if (rest == NULL) {
        return NGX_ERROR;
    }

    rest->elts = (u_char *) part->elts + (i + 1) * list->size;
    rest->nelts = part->nelts - (i + 1);
    rest->next = part->next;
    part->nelts = i;
    part->next = rest;

    if (part == list->last) {
        list->last = rest;
        list->nalloc -= i + 1;
    }
    return NGX_OK;
}


/* Unlinks empty parts, in which nginx would read an element. A list of one part may be empty. */
static void
ngx_http_txid_unlink_empty_parts(ngx_list_t *list)
{
    ngx_list_part_t  *part, *next;

    part = &list->part;
    while (part->next) {
        next = part->next;

        if (next->nelts) {
            part = next;
            continue;
        }

        part->next = next->next;
        if (next == list->last) {
            list->last = part;
            /* A part has had room for an element. */
            list->nalloc = ngx_max(part->nelts, 1);
        }
    }

    part = &list->part;
    next = part->next;
    if (part->nelts == 0 && next) {
        *part = *next;
        if (next == list->last) {
            list->last = part;
        }
    }
}


/* The list of a subrequest begins with a copy of its parent's first part. */
static ngx_int_t
ngx_http_txid_copy_headers(ngx_http_request_t *r)
{
    ngx_uint_t        i;
    ngx_list_t        parents;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h, *copy;

    parents = r->headers_in.headers;
    if (ngx_list_init(&r->headers_in.headers, r->pool, 20, sizeof(ngx_table_elt_t)) != NGX_OK) {
        return NGX_ERROR;
    }

    for (part = &parents.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            copy = ngx_list_push(&r->headers_in.headers);
            if (copy == NULL) {
                return NGX_ERROR;
            }
            *copy = h[i];
        }
    }
    return NGX_OK;
}


/* Replaces and removes headers that came. Of what was replaced, no change is left. */
static ngx_int_t __attribute__((noinline))
ngx_http_txid_replace(ngx_http_request_t *r, const ngx_http_txid_srv_conf_t *tscf,
    txid_changed_headers *changes)
{
    size_t                c;
    ngx_int_t             place;
    ngx_uint_t            i;
    ngx_list_t           *list;
    ngx_list_part_t      *part;
    ngx_table_elt_t      *h;
    txid_changed_header  *change;

    list = &r->headers_in.headers;
    part = &list->part;
    i = 0;

    for ( ;; ) {
        if (i == part->nelts) {
            part = part->next;
            if (part == NULL) {
                break;
            }
            i = 0;
            continue;
        }

        h = (ngx_table_elt_t *) part->elts + i;
        place = ngx_http_txid_place(tscf, h, 1, tscf->traces);
        change = NULL;

        for (c = 0; place != -1 && c < changes->count; c++) {
            if (changes->list[c].place == (size_t) place) {
                change = &changes->list[c];
            }
        }

        if (change == NULL) {
            i++;

        } else if (change->value.data) {
            h->value.len = change->value.len;
            h->value.data = (u_char *) change->value.data;
            change->value.data = NULL;
            i++;

        } else if (ngx_http_txid_cut(list, part, i) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    ngx_http_txid_unlink_empty_parts(list);
    return NGX_OK;
}


static ngx_int_t
ngx_http_txid_add_header(ngx_http_request_t *r, const ngx_http_txid_srv_conf_t *tscf,
    const txid_changed_header *change)
{
    ngx_table_elt_t             *h;
    const ngx_http_txid_name_t  *name;

    h = ngx_list_push(&r->headers_in.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    name = change->place <= TXID_IDS ? &tscf->names[change->place]
                                     : &ngx_http_txid_trace_headers[change->place];
    h->hash = name->hash;
#if (nginx_version >= 1023000)
    h->next = NULL;
#endif
    h->key.len = change->name.len;
    h->key.data = (u_char *) change->name.data;
    h->lowcase_key = name->name.data;
    h->value.len = change->value.len;
    h->value.data = (u_char *) change->value.data;
    return NGX_OK;
}


/* Changes the headers of the request as it was decided. */
static ngx_int_t
ngx_http_txid_change(ngx_http_request_t *r, const ngx_http_txid_srv_conf_t *tscf, uint32_t came,
    txid_changed_headers *changes)
{
    u_char               *text;
    size_t                i;
    uint32_t              changed;
    txid_changed_header  *change;

    change = changes->list;
    changed = 0;
    text = changes->text;

    /* The id is kept, and the rest goes with the request. */
    if (changes->text_len) {
        text = ngx_pnalloc(r->pool, changes->text_len);
        if (text == NULL) {
            return NGX_ERROR;
        }
        ngx_memcpy(text, changes->text, changes->text_len);
    }

    for (i = 0; i < changes->count; i++) {
        changed |= 1 << change[i].place;
        if (change[i].place != 0 && change[i].value.data) {
            change[i].value.data += text - changes->text;
        }
    }

    /* In HTTP/0.9, and after a bad request line, there is no list yet. */
    if ((r != r->main || r->headers_in.headers.last == NULL)
        && ngx_http_txid_copy_headers(r) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if ((changed & came) && ngx_http_txid_replace(r, tscf, changes) != NGX_OK) {
        return NGX_ERROR;
    }

    for (i = 0; i < changes->count; i++) {
        if (change[i].value.data && ngx_http_txid_add_header(r, tscf, &change[i]) != NGX_OK) {
            return NGX_ERROR;
        }
    }
    return NGX_OK;
}


/* Decides about what the main request does not have yet, by the headers that are found already. */
static ngx_inline void
ngx_http_txid_decide(ngx_http_request_t *r, const ngx_http_txid_srv_conf_t *tscf,
    txid_request *request)
{
    ngx_int_t                   verdict;
    txid_decision               decision;
    ngx_http_txid_main_conf_t  *tmcf;
    ngx_http_variable_value_t  *v;

    tmcf = ngx_http_get_module_main_conf(r, ngx_http_txid_module);

    v = &r->variables[tmcf->span];
    if (tscf->spans && !v->valid && !v->not_found
        && ngx_http_txid_set_span(r, tscf, request, v) != NGX_OK)
    {
        v->not_found = 1;
    }

    v = &r->variables[tmcf->request];
    if (v->valid || v->not_found) {
        return;
    }

    verdict = TXID_VERDICT_NEW;
    if ((request->came & ((1 << TXID_IDS) - 1)) && !tscf->trusts_nobody) {
        verdict = txid_decide(tscf->policy, 0, request, TXID_WANTS_ID, &decision);
    }
    if (ngx_http_txid_set_id(r, tscf, verdict, &decision, v) != NGX_OK) {
        v->not_found = 1;
    }
}


/*
 * Sends the id and the span on. This runs in each location, when it is the one that answers: the
 * headers are those of this moment, and id and span those of the main request.
 */
ngx_int_t
ngx_http_txid_handle(ngx_http_request_t *r)
{
    txid_request                      request;
    txid_decision                     decision;
    txid_changed_headers              changes;
    ngx_http_txid_loc_conf_t         *tlcf;
    ngx_http_txid_srv_conf_t         *tscf;
    const ngx_http_variable_value_t  *id;

    tlcf = ngx_http_get_module_loc_conf(r, ngx_http_txid_module);
    if (!tlcf->handle) {
        return NGX_DECLINED;
    }

    tscf = ngx_http_get_module_srv_conf(r, ngx_http_txid_module);

    if (tscf->traces) {
        ngx_http_txid_find(r, tscf, &request, 1, 1);

    } else {
        ngx_http_txid_find(r, tscf, &request, 1, 0);
    }

    if (r == r->main) {
        ngx_http_txid_decide(r, tscf, &request);
    }

    id = ngx_http_txid_kept_id(r->main);
    decision.id.len = id->len;
    decision.id.data = (char *) id->data;
    decision.span = NULL;
    decision.changes = &changes;

    if (tscf->spans) {
        decision.span = (txid_span *) ngx_http_txid_kept_span(r->main);
    }

    /* No header of the client's goes on in their place. */
    if (id->not_found || (tscf->spans && decision.span == NULL)) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    (void) txid_decide(tscf->policy, 0, &request, TXID_WANTS_CHANGES, &decision);

    if (changes.count && ngx_http_txid_change(r, tscf, request.came, &changes) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
    return NGX_DECLINED;
}
