#include "ngx_txid.h"


/* Variables that need no directive, in addition to $txid. */
const ngx_txid_format_t  ngx_txid_formats[] = {
    { ngx_string("txid_strong"), ngx_string("strong") },
    { ngx_string("txid_uuid_v1"), ngx_string("uuid_v1") },
    { ngx_string("txid_uuid_v4"), ngx_string("uuid_v4") },
    { ngx_string("txid_uuid_v7"), ngx_string("uuid_v7") },
    { ngx_string("txid_flake"), ngx_string("flake") },
    { ngx_string("txid_unique_id"), ngx_string("unique_id") },
    { ngx_null_string, ngx_null_string }
};


#define part(text)         offsetof(txid_span, text), sizeof(((txid_span *) 0)->text), 0, 0
#define optional(text)     offsetof(txid_span, text), 0, offsetof(txid_span, text ## _len), 0
#define made(kind)         0, 0, 0, kind

/* In addition to $txid_trace_id, the beginning of a span. */
const ngx_txid_part_t  ngx_txid_parts[] = {
    { ngx_string("txid_span_id"), part(span_id) },
    { ngx_string("txid_parent_span_id"), optional(parent_span_id) },
    { ngx_string("txid_traceparent"), part(traceparent) },
    { ngx_string("txid_trace_sampled"), made(TXID_SPAN_KIND_TRACE_SAMPLED) },
    { ngx_string("txid_b3"), optional(b3) },
    { ngx_string("txid_b3_sampled"), optional(sampled) },
    { ngx_string("txid_b3_flags"), optional(flags) },
    { ngx_string("txid_amzn_trace_id"), made(TXID_SPAN_KIND_AWS) },
    { ngx_string("txid_cloud_trace_context"), made(TXID_SPAN_KIND_GCP) },
    { ngx_string("txid_uber_trace_id"), made(TXID_SPAN_KIND_JAEGER) },
    { ngx_string("txid_datadog_trace_id"), made(TXID_SPAN_KIND_DATADOG_TRACE_ID) },
    { ngx_string("txid_datadog_parent_id"), made(TXID_SPAN_KIND_DATADOG_PARENT_ID) },
    { ngx_string("txid_datadog_sampling_priority"), made(TXID_SPAN_KIND_DATADOG_PRIORITY) },
    { ngx_string("txid_datadog_tags"), made(TXID_SPAN_KIND_DATADOG_TAGS) },
    { ngx_null_string, 0, 0, 0, 0 }
};


static void
ngx_txid_close_generator(void *generator)
{
    txid_generator_close(generator);
}


/*
 * The generator lives as long as the configuration. Each worker is a child, and so continues with a
 * generator of its own.
 */
txid_generator *
ngx_txid_open_generator(ngx_conf_t *cf)
{
    ngx_pool_cleanup_t  *cleanup;

    cleanup = ngx_pool_cleanup_add(cf->pool, 0);
    if (cleanup == NULL) {
        return NULL;
    }

    cleanup->handler = ngx_txid_close_generator;
    cleanup->data = txid_generator_open();
    return cleanup->data;
}


static void
ngx_txid_close_maker(void *maker)
{
    txid_maker_close(maker);
}


/*
 * Returns the maker, which lives as long as the configuration; or writes the message, if opening
 * has failed.
 */
static txid_maker *
ngx_txid_keep_maker(ngx_conf_t *cf, int32_t rc, txid_maker *maker, const char *message)
{
    ngx_pool_cleanup_t  *cleanup;

    if (rc != 0) {
        ngx_txid_conf_error(cf, "%s", message);
        return NULL;
    }

    cleanup = ngx_pool_cleanup_add(cf->pool, 0);
    if (cleanup == NULL) {
        txid_maker_close(maker);
        return NULL;
    }

    cleanup->handler = ngx_txid_close_maker;
    cleanup->data = maker;
    return maker;
}


/*
 * The first word is the name of the format, and the others are its options. "nginx -t" and
 * "nginx -s" make no id, and so no file.
 */
txid_maker *
ngx_txid_open_maker(ngx_conf_t *cf, const ngx_str_t *words, size_t count)
{
    char         message[TXID_MESSAGE_LEN];
    int32_t      rc;
    txid_maker  *maker;

    rc = txid_maker_open(ngx_txid_text(words), count,
                         ngx_test_config || ngx_process == NGX_PROCESS_SIGNALLER, &maker, message);
    return ngx_txid_keep_maker(cf, rc, maker, message);
}


/* For a format whose options are in its name, if it has any. */
txid_maker *
ngx_txid_name_maker(ngx_conf_t *cf, const ngx_str_t *format)
{
    char         message[TXID_MESSAGE_LEN];
    int32_t      rc;
    txid_maker  *maker;

    rc = txid_maker_named((char *) format->data, format->len, &maker, message);
    return ngx_txid_keep_maker(cf, rc, maker, message);
}


ngx_int_t
ngx_txid_make(const txid_maker *maker, ngx_pool_t *pool, ngx_log_t *log, ngx_variable_value_t *v)
{
    char         message[TXID_MESSAGE_LEN];
    bool         guessable;
    u_char      *id;
    int32_t      len;

    static bool  said;

    id = ngx_pnalloc(pool, TXID_MAX_LEN);
    if (id == NULL) {
        return NGX_ERROR;
    }

    guessable = false;
    len = txid_maker_fill(maker, ngx_txid_clock_ms(), (char *) id, &guessable, message);
    ngx_txid_set(v, id, ngx_max(len, 0));

    if (len < 0) {
        v->not_found = 1;
        ngx_log_error(NGX_LOG_ERR, log, 0, "txid: no id: %s", message);
    }

    if (guessable && !said) {
        said = true;
        ngx_log_error(NGX_LOG_CRIT, log, 0,
                      "txid: the operating system gave no randomness, so ids could be guessed");
    }
    return NGX_OK;
}


static void
ngx_txid_close_times(void *times)
{
    txid_times_close(times);
}


/* Opens a list of formats that lives as long as the configuration. */
ngx_int_t
ngx_txid_open_times(ngx_conf_t *cf, const ngx_str_t *formats, size_t count, bool is_only,
    txid_times **times)
{
    char                 message[TXID_MESSAGE_LEN];
    ngx_pool_cleanup_t  *cleanup;

    cleanup = ngx_pool_cleanup_add(cf->pool, 0);
    if (cleanup == NULL) {
        return NGX_ERROR;
    }

    if (txid_times_open(ngx_txid_text(formats), count, is_only, times, message) != 0) {
        ngx_txid_conf_error(cf, "%s", message);
        return NGX_ERROR;
    }

    cleanup->handler = ngx_txid_close_times;
    cleanup->data = *times;
    return NGX_OK;
}


/*
 * Notes a format that this server makes: its words become name(option=value,...). The array has one
 * ngx_str_t for each.
 */
ngx_int_t
ngx_txid_note_made(ngx_conf_t *cf, ngx_array_t **made, const ngx_str_t *words, size_t count)
{
    u_char     *end;
    size_t      i, len;
    ngx_str_t  *format;

    if (*made == NULL) {
        *made = ngx_array_create(cf->pool, 4, sizeof(ngx_str_t));
        if (*made == NULL) {
            return NGX_ERROR;
        }
    }

    format = ngx_array_push(*made);
    if (format == NULL) {
        return NGX_ERROR;
    }

    *format = words[0];
    if (count == 1) {
        return NGX_OK;
    }

    len = 0;
    for (i = 0; i < count; i++) {
        len += words[i].len + 1;
    }

    format->data = ngx_pnalloc(cf->pool, len);
    if (format->data == NULL) {
        return NGX_ERROR;
    }

    end = ngx_cpymem(format->data, words[0].data, words[0].len);
    for (i = 1; i < count; i++) {
        *end++ = i == 1 ? '(' : ',';
        end = ngx_cpymem(end, words[i].data, words[i].len);
    }
    *end++ = ')';
    format->len = end - format->data;
    return NGX_OK;
}


/*
 * A time without a format of its own gets the formats that the server makes, $txid always among
 * them.
 */
ngx_int_t
ngx_txid_init_times(ngx_conf_t *cf, ngx_array_t **made, ngx_txid_time_t *list)
{
    txid_times       *times;
    ngx_txid_time_t  *time;

    static ngx_str_t  txid = ngx_string("txid");

    if (list == NULL) {
        return NGX_OK;
    }

    if (ngx_txid_note_made(cf, made, &txid, 1) != NGX_OK
        || ngx_txid_open_times(cf, (*made)->elts, (*made)->nelts, false, &times) != NGX_OK)
    {
        return NGX_ERROR;
    }

    for (time = list; time; time = time->next) {
        if (time->times == NULL) {
            time->times = times;
        }
    }
    return NGX_OK;
}


/* The arguments of txid_time: $source $name [ms | iso8601] [format=FORMAT]. */
ngx_txid_time_t *
ngx_txid_time_words(ngx_conf_t *cf, ngx_txid_time_t **list, ngx_str_t *source, ngx_str_t *name)
{
    ngx_str_t         format, *words, *word;
    ngx_uint_t        i;
    ngx_txid_time_t  *time;

    words = cf->args->elts;
    if (ngx_txid_variable_name(cf, &words[1], source) != NGX_OK
        || ngx_txid_variable_name(cf, &words[2], name) != NGX_OK)
    {
        return NULL;
    }

    time = ngx_pcalloc(cf->pool, sizeof(ngx_txid_time_t));
    if (time == NULL) {
        return NULL;
    }

    time->next = *list;
    *list = time;

    for (i = 3; i < cf->args->nelts; i++) {
        word = &words[i];

        if (ngx_strcmp(word->data, "iso8601") == 0 && i == 3) {
            time->iso8601 = true;

        } else if (ngx_strcmp(word->data, "ms") == 0 && i == 3) {
            time->iso8601 = false;

        } else if (ngx_strncmp(word->data, "format=", 7) == 0) {
            if (i != cf->args->nelts - 1) {
                ngx_txid_conf_error(cf, "\"%V\" must come last", word);
                return NULL;
            }

            format.len = word->len - 7;
            format.data = word->data + 7;
            if (ngx_txid_open_times(cf, &format, 1, true, &time->times) != NGX_OK) {
                return NULL;
            }

        } else if (i == 3) {
            ngx_txid_conf_error(cf, "\"%V\" is neither ms, iso8601 nor format=...", word);
            return NULL;

        } else {
            ngx_txid_conf_error(cf, "\"%V\" is not format=...", word);
            return NULL;
        }
    }
    return time;
}


static void
ngx_txid_close_hidden(void *hidden)
{
    txid_hidden_close(hidden);
}


/*
 * The arguments of txid_hide and txid_reveal: $source $name option... The key lives as long as the
 * configuration, and workers inherit it.
 */
ngx_txid_hidden_t *
ngx_txid_hidden_words(ngx_conf_t *cf, ngx_str_t *name, ngx_str_t *source)
{
    char                 message[TXID_MESSAGE_LEN];
    ngx_str_t           *words;
    ngx_txid_hidden_t   *hidden;
    ngx_pool_cleanup_t  *cleanup;

    words = cf->args->elts;
    if (ngx_txid_variable_name(cf, &words[1], source) != NGX_OK
        || ngx_txid_variable_name(cf, &words[2], name) != NGX_OK)
    {
        return NULL;
    }

    hidden = ngx_pcalloc(cf->pool, sizeof(ngx_txid_hidden_t));
    cleanup = ngx_pool_cleanup_add(cf->pool, 0);
    if (hidden == NULL || cleanup == NULL) {
        return NULL;
    }

    /* "nginx -s" hides nothing, and need not be allowed to read the key. */
    if (ngx_process != NGX_PROCESS_SIGNALLER) {
        if (txid_hidden_open(ngx_txid_text(&words[3]), cf->args->nelts - 3, &hidden->hidden,
                             message)
            != 0)
        {
            ngx_txid_conf_error(cf, "%s", message);
            return NULL;
        }

        if (!txid_hidden_is_locked(hidden->hidden, message)) {
            ngx_conf_log_error(NGX_LOG_WARN, cf, 0, "%V: %s", &words[0], message);
        }

        cleanup->handler = ngx_txid_close_hidden;
        cleanup->data = hidden->hidden;
    }

    hidden->reveals = ngx_strcmp(words[0].data, "txid_reveal") == 0;
    return hidden;
}


ngx_int_t
ngx_txid_show_hidden(const ngx_txid_hidden_t *hidden, const ngx_variable_value_t *source,
    ngx_pool_t *pool,
    ngx_log_t *log, ngx_variable_value_t *v)
{
    char         message[TXID_MESSAGE_LEN];
    u_char      *text;
    int32_t      len;
    ngx_uint_t   level;

    v->not_found = 1;
    if (source == NULL || source->not_found || source->len == 0) {
        return NGX_OK;
    }

    text = ngx_pnalloc(pool, TXID_HIDDEN_LEN);
    if (text == NULL) {
        return NGX_ERROR;
    }

    if (!hidden->reveals) {
        len = txid_hidden_hide_text(hidden->hidden, (const char *) source->data, source->len,
                                    (char *) text, message);
        if (len < 0) {
            ngx_log_error(NGX_LOG_ERR, log, 0, "txid: not hidden: %s", message);
            return NGX_OK;
        }

    } else {
        len = txid_hidden_reveal_text(hidden->hidden, (const char *) source->data, source->len,
                                      (char *) text, message);
        if (len < 0) {
            /* A client may send anything, but has no part in the key. */
            level = len == TXID_ERROR_OTHER_KEY ? NGX_LOG_ERR : NGX_LOG_INFO;
            ngx_log_error(level, log, 0, "txid: not revealed: %s", message);
            return NGX_OK;
        }
    }

    ngx_txid_set(v, text, len);
    return NGX_OK;
}


ngx_int_t
ngx_txid_variable_name(ngx_conf_t *cf, const ngx_str_t *word, ngx_str_t *name)
{
    if (word->len < 2 || word->data[0] != '$') {
        ngx_txid_conf_error(cf, "\"%V\" is not a variable: write $name", word);
        return NGX_ERROR;
    }

    name->len = word->len - 1;
    name->data = word->data + 1;
    return NGX_OK;
}
