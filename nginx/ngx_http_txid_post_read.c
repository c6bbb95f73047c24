/*
 * Runs as soon as a request is read: adds its id to its lines of the error log, and may reject a request with an
 * invalid id.
 */

#include "ngx_http_txid.h"


/* nginx's own handler, which is only accessible in the field of a request. */
static ngx_http_log_handler_pt  ngx_http_txid_next_log_handler;


static u_char *
ngx_http_txid_log_handler(ngx_http_request_t *r, ngx_http_request_t *sr, u_char *buf, size_t len)
{
    u_char                     *end;
    ngx_http_variable_value_t  *id;
    ngx_http_txid_main_conf_t  *tmcf;

    tmcf = ngx_http_get_module_main_conf(r, ngx_http_txid_module);

    /* Made earlier: making it here could itself write to the log. */
    id = &r->main->variables[tmcf->request];
    if (id->valid) {
        end = ngx_snprintf(buf, len, ", txid: %v", id);
        len -= end - buf;
        buf = end;
    }
    return ngx_http_txid_next_log_handler(r, sr, buf, len);
}


ngx_int_t
ngx_http_txid_post_read(ngx_http_request_t *r)
{
    txid_header                 header;
    ngx_http_txid_srv_conf_t   *tscf;
    ngx_http_txid_main_conf_t  *tmcf;

    tscf = ngx_http_get_module_srv_conf(r, ngx_http_txid_module);

    if (tscf->error_log && r->log_handler != ngx_http_txid_log_handler) {
        tmcf = ngx_http_get_module_main_conf(r, ngx_http_txid_module);
        (void) ngx_http_get_indexed_variable(r, tmcf->request);
        ngx_http_txid_next_log_handler = r->log_handler;
        r->log_handler = ngx_http_txid_log_handler;
    }

    if (tscf->rejects && ngx_http_txid_judge(r, &header) == TXID_VERDICT_INVALID) {
        ngx_log_error(NGX_LOG_INFO, r->connection->log, 0, "client sent an invalid \"%V\" header", &tscf->header.name);
        return NGX_HTTP_BAD_REQUEST;
    }
    return NGX_DECLINED;
}
