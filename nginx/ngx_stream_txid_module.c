/*
 * The variables of a stream session.
 */

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_stream.h>

#include "ngx_txid.h"

#define ngx_txid_of(name)     ngx_stream_ ## name
#define NGX_TXID_VAR(name)    NGX_STREAM_VAR_ ## name


typedef struct {
    txid_generator   *generator;
    /* The index of $txid_trace_id. */
    ngx_int_t         span;
    /* The formats that are made, one ngx_str_t for each, and the variables with times. */
    ngx_array_t      *made;
    ngx_txid_time_t  *times;
} ngx_stream_txid_main_conf_t;


static ngx_int_t ngx_stream_txid_add_common(ngx_conf_t *cf);
static ngx_int_t ngx_stream_txid_init(ngx_conf_t *cf);
static void *ngx_stream_txid_create_main_conf(ngx_conf_t *cf);
static char *ngx_stream_txid_variable(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *ngx_stream_txid_time(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *ngx_stream_txid_hidden(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);


static ngx_command_t  ngx_stream_txid_commands[] = {

    ngx_txid_commands(NGX_STREAM_MAIN_CONF, ngx_stream_txid_variable, ngx_stream_txid_time,
                      ngx_stream_txid_hidden),

      ngx_null_command
};


static ngx_stream_module_t  ngx_stream_txid_module_ctx = {
    ngx_stream_txid_add_common,            /* preconfiguration */
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
    return ngx_txid_make_txid(((ngx_txid_ids_t *) data)->generator, s->connection->pool, v);
}


static ngx_int_t
ngx_stream_txid_ids(ngx_stream_session_t *s, ngx_stream_variable_value_t *v, uintptr_t data)
{
    return ngx_txid_make(((ngx_txid_ids_t *) data)->maker, s->connection->pool, s->connection->log,
                         v);
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


static ngx_int_t
ngx_stream_txid_find_hidden(ngx_stream_session_t *s, ngx_stream_variable_value_t *v, uintptr_t data)
{
    ngx_txid_hidden_t  *hidden = (ngx_txid_hidden_t *) data;

    return ngx_txid_show_hidden(hidden, ngx_stream_get_flushed_variable(s, hidden->source),
                                s->connection->pool, s->connection->log, v);
}


#include "ngx_txid_variables.h"


static ngx_int_t
ngx_stream_txid_init(ngx_conf_t *cf)
{
    ngx_stream_txid_main_conf_t  *tmcf;

    tmcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_txid_module);
    return ngx_txid_init_times(cf, &tmcf->made, tmcf->times);
}
