/*
 * The directives, and the phases of the module. All decisions are made in src/.
 */

#include "ngx_http_txid.h"


static char *ngx_http_txid_option(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *ngx_http_txid_accept(ngx_conf_t *cf, ngx_str_t *word,
    ngx_http_complex_value_t **accept);
static char *ngx_http_txid_format(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *ngx_http_txid_sample(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *ngx_http_txid_response_header(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *ngx_http_txid_handle_slot(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static ngx_int_t ngx_http_txid_init(ngx_conf_t *cf);
static void *ngx_http_txid_create_main_conf(ngx_conf_t *cf);
static void *ngx_http_txid_create_srv_conf(ngx_conf_t *cf);
static char *ngx_http_txid_merge_srv_conf(ngx_conf_t *cf, void *parent, void *child);
static void *ngx_http_txid_create_loc_conf(ngx_conf_t *cf);
static char *ngx_http_txid_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child);


#define ngx_http_txid_policy_option(name, arguments)                                               \
    { ngx_string(name),                                                                            \
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|arguments,                                              \
      ngx_http_txid_option,                                                                        \
      NGX_HTTP_SRV_CONF_OFFSET,                                                                    \
      0,                                                                                           \
      NULL }

static ngx_command_t  ngx_http_txid_commands[] = {

#include "ngx_http_txid_options.h"

    { ngx_string("txid_format"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_CONF_TAKE1,
      ngx_http_txid_format,
      NGX_HTTP_SRV_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("txid_error_log"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_CONF_TAKE1,
      ngx_http_txid_error_log,
      NGX_HTTP_SRV_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("txid_sample"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_txid_sample,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("txid_handle"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_HTTP_LIF_CONF|NGX_CONF_FLAG,
      ngx_http_txid_handle_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_txid_loc_conf_t, handle),
      NULL },

    { ngx_string("txid_response_header"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_HTTP_LIF_CONF|NGX_CONF_TAKE1,
      ngx_http_txid_response_header,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("txid_span_service"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_txid_main_conf_t, span_service),
      NULL },

    { ngx_string("txid_span_name"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_set_complex_value_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_txid_loc_conf_t, span_name),
      NULL },

    { ngx_string("txid_span_attr"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE2,
      ngx_http_txid_span_attr,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    ngx_txid_commands(NGX_HTTP_MAIN_CONF, ngx_http_txid_variable, ngx_http_txid_time,
                      ngx_http_txid_hidden),

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

/* Lua's files must be of the same release. */
const uint32_t  ngx_http_txid_internal_version = TXID_INTERNAL_VERSION;


/*
 * The directives that set options of the policy: their names without "txid_" are the options'.
 */
static char *
ngx_http_txid_option(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_txid_srv_conf_t  *tscf = conf;

    char        message[TXID_MESSAGE_LEN];
    size_t      prefix;
    int32_t     rc;
    ngx_str_t  *words;

    words = cf->args->elts;
    prefix = sizeof("txid_") - 1;

    if (ngx_strcmp(cmd->name.data, "txid_accept") == 0 && tscf->accept == NGX_CONF_UNSET_PTR) {
        tscf->accept = NULL;
        if (cf->args->nelts == 2 && words[1].data[0] == '$'
            && ngx_http_txid_accept(cf, &words[1], &tscf->accept) != NGX_CONF_OK)
        {
            return NGX_CONF_ERROR;
        }
    }

    rc = txid_policy_set(tscf->policy, (char *) cmd->name.data + prefix, cmd->name.len - prefix,
                         ngx_txid_text(&words[1]), cf->args->nelts - 1, message);
    if (rc == TXID_ERROR_OPTION_TWICE) {
        return "is duplicate";
    }
    if (rc != 0) {
        ngx_txid_conf_error(cf, "%s", message);
        return NGX_CONF_ERROR;
    }
    return NGX_CONF_OK;
}


/* To the policy, anybody may be trusted then. */
static char *
ngx_http_txid_accept(ngx_conf_t *cf, ngx_str_t *word, ngx_http_complex_value_t **accept)
{
    ngx_http_compile_complex_value_t  ccv;

    *accept = ngx_palloc(cf->pool, sizeof(ngx_http_complex_value_t));
    if (*accept == NULL) {
        return NGX_CONF_ERROR;
    }

    ngx_memzero(&ccv, sizeof(ngx_http_compile_complex_value_t));
    ccv.cf = cf;
    ccv.value = word;
    ccv.complex_value = *accept;
    if (ngx_http_compile_complex_value(&ccv) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    ngx_str_set(word, "all");
    return NGX_CONF_OK;
}


static char *
ngx_http_txid_format(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_txid_srv_conf_t  *tscf = conf;

    ngx_str_t                  *words;
    ngx_http_txid_main_conf_t  *tmcf;

    if (tscf->maker != NULL || tscf->of_trace) {
        return "is duplicate";
    }

    words = cf->args->elts;
    if (ngx_strcmp(words[1].data, "same_as_trace") == 0) {
        tscf->of_trace = 1;
        return NGX_CONF_OK;
    }

    tmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_txid_module);
    tscf->maker = ngx_txid_name_maker(cf, &words[1]);
    if (tscf->maker == NULL || ngx_txid_note_made(cf, &tmcf->made, &words[1], 1) != NGX_OK) {
        return NGX_CONF_ERROR;
    }
    return NGX_CONF_OK;
}


/* The policy has the option as well, for those without locations. */
static char *
ngx_http_txid_sample(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_txid_loc_conf_t  *tlcf = conf;

    char                              message[TXID_MESSAGE_LEN];
    ngx_str_t                        *words;
    ngx_http_compile_complex_value_t  ccv;

    if (tlcf->sample != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    words = cf->args->elts;
    tlcf->sample = ngx_palloc(cf->pool, sizeof(ngx_http_complex_value_t));
    if (tlcf->sample == NULL) {
        return NGX_CONF_ERROR;
    }

    ngx_memzero(&ccv, sizeof(ngx_http_compile_complex_value_t));
    ccv.cf = cf;
    ccv.value = &words[1];
    ccv.complex_value = tlcf->sample;
    if (ngx_http_compile_complex_value(&ccv) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (tlcf->sample->lengths != NULL) {
        return NGX_CONF_OK;
    }

    if (ngx_http_txid_check_sample(&words[1], message) != 0) {
        ngx_txid_conf_error(cf, "%s", message);
        return NGX_CONF_ERROR;
    }

    tlcf->sample = NULL;
    tlcf->share = txid_share((char *) words[1].data, words[1].len);
    return NGX_CONF_OK;
}


static char *
ngx_http_txid_handle_slot(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_txid_main_conf_t  *tmcf;

    tmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_txid_module);
    tmcf->handle = 1;
    tmcf->header_filter = 1;
    return ngx_conf_set_flag_slot(cf, cmd, conf);
}


static char *
ngx_http_txid_response_header(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_txid_loc_conf_t  *tlcf = conf;

    char                        message[TXID_MESSAGE_LEN];
    ngx_str_t                  *words;
    ngx_http_txid_main_conf_t  *tmcf;

    if (tlcf->response_header.data != NULL) {
        return "is duplicate";
    }

    words = cf->args->elts;
    if (txid_check_header_name((char *) words[1].data, words[1].len, message) != 0) {
        ngx_txid_conf_error(cf, "%s", message);
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


static void
ngx_http_txid_close_policy(void *policy)
{
    txid_policy_close(policy);
}


static void *
ngx_http_txid_create_srv_conf(ngx_conf_t *cf)
{
    ngx_pool_cleanup_t        *cleanup;
    ngx_http_txid_srv_conf_t  *tscf;

    tscf = ngx_pcalloc(cf->pool, sizeof(ngx_http_txid_srv_conf_t));
    cleanup = ngx_pool_cleanup_add(cf->pool, 0);
    if (tscf == NULL || cleanup == NULL) {
        return NULL;
    }

    tscf->policy = txid_policy_open();
    tscf->error_log = NGX_CONF_UNSET_PTR;
    tscf->accept = NGX_CONF_UNSET_PTR;
    cleanup->handler = ngx_http_txid_close_policy;
    cleanup->data = tscf->policy;
    return tscf;
}


/* Copies the name in lower case. An empty name has the hash 0, as no header has. */
static ngx_int_t
ngx_http_txid_set_name(ngx_conf_t *cf, ngx_http_txid_name_t *name, const txid_text *text)
{
    name->name.len = text->len;
    name->name.data = ngx_pnalloc(cf->pool, ngx_max(text->len, 1));
    if (name->name.data == NULL) {
        return NGX_ERROR;
    }

    name->hash = ngx_hash_strlow(name->name.data, (u_char *) text->data, text->len);
    return NGX_OK;
}


static char *
ngx_http_txid_merge_srv_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_http_txid_srv_conf_t  *prev = parent;
    ngx_http_txid_srv_conf_t  *conf = child;

    char                        message[TXID_MESSAGE_LEN];
    ngx_uint_t                  i;
    txid_text                   name;
    txid_terms                  terms;
    ngx_http_txid_main_conf_t  *tmcf;

    ngx_conf_merge_ptr_value(conf->error_log, prev->error_log, NULL);
    ngx_conf_merge_ptr_value(conf->accept, prev->accept, NULL);
    if (conf->maker == NULL && !conf->of_trace) {
        conf->maker = prev->maker;
        conf->of_trace = prev->of_trace;
    }

    txid_policy_inherit(conf->policy, prev->policy);
    if (txid_policy_check(conf->policy, conf->of_trace, message) != 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "txid_%s", message);
        return NGX_CONF_ERROR;
    }

    for (i = 0; i <= TXID_IDS; i++) {
        txid_policy_header(conf->policy, i, &name);
        if (ngx_http_txid_set_name(cf, &conf->names[i], &name) != NGX_OK) {
            return NGX_CONF_ERROR;
        }
        if (i < TXID_IDS && name.len) {
            conf->ids = i + 1;
        }
        if (i == 0) {
            conf->response_header.len = name.len;
            conf->response_header.data = (u_char *) name.data;
        }
    }

    if (ngx_http_txid_hash_trace_headers(cf) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    txid_policy_terms(conf->policy, &terms);
    conf->trusts_nobody = terms.trusts_nobody;
    conf->rejects = terms.rejects;
    conf->traces = terms.traces;
    conf->spans = terms.traces && !terms.passes_spans;

    tmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_txid_module);
    if (conf->error_log || conf->rejects) {
        tmcf->post_read = 1;
    }
    if (conf->accept ? conf->error_log || conf->rejects
                     : conf->error_log && conf->error_log->index != tmcf->request)
    {
        tmcf->late_post_read = 1;
    }
    if (!conf->trusts_nobody && conf->accept == NULL) {
        tmcf->trusts = 1;
    }
    return NGX_CONF_OK;
}


static void *
ngx_http_txid_create_loc_conf(ngx_conf_t *cf)
{
    ngx_http_txid_loc_conf_t  *tlcf;

    tlcf = ngx_pcalloc(cf->pool, sizeof(ngx_http_txid_loc_conf_t));
    if (tlcf != NULL) {
        tlcf->handle = NGX_CONF_UNSET;
        tlcf->sample = NGX_CONF_UNSET_PTR;
    }
    return tlcf;
}


static char *
ngx_http_txid_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_http_txid_loc_conf_t  *prev = parent;
    ngx_http_txid_loc_conf_t  *conf = child;

    ngx_http_txid_srv_conf_t  *tscf;

    ngx_conf_merge_value(conf->handle, prev->handle, 0);

    if (conf->response_header.data == NULL) {
        conf->response_header = prev->response_header;
    }
    if (conf->span_name == NULL) {
        conf->span_name = prev->span_name;
    }
    if (conf->span_attrs == NULL) {
        conf->span_attrs = prev->span_attrs;
    }
    tscf = ngx_http_conf_get_module_srv_conf(cf, ngx_http_txid_module);
    if (tscf->traces && !tscf->spans) {
        if (conf->sample != NGX_CONF_UNSET_PTR && (conf->sample != NULL || conf->share)) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "txid_sample has no effect, because txid_trace_span is pass: "
                               "leave one of them out");
            return NGX_CONF_ERROR;
        }
        /* An inherited one is for others. */
        conf->sample = NULL;

    } else if (conf->sample == NGX_CONF_UNSET_PTR) {
        conf->share = prev->share;
        conf->sample = prev->sample == NGX_CONF_UNSET_PTR ? NULL : prev->sample;
    }
    return NGX_CONF_OK;
}


#if (NGX_HTTP_V3 && nginx_version >= 1025000)

/*
 * CVE-2026-40460: in these versions, and in freenginx, a stream may have the address that a client
 * only claims to have moved to, unless whoever built it has patched it.
 */
#ifdef angie_version
#define NGX_HTTP_TXID_QUIC_IS_MENDED  (angie_version >= 1011005)
#else
#define NGX_HTTP_TXID_QUIC_IS_MENDED  (nginx_version >= 1030001                                    \
    && ngx_strncmp(NGINX_VER, "freenginx/", sizeof("freenginx/") - 1) != 0)
#endif

static void
ngx_http_txid_warn_of_quic(ngx_conf_t *cf)
{
    ngx_uint_t                  p, a;
    ngx_http_conf_addr_t       *addr;
    ngx_http_conf_port_t       *port;
    ngx_http_core_main_conf_t  *cmcf;

    if (NGX_HTTP_TXID_QUIC_IS_MENDED) {
        return;
    }

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);
    if (cmcf->ports == NULL) {
        return;
    }

    port = cmcf->ports->elts;

    for (p = 0; p < cmcf->ports->nelts; p++) {
        addr = port[p].addrs.elts;

        for (a = 0; a < port[p].addrs.nelts; a++) {
            if (addr[a].opt.quic) {
                ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                                   "txid: with HTTP/3, clients can forge addresses of "
                                   "\"txid_accept\", unless " NGINX_VER " is patched for "
                                   "CVE-2026-40460; nginx 1.30.1 and 1.31.0 are");
                return;
            }
        }
    }
}

#endif


/* The last handlers in the list run first. */
static ngx_int_t
ngx_http_txid_add_handler(ngx_conf_t *cf, ngx_http_phases phase, ngx_http_handler_pt added,
    ngx_uint_t is_last)
{
    ngx_array_t                *handlers;
    ngx_http_handler_pt        *handler;
    ngx_http_core_main_conf_t  *cmcf;

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);
    handlers = &cmcf->phases[phase].handlers;
    handler = ngx_array_push(handlers);
    if (handler == NULL) {
        return NGX_ERROR;
    }

    if (is_last) {
        handler = handlers->elts;
        ngx_memmove(handler + 1, handler, (handlers->nelts - 1) * sizeof(ngx_http_handler_pt));
    }
    *handler = added;
    return NGX_OK;
}


/* Handlers that no server needs are not installed. */
static ngx_int_t
ngx_http_txid_init(ngx_conf_t *cf)
{
    ngx_http_txid_main_conf_t  *tmcf;

    tmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_txid_module);
    if (tmcf->span_service.data == NULL) {
        ngx_str_set(&tmcf->span_service, "nginx");
    }
    if (ngx_http_txid_take_back(cf, tmcf) != NGX_OK
        || ngx_txid_init_times(cf, &tmcf->made, tmcf->times) != NGX_OK)
    {
        return NGX_ERROR;
    }

    tmcf->realip = ngx_http_txid_find_realip(cf);

#if (NGX_HTTP_V3 && nginx_version >= 1025000)
    if (tmcf->trusts) {
        ngx_http_txid_warn_of_quic(cf);
    }
#endif

    if (tmcf->header_filter) {
        ngx_http_txid_init_header_filter();
    }

    if (tmcf->post_read
        && ngx_http_txid_add_handler(cf, NGX_HTTP_POST_READ_PHASE, ngx_http_txid_post_read, 0)
           != NGX_OK)
    {
        return NGX_ERROR;
    }
    if (tmcf->late_post_read
        && ngx_http_txid_add_handler(cf, NGX_HTTP_POST_READ_PHASE, ngx_http_txid_late_post_read, 1)
           != NGX_OK)
    {
        return NGX_ERROR;
    }
    if (tmcf->handle
        && ngx_http_txid_add_handler(cf, NGX_HTTP_PREACCESS_PHASE, ngx_http_txid_handle, 0)
           != NGX_OK)
    {
        return NGX_ERROR;
    }
    return NGX_OK;
}
