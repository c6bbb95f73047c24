/*
 * The variables of a stream session.
 */

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_stream.h>

#include "ngx_txid.h"


typedef struct {
    /* The index of $txid_trace_id. */
    ngx_int_t         span;
    /* The formats that are made, one ngx_str_t for each, and the variables with times. */
    ngx_array_t      *made;
    ngx_txid_time_t  *times;
} ngx_stream_txid_main_conf_t;


static ngx_int_t ngx_stream_txid_add_variables(ngx_conf_t *cf);
static ngx_int_t ngx_stream_txid_init(ngx_conf_t *cf);
static void *ngx_stream_txid_create_main_conf(ngx_conf_t *cf);
static char *ngx_stream_txid_variable(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *ngx_stream_txid_time(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *ngx_stream_txid_hidden(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);


static ngx_command_t  ngx_stream_txid_commands[] = {

    { ngx_string("txid_variable"),
      NGX_STREAM_MAIN_CONF|NGX_CONF_2MORE,
      ngx_stream_txid_variable,
      0,
      0,
      NULL },

    { ngx_string("txid_time"),
      NGX_STREAM_MAIN_CONF|NGX_CONF_TAKE23|NGX_CONF_TAKE4,
      ngx_stream_txid_time,
      0,
      0,
      NULL },

    { ngx_string("txid_hide"),
      NGX_STREAM_MAIN_CONF|NGX_CONF_2MORE,
      ngx_stream_txid_hidden,
      0,
      0,
      NULL },

    { ngx_string("txid_reveal"),
      NGX_STREAM_MAIN_CONF|NGX_CONF_2MORE,
      ngx_stream_txid_hidden,
      0,
      0,
      NULL },

      ngx_null_command
};


static ngx_stream_module_t  ngx_stream_txid_module_ctx = {
    ngx_stream_txid_add_variables,         /* preconfiguration */
    ngx_stream_txid_init,                  /* postconfiguration */

    ngx_stream_txid_create_main_conf,      /* create main configuration */
    NULL,                                  /* init main configuration */

    NULL,                                  /* create server configuration */
    NULL                                   /* merge server configuration */
};


ngx_module_t  ngx_stream_txid_module = {
    NGX_MODULE_V1,
    &ngx_stream_txid_module_ctx,           /* module context */
    ngx_stream_txid_commands,              /* module directives */
    NGX_STREAM_MODULE,                     /* module type */
    NULL,                                  /* init master */
    NULL,                                  /* init module */
    NULL,                                  /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    NULL,                                  /* exit process */
    NULL,                                  /* exit master */
    NGX_MODULE_V1_PADDING
};


static void *
ngx_stream_txid_create_main_conf(ngx_conf_t *cf)
{
    return ngx_pcalloc(cf->pool, sizeof(ngx_stream_txid_main_conf_t));
}


static ngx_int_t
ngx_stream_txid_txid(ngx_stream_session_t *s, ngx_stream_variable_value_t *v, uintptr_t data)
{
    return ngx_txid_make_txid((const txid_series *) data, s->connection->pool, v);
}


static ngx_int_t
ngx_stream_txid_ids(ngx_stream_session_t *s, ngx_stream_variable_value_t *v, uintptr_t data)
{
    return ngx_txid_make((const txid_maker *) data, s->connection->pool, s->connection->log, v);
}


static ngx_int_t
ngx_stream_txid_trace_id(ngx_stream_session_t *s, ngx_stream_variable_value_t *v, uintptr_t data)
{
    txid_span  *span;

    span = ngx_palloc(s->connection->pool, sizeof(txid_span));
    if (span == NULL) {
        return NGX_ERROR;
    }

    txid_span_start(NULL, ngx_txid_clock_ms(), span);
    ngx_txid_keep_span(span, v);
    return NGX_OK;
}


static ngx_int_t
ngx_stream_txid_part(ngx_stream_session_t *s, ngx_stream_variable_value_t *v, uintptr_t data)
{
    const txid_span              *span;
    ngx_stream_txid_main_conf_t  *tmcf;

    tmcf = ngx_stream_get_module_main_conf(s, ngx_stream_txid_module);
    span = ngx_txid_kept_span(ngx_stream_get_indexed_variable(s, tmcf->span));
    if (span == NULL) {
        return NGX_ERROR;
    }

    return ngx_txid_read_part(span, (const ngx_txid_part_t *) data, s->connection->pool, v);
}


static ngx_int_t
ngx_stream_txid_read_time(ngx_stream_session_t *s, ngx_stream_variable_value_t *v, uintptr_t data)
{
    ngx_txid_time_t  *time = (ngx_txid_time_t *) data;

    return ngx_txid_read_time(ngx_stream_get_flushed_variable(s, time->source), time,
                              s->connection->pool, v);
}


/* Returns the index of the variable. */
static ngx_int_t
ngx_stream_txid_add(ngx_conf_t *cf, const ngx_str_t *name, ngx_stream_get_variable_pt handler,
    uintptr_t data, ngx_uint_t flags)
{
    ngx_str_t               copy = *name;
    ngx_stream_variable_t  *var;

    var = ngx_stream_add_variable(cf, &copy, flags);
    if (var == NULL) {
        return NGX_ERROR;
    }
    if (var->get_handler != NULL) {
        ngx_txid_conf_error(cf, ngx_txid_is_taken, name);
        return NGX_ERROR;
    }

    var->get_handler = handler;
    var->data = data;
    return ngx_stream_get_variable_index(cf, &copy);
}


static ngx_int_t
ngx_stream_txid_add_ids(ngx_conf_t *cf, const ngx_str_t *name, const ngx_str_t *words, size_t count)
{
    txid_maker  *maker;

    maker = ngx_txid_open_maker(cf, words, count);
    return maker == NULL
        ? NGX_ERROR
        : ngx_stream_txid_add(cf, name, ngx_stream_txid_ids, (uintptr_t) maker, 0);
}


static ngx_int_t
ngx_stream_txid_add_variables(ngx_conf_t *cf)
{
    const ngx_txid_part_t        *part;
    const ngx_txid_format_t      *format;
    txid_series                  *series;
    ngx_stream_txid_main_conf_t  *tmcf;

    static ngx_str_t  txid = ngx_string("txid");
    static ngx_str_t  trace_id = ngx_string("txid_trace_id");

    series = ngx_txid_open_series(cf);
    if (series == NULL
        || ngx_stream_txid_add(cf, &txid, ngx_stream_txid_txid, (uintptr_t) series, 0) == NGX_ERROR)
    {
        return NGX_ERROR;
    }

    for (format = ngx_txid_formats; format->name.len; format++) {
        if (ngx_stream_txid_add_ids(cf, &format->name, &format->format, 1) == NGX_ERROR) {
            return NGX_ERROR;
        }
    }

    tmcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_txid_module);
    tmcf->span = ngx_stream_txid_add(cf, &trace_id, ngx_stream_txid_trace_id, 0, 0);
    if (tmcf->span == NGX_ERROR) {
        return NGX_ERROR;
    }

    for (part = ngx_txid_parts; part->name.len; part++) {
        if (ngx_stream_txid_add(cf, &part->name, ngx_stream_txid_part, (uintptr_t) part, 0)
            == NGX_ERROR)
        {
            return NGX_ERROR;
        }
    }
    return NGX_OK;
}


static ngx_int_t
ngx_stream_txid_init(ngx_conf_t *cf)
{
    ngx_stream_txid_main_conf_t  *tmcf;

    tmcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_txid_module);
    return ngx_txid_init_times(cf, &tmcf->made, tmcf->times);
}


static char *
ngx_stream_txid_variable(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t                     name, *words;
    ngx_stream_txid_main_conf_t  *tmcf;

    words = cf->args->elts;
    tmcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_txid_module);
    if (ngx_txid_variable_name(cf, &words[1], &name) != NGX_OK
        || ngx_stream_txid_add_ids(cf, &name, &words[2], cf->args->nelts - 2) == NGX_ERROR
        || ngx_txid_note_made(cf, &tmcf->made, &words[2], cf->args->nelts - 2) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }
    return NGX_CONF_OK;
}


static char *
ngx_stream_txid_time(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t                     source, name;
    ngx_txid_time_t              *time;
    ngx_stream_txid_main_conf_t  *tmcf;

    tmcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_txid_module);
    time = ngx_txid_time_words(cf, &tmcf->times, &source, &name);
    if (time == NULL) {
        return NGX_CONF_ERROR;
    }

    time->source = ngx_stream_get_variable_index(cf, &source);
    if (time->source == NGX_ERROR
        || ngx_stream_txid_add(cf, &name, ngx_stream_txid_read_time, (uintptr_t) time,
                               NGX_STREAM_VAR_NOCACHEABLE)
           == NGX_ERROR)
    {
        return NGX_CONF_ERROR;
    }
    return NGX_CONF_OK;
}


static ngx_int_t
ngx_stream_txid_find_hidden(ngx_stream_session_t *s, ngx_stream_variable_value_t *v, uintptr_t data)
{
    ngx_txid_hidden_t  *hidden = (ngx_txid_hidden_t *) data;

    return ngx_txid_find_hidden(hidden, ngx_stream_get_flushed_variable(s, hidden->source),
                                s->connection->pool, s->connection->log, v);
}


static char *
ngx_stream_txid_hidden(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t           name, source;
    ngx_txid_hidden_t  *hidden;

    hidden = ngx_txid_hidden_words(cf, &name, &source);
    if (hidden == NULL) {
        return NGX_CONF_ERROR;
    }

    hidden->source = ngx_stream_get_variable_index(cf, &source);
    if (hidden->source == NGX_ERROR
        || ngx_stream_txid_add(cf, &name, ngx_stream_txid_find_hidden, (uintptr_t) hidden,
                               NGX_STREAM_VAR_NOCACHEABLE)
           == NGX_ERROR)
    {
        return NGX_CONF_ERROR;
    }
    return NGX_CONF_OK;
}
