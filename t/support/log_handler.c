/*
 * For log-handlers.t: a module that adds its NAME to the lines of the error log about requests of
 * HTTP/1.1. It is before the module BEFORE, or the last.
 */

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

static ngx_int_t init(ngx_conf_t *cf);

static ngx_http_module_t  context = { NULL, init };
static ngx_module_t  module = { NGX_MODULE_V1, &context, NULL, NGX_HTTP_MODULE };

ngx_module_t  *ngx_modules[] = { &module, NULL };
char  *ngx_module_names[] = { NAME, NULL };
char  *ngx_module_order[] = { NAME, BEFORE, NULL };


static u_char *
handler(ngx_http_request_t *r, ngx_http_request_t *sr, u_char *buf, size_t len)
{
    u_char                   *end = ngx_snprintf(buf, len, ", %s", NAME);
    ngx_http_log_handler_pt   next = ngx_http_get_module_ctx(r, module);

    return next(r, sr, end, len - (end - buf));
}


static ngx_int_t
post_read(ngx_http_request_t *r)
{
    if (r->http_version == NGX_HTTP_VERSION_11) {
        ngx_http_set_ctx(r, r->log_handler, module);
        r->log_handler = handler;
    }
    return NGX_DECLINED;
}


static ngx_int_t
init(ngx_conf_t *cf)
{
    ngx_http_core_main_conf_t  *cmcf;

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);
    *(ngx_http_handler_pt *) ngx_array_push(&cmcf->phases[NGX_HTTP_POST_READ_PHASE].handlers)
        = post_read;
    return NGX_OK;
}
