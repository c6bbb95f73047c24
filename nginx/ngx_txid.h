/*
 * Shared by the http and the stream module.
 */

#ifndef NGX_TXID_H
#define NGX_TXID_H


#include <ngx_config.h>
#include <ngx_core.h>

#define TXID_NGINX
#include "txid-internal.h"


/* A txid_text has the layout of an ngx_str_t. */
#define ngx_txid_text(str)  ((const txid_text *) (str))

_Static_assert(sizeof(txid_text) == sizeof(ngx_str_t)
               && offsetof(txid_text, len) == offsetof(ngx_str_t, len)
               && offsetof(txid_text, data) == offsetof(ngx_str_t, data),
               "a txid_text is an ngx_str_t");


/* Other modules, and nginx itself, have variables that may be replaced by mistake. */
#define ngx_txid_is_taken  "\"$%V\" is already defined: choose another name"

/* The first of cf->args is the directive. */
#define ngx_txid_conf_error(cf, format, arg)                                                       \
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "%V: " format, cf->args->elts, arg)


/* The directives that add variables, for http and stream. */
#define ngx_txid_command(name, arguments, set)                                                     \
    { ngx_string(name), arguments, set, 0, 0, NULL }

#define ngx_txid_commands(main, variable, time, hidden)                                            \
    ngx_txid_command("txid_variable", main|NGX_CONF_2MORE, variable),                              \
    ngx_txid_command("txid_time", main|NGX_CONF_TAKE23|NGX_CONF_TAKE4, time),                      \
    ngx_txid_command("txid_hide", main|NGX_CONF_2MORE, hidden),                                    \
    ngx_txid_command("txid_reveal", main|NGX_CONF_2MORE, hidden)


/* A variable with ids: of a format, or txids of a generator. */
typedef struct {
    txid_maker       *maker;
    txid_generator   *generator;
    ngx_int_t         index;
} ngx_txid_ids_t;


/*
 * A variable with the time of the id in another variable. Unless the directive names a format, ids
 * are read as those that this server makes, and then as others.
 */
typedef struct ngx_txid_time_s  ngx_txid_time_t;

struct ngx_txid_time_s {
    ngx_int_t         source;
    txid_times       *times;
    /* The next one in the list of all. */
    ngx_txid_time_t  *next;
    bool              iso8601;
};


typedef struct {
    ngx_str_t      name;
    ngx_str_t      format;
} ngx_txid_format_t;


/*
 * A variable with a part of a span. len_at is the offset of the length of the part in the span, or
 * 0. Where len is 0 as well, the header of this kind is made of the span.
 */
typedef struct {
    ngx_str_t      name;
    size_t         at;
    size_t         len;
    size_t         len_at;
    int32_t        kind;
} ngx_txid_part_t;


/* Hides the number or the UUID in a variable, or reveals it. */
typedef struct {
    txid_hidden   *hidden;
    ngx_uint_t     reveals;
    ngx_int_t      source;
} ngx_txid_hidden_t;


/* Hidden, because nginx makes the symbols of each module visible to all others. */
#pragma GCC visibility push(hidden)

extern const ngx_txid_format_t  ngx_txid_formats[];
extern const ngx_txid_part_t    ngx_txid_parts[];

txid_generator *ngx_txid_open_generator(ngx_conf_t *cf);
txid_maker *ngx_txid_open_maker(ngx_conf_t *cf, const ngx_str_t *words, size_t count);
txid_maker *ngx_txid_name_maker(ngx_conf_t *cf, const ngx_str_t *format);
ngx_int_t ngx_txid_make(const txid_maker *maker, ngx_pool_t *pool, ngx_log_t *log,
    ngx_variable_value_t *v);

ngx_int_t ngx_txid_open_times(ngx_conf_t *cf, const ngx_str_t *formats, size_t count, bool is_only,
    txid_times **times);
ngx_int_t ngx_txid_note_made(ngx_conf_t *cf, ngx_array_t **made, const ngx_str_t *words,
    size_t count);
ngx_txid_time_t *ngx_txid_time_words(ngx_conf_t *cf, ngx_txid_time_t **list, ngx_str_t *source,
    ngx_str_t *name);
ngx_int_t ngx_txid_init_times(ngx_conf_t *cf, ngx_array_t **made, ngx_txid_time_t *list);
ngx_txid_hidden_t *ngx_txid_hidden_words(ngx_conf_t *cf, ngx_str_t *name, ngx_str_t *source);
ngx_int_t ngx_txid_show_hidden(const ngx_txid_hidden_t *hidden, const ngx_variable_value_t *source,
    ngx_pool_t *pool,
    ngx_log_t *log, ngx_variable_value_t *v);
ngx_int_t ngx_txid_variable_name(ngx_conf_t *cf, const ngx_str_t *word, ngx_str_t *name);

#pragma GCC visibility pop


static ngx_inline void
ngx_txid_set(ngx_variable_value_t *v, const u_char *data, size_t len)
{
    v->len = len;
    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;
    v->escape = 0;
    v->data = (u_char *) data;
}


/* ngx_current_msec does not count from 1970. */
static ngx_inline int64_t
ngx_txid_clock_ms(void)
{
    ngx_time_t  *now;

    now = ngx_timeofday();
    return (int64_t) now->sec * 1000 + now->msec;
}


static ngx_inline ngx_int_t
ngx_txid_make_txid(const txid_generator *generator, ngx_pool_t *pool, ngx_variable_value_t *v)
{
    u_char  *id;

    id = ngx_pnalloc(pool, TXID_LEN);
    if (id == NULL) {
        return NGX_ERROR;
    }

    ngx_txid_set(v, id, TXID_LEN);
    txid_generator_fill(generator, ngx_txid_clock_ms(), (char *) id);
    return NGX_OK;
}


static ngx_inline ngx_int_t
ngx_txid_read_time(const ngx_variable_value_t *id, const ngx_txid_time_t *time, ngx_pool_t *pool,
    ngx_variable_value_t *v)
{
    size_t   len;
    u_char  *text;

    if (id == NULL || id->not_found) {
        v->not_found = 1;
        return NGX_OK;
    }

    text = ngx_pnalloc(pool, TXID_TIME_LEN);
    if (text == NULL) {
        return NGX_ERROR;
    }

    len = txid_time_in(time->times, (const char *) id->data, id->len, time->iso8601,
                       (char *) text);
    if (len == 0) {
        v->not_found = 1;
        return NGX_OK;
    }

    ngx_txid_set(v, text, len);
    return NGX_OK;
}


_Static_assert(offsetof(txid_span, trace_id) == 0, "a span begins with its trace's id");


/* The value of $txid_trace_id is the beginning of the span, and the rest of the span follows it. */
static ngx_inline void
ngx_txid_keep_span(const txid_span *span, ngx_variable_value_t *v)
{
    ngx_txid_set(v, span->trace_id, sizeof(span->trace_id));
}


static ngx_inline const txid_span *
ngx_txid_kept_span(const ngx_variable_value_t *v)
{
    return v == NULL || v->not_found ? NULL : (const txid_span *) v->data;
}


/* Whether its traceparent says so. */
static ngx_inline bool
ngx_txid_is_recorded(const txid_span *span)
{
    return span->traceparent[TXID_TRACEPARENT_LEN - 1] & 1;
}


static ngx_inline ngx_int_t
ngx_txid_read_part(const txid_span *span, const ngx_txid_part_t *part, ngx_pool_t *pool,
    ngx_variable_value_t *v)
{
    u_char        *text;
    const u_char  *bytes;
    size_t         len;

    if (part->len == 0 && part->len_at == 0) {
        text = ngx_pnalloc(pool, TXID_SPAN_HEADER_MAX_LEN);
        if (text == NULL) {
            return NGX_ERROR;
        }
        ngx_txid_set(v, text, txid_span_header(span, part->kind, (char *) text));
        v->not_found = v->len == 0;
        return NGX_OK;
    }

    bytes = (const u_char *) span;
    len = part->len_at ? bytes[part->len_at] : part->len;
    ngx_txid_set(v, bytes + part->at, len);
    v->not_found = len == 0;
    return NGX_OK;
}


#endif
