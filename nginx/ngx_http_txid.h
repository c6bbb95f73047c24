#ifndef NGX_HTTP_TXID_H
#define NGX_HTTP_TXID_H


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_txid.h"


typedef struct {
    txid_generator   *generator;
    ngx_http_variable_t  *request_variable;
    /* The indexes of $request_txid and $txid_trace_id. */
    ngx_int_t         request;
    ngx_int_t         span;
    /* The formats that are made, one ngx_str_t for each, and the variables with times. */
    ngx_array_t      *made;
    ngx_txid_time_t  *times;
    /* The service in the lines of spans. */
    ngx_str_t         span_service;
    /* $realip_remote_addr, or NULL without realip. */
    ngx_http_variable_t  *realip;
    /* Whether any server trusts a peer. */
    unsigned          trusts:1;
    /* Whether any server or location needs these handlers. */
    unsigned          post_read:1;
    unsigned          late_post_read:1;
    unsigned          header_filter:1;
    unsigned          handle:1;
} ngx_http_txid_main_conf_t;


/* The name of a request header, in lower case. */
typedef struct {
    ngx_str_t         name;
    ngx_uint_t        hash;
} ngx_http_txid_name_t;


/* A variable in the lines of the error log. */
typedef struct {
    ngx_str_t             name;
    ngx_int_t             index;
#if (NGX_HTTP_TXID_LOG_PROPERTIES)
    ngx_log_property_t    property;
#endif
} ngx_http_txid_logged_t;


typedef struct {
    txid_policy           *policy;
    /* NULL for txids. */
    txid_maker            *maker;
    /* NULL if it is off. */
    ngx_http_txid_logged_t  *error_log;
    /* Whether the id is that of the trace. */
    ngx_uint_t             of_trace;
    /* What the policy says. */
    ngx_http_txid_name_t   names[TXID_IDS + 1];
    ngx_uint_t             ids;
    ngx_str_t              response_header;
    /* Says 1 if the peer is trusted; NULL if the policy says it. */
    ngx_http_complex_value_t  *accept;
    unsigned               trusts_nobody:1;
    unsigned               rejects:1;
    unsigned               traces:1;
    /* Whether a request gets a span of its own. */
    unsigned               spans:1;
} ngx_http_txid_srv_conf_t;


typedef struct {
    /* Empty if it is off; without data, it is the first one of the server if this handles. */
    ngx_str_t                  response_header;
    ngx_flag_t                 handle;
    /* The share of traces, as txid_share() has it, or the variable with it. */
    int64_t                    share;
    ngx_http_complex_value_t  *sample;
    /* In the lines of spans. NULL for the default, and for none. */
    ngx_http_complex_value_t  *span_name;
    ngx_array_t               *span_attrs;
} ngx_http_txid_loc_conf_t;


typedef struct {
    ngx_str_t                  key;
    ngx_http_complex_value_t   value;
} ngx_http_txid_span_attr_t;


extern ngx_module_t  ngx_http_txid_module;

#pragma GCC visibility push(hidden)

ngx_int_t ngx_http_txid_add_variables(ngx_conf_t *cf);
ngx_int_t ngx_http_txid_take_back(ngx_conf_t *cf, const ngx_http_txid_main_conf_t *tmcf);
ngx_http_variable_t *ngx_http_txid_find_realip(ngx_conf_t *cf);
char *ngx_http_txid_variable(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_http_txid_time(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_http_txid_hidden(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

ngx_int_t ngx_http_txid_tracestate(ngx_http_request_t *r, ngx_http_variable_value_t *v,
    uintptr_t data);
ngx_int_t ngx_http_txid_otlp(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data);
char *ngx_http_txid_span_attr(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

int32_t ngx_http_txid_check_sample(const ngx_str_t *sample, char *message);
ngx_int_t ngx_http_txid_hash_trace_headers(ngx_conf_t *cf);
ngx_int_t ngx_http_txid_join_headers(ngx_http_request_t *r, const ngx_str_t *lowcase_name,
    ngx_http_variable_value_t *v);
ngx_uint_t ngx_http_txid_sent_invalid_id(ngx_http_request_t *r, ngx_str_t *name);
ngx_int_t ngx_http_txid_handle(ngx_http_request_t *r);
ngx_int_t ngx_http_txid_read_id(ngx_http_request_t *r, ngx_http_variable_value_t *v);
ngx_int_t ngx_http_txid_read_span(ngx_http_request_t *r, ngx_http_variable_value_t *v);
const ngx_http_variable_value_t *ngx_http_txid_kept_id(ngx_http_request_t *r);
const txid_span *ngx_http_txid_kept_span(ngx_http_request_t *r);

ngx_int_t ngx_http_txid_post_read(ngx_http_request_t *r);
ngx_int_t ngx_http_txid_late_post_read(ngx_http_request_t *r);
char *ngx_http_txid_error_log(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
void ngx_http_txid_add_to_error_log(ngx_http_request_t *r,
    const ngx_http_txid_logged_t *logged);
void ngx_http_txid_get_logged(ngx_http_request_t *r, const ngx_http_txid_logged_t *logged);
void ngx_http_txid_init_header_filter(void);

#pragma GCC visibility pop


#endif
