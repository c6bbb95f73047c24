/*
 * The directives, and the phases of the module. All decisions are made in nginx/rust and in src/.
 */

#include "ngx_http_txid.h"


static char *ngx_http_txid_accept(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *ngx_http_txid_format(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *ngx_http_txid_header(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *ngx_http_txid_response_header(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static ngx_int_t ngx_http_txid_init(ngx_conf_t *cf);
static void *ngx_http_txid_create_main_conf(ngx_conf_t *cf);
static void *ngx_http_txid_create_srv_conf(ngx_conf_t *cf);
static char *ngx_http_txid_merge_srv_conf(ngx_conf_t *cf, void *parent, void *child);
static void *ngx_http_txid_create_loc_conf(ngx_conf_t *cf);
static char *ngx_http_txid_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child);


static ngx_conf_enum_t  ngx_http_txid_on_invalid[] = {
    { ngx_string("replace"), 0 },
    { ngx_string("reject"), 1 },
    { ngx_null_string, 0 }
};

static ngx_conf_enum_t  ngx_http_txid_traces[] = {
    { ngx_string("off"), 0 },
    { ngx_string("traceparent"), TXID_TRACE_KIND_TRACEPARENT + 1 },
    { ngx_string("b3"), TXID_TRACE_KIND_B3 + 1 },
    { ngx_string("b3_single"), TXID_TRACE_KIND_B3_SINGLE + 1 },
    { ngx_null_string, 0 }
};


static ngx_command_t  ngx_http_txid_commands[] = {

    { ngx_string("txid_accept"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_CONF_1MORE,
      ngx_http_txid_accept,
      NGX_HTTP_SRV_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("txid_header"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_CONF_TAKE1,
      ngx_http_txid_header,
      NGX_HTTP_SRV_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("txid_format"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_CONF_TAKE1,
      ngx_http_txid_format,
      NGX_HTTP_SRV_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("txid_on_invalid"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_enum_slot,
      NGX_HTTP_SRV_CONF_OFFSET,
      offsetof(ngx_http_txid_srv_conf_t, reject),
      &ngx_http_txid_on_invalid },

    { ngx_string("txid_trace"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_enum_slot,
      NGX_HTTP_SRV_CONF_OFFSET,
      offsetof(ngx_http_txid_srv_conf_t, trace),
      &ngx_http_txid_traces },

    { ngx_string("txid_error_log"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_SRV_CONF_OFFSET,
      offsetof(ngx_http_txid_srv_conf_t, error_log),
      NULL },

    { ngx_string("txid_response_header"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_txid_response_header,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("txid_variable"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_2MORE,
      ngx_http_txid_variable,
      0,
      0,
      NULL },

    { ngx_string("txid_time"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE23,
      ngx_http_txid_time,
      0,
      0,
      NULL },

      ngx_null_command
};


static ngx_http_module_t  ngx_http_txid_module_ctx = {
    ngx_http_txid_add_variables,           /* preconfiguration */
    ngx_http_txid_init,                    /* postconfiguration */

    ngx_http_txid_create_main_conf,        /* create main configuration */
    NULL,                                  /* init main configuration */

    ngx_http_txid_create_srv_conf,         /* create server configuration */
    ngx_http_txid_merge_srv_conf,          /* merge server configuration */

    ngx_http_txid_create_loc_conf,         /* create location configuration */
    ngx_http_txid_merge_loc_conf           /* merge location configuration */
};


ngx_module_t  ngx_http_txid_module = {
    NGX_MODULE_V1,
    &ngx_http_txid_module_ctx,             /* module context */
    ngx_http_txid_commands,                /* module directives */
    NGX_HTTP_MODULE,                       /* module type */
    NULL,                                  /* init master */
    NULL,                                  /* init module */
    NULL,                                  /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    NULL,                                  /* exit process */
    NULL,                                  /* exit master */
    NGX_MODULE_V1_PADDING
};


static void
ngx_http_txid_close_networks(void *networks)
{
    txid_networks_close(networks);
}


static char *
ngx_http_txid_accept(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_txid_srv_conf_t  *tscf = conf;

    char                 message[TXID_MESSAGE_LEN];
    ngx_str_t           *words;
    ngx_pool_cleanup_t  *cleanup;

    if (tscf->accept != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    words = cf->args->elts;
    if (cf->args->nelts == 2 && ngx_strcmp(words[1].data, "off") == 0) {
        tscf->accept = NULL;
        return NGX_CONF_OK;
    }

    cleanup = ngx_pool_cleanup_add(cf->pool, 0);
    if (cleanup == NULL) {
        return NGX_CONF_ERROR;
    }

    tscf->accept = txid_networks_open(ngx_txid_text(&words[1]), cf->args->nelts - 1, message);
    if (tscf->accept == NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "txid_accept: %s", message);
        return NGX_CONF_ERROR;
    }

    cleanup->handler = ngx_http_txid_close_networks;
    cleanup->data = tscf->accept;
    return NGX_CONF_OK;
}


static char *
ngx_http_txid_format(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_txid_srv_conf_t  *tscf = conf;

    ngx_str_t  *words;

    if (tscf->maker != NULL) {
        return "is duplicate";
    }

    words = cf->args->elts;
    tscf->maker = ngx_txid_open_maker(cf, &words[1], 1);
    return tscf->maker == NULL ? NGX_CONF_ERROR : NGX_CONF_OK;
}


static ngx_int_t
ngx_http_txid_check_header_name(ngx_conf_t *cf, const ngx_str_t *name)
{
    if (!txid_is_header_name(ngx_txid_text(name))) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "txid: \"%V\" is not the name of a header", name);
        return NGX_ERROR;
    }
    return NGX_OK;
}


static char *
ngx_http_txid_header(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_txid_srv_conf_t  *tscf = conf;

    ngx_str_t  *words;

    if (tscf->header.data != NULL) {
        return "is duplicate";
    }

    words = cf->args->elts;
    if (ngx_http_txid_check_header_name(cf, &words[1]) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    tscf->header = words[1];
    tscf->header_hash = ngx_hash_strlow(words[1].data, words[1].data, words[1].len);
    return NGX_CONF_OK;
}


static char *
ngx_http_txid_response_header(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_txid_loc_conf_t  *tlcf = conf;

    ngx_str_t                  *words;
    ngx_http_txid_main_conf_t  *tmcf;

    if (tlcf->response_header.data != NULL) {
        return "is duplicate";
    }

    words = cf->args->elts;
    if (ngx_http_txid_check_header_name(cf, &words[1]) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    tlcf->response_header = words[1];
    if (ngx_strcmp(words[1].data, "off") == 0) {
        tlcf->response_header.len = 0;
        return NGX_CONF_OK;
    }

    tmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_txid_module);
    tmcf->header_filter = 1;
    return NGX_CONF_OK;
}


static void *
ngx_http_txid_create_main_conf(ngx_conf_t *cf)
{
    return ngx_pcalloc(cf->pool, sizeof(ngx_http_txid_main_conf_t));
}


static void *
ngx_http_txid_create_srv_conf(ngx_conf_t *cf)
{
    ngx_http_txid_srv_conf_t  *tscf;

    tscf = ngx_pcalloc(cf->pool, sizeof(ngx_http_txid_srv_conf_t));
    if (tscf == NULL) {
        return NULL;
    }

    tscf->accept = NGX_CONF_UNSET_PTR;
    tscf->reject = NGX_CONF_UNSET_UINT;
    tscf->trace = NGX_CONF_UNSET_UINT;
    tscf->error_log = NGX_CONF_UNSET;
    return tscf;
}


static char *
ngx_http_txid_merge_srv_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_http_txid_srv_conf_t  *prev = parent;
    ngx_http_txid_srv_conf_t  *conf = child;

    ngx_http_txid_main_conf_t  *tmcf;
    static u_char               header[] = "x-request-id";

    tmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_txid_module);

    ngx_conf_merge_ptr_value(conf->accept, prev->accept, NULL);
    ngx_conf_merge_uint_value(conf->reject, prev->reject, 0);
    ngx_conf_merge_uint_value(conf->trace, prev->trace, 0);
    ngx_conf_merge_value(conf->error_log, prev->error_log, 0);

    if (conf->maker == NULL) {
        conf->maker = prev->maker;
    }

    if (conf->header.data == NULL) {
        conf->header = prev->header;
        conf->header_hash = prev->header_hash;
    }
    if (conf->header.data == NULL) {
        conf->header.len = sizeof(header) - 1;
        conf->header.data = header;
        conf->header_hash = ngx_hash_key(header, sizeof(header) - 1);
    }

    if (conf->error_log || conf->reject) {
        tmcf->post_read = 1;
    }
    return NGX_CONF_OK;
}


static void *
ngx_http_txid_create_loc_conf(ngx_conf_t *cf)
{
    return ngx_pcalloc(cf->pool, sizeof(ngx_http_txid_loc_conf_t));
}


static char *
ngx_http_txid_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_http_txid_loc_conf_t  *prev = parent;
    ngx_http_txid_loc_conf_t  *conf = child;

    ngx_conf_merge_str_value(conf->response_header, prev->response_header, "");
    return NGX_CONF_OK;
}


/* Handlers that no server needs are not installed. */
static ngx_int_t
ngx_http_txid_init(ngx_conf_t *cf)
{
    ngx_http_handler_pt        *handler;
    ngx_http_core_main_conf_t  *cmcf;
    ngx_http_txid_main_conf_t  *tmcf;

    tmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_txid_module);
    tmcf->realip = ngx_http_txid_find_realip(cf);
    if (tmcf->realip == NGX_ERROR) {
        return NGX_ERROR;
    }

    if (tmcf->header_filter) {
        ngx_http_txid_init_header_filter();
    }

    if (tmcf->post_read) {
        cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);
        handler = ngx_array_push(&cmcf->phases[NGX_HTTP_POST_READ_PHASE].handlers);
        if (handler == NULL) {
            return NGX_ERROR;
        }
        *handler = ngx_http_txid_post_read;
    }
    return NGX_OK;
}
