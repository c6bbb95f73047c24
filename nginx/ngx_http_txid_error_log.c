/*
 * Adds the id to the request's lines of the error log.
 */

#include "ngx_http_txid.h"


/* Made earlier: making it here could itself write to the log. */
static const ngx_http_variable_value_t *
ngx_http_txid_made(ngx_http_request_t *r)
{
    ngx_http_variable_value_t  *id;
    ngx_http_txid_main_conf_t  *tmcf;

    tmcf = ngx_http_get_module_main_conf(r, ngx_http_txid_module);
    id = &r->main->variables[tmcf->request];
    return id->valid ? id : NULL;
}


/*
 * nginx's own handler, which is only accessible in the field of a request. Angie has one of another
 * type since 1.12.
 */
#if (NGX_HTTP_TXID_LOG_PROPERTIES)

static ngx_log_property_t      ngx_http_txid_property = ngx_log_prop_decl("txid", "http",
    NGX_LOG_PT_STR);
static ngx_log_ext_handler_pt  ngx_http_txid_next_log_handler;


static u_char *
ngx_http_txid_log_handler(ngx_log_t *log, u_char *buf, u_char *last, void *data)
{
    ngx_http_log_ctx_t  *ctx = data;

    ngx_log_property_key_t            key = { ngx_http_txid_property.index };
    const ngx_http_variable_value_t  *id;

    id = ngx_http_txid_made(ctx->request);
    if (id != NULL) {
        buf = ngx_log_property(log, buf, last, key, "%v", id);
    }
    return ngx_http_txid_next_log_handler(log, buf, last, data);
}

#else

static ngx_http_log_handler_pt  ngx_http_txid_next_log_handler;


static u_char *
ngx_http_txid_log_handler(ngx_http_request_t *r, ngx_http_request_t *sr, u_char *buf, size_t len)
{
    u_char                           *end;
    const ngx_http_variable_value_t  *id;

    id = ngx_http_txid_made(r);
    if (id != NULL) {
        end = ngx_snprintf(buf, len, ", txid: %v", id);
        len -= end - buf;
        buf = end;
    }
    return ngx_http_txid_next_log_handler(r, sr, buf, len);
}

#endif


ngx_int_t
ngx_http_txid_init_error_log(ngx_conf_t *cf)
{
#if (NGX_HTTP_TXID_LOG_PROPERTIES)
    return ngx_log_add_property(cf->cycle, &ngx_http_txid_property);
#else
    return NGX_OK;
#endif
}


void
ngx_http_txid_add_to_error_log(ngx_http_request_t *r)
{
    if (r->log_handler == ngx_http_txid_log_handler) {
        return;
    }

    (void) ngx_http_txid_kept_id(r);
    ngx_http_txid_next_log_handler = r->log_handler;
    r->log_handler = ngx_http_txid_log_handler;
}
