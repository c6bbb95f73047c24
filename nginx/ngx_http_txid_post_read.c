/*
 * Runs as soon as a request is read: adds its id to its lines of the error log, and may reject a
 * request with an invalid id.
 */

#include "ngx_http_txid.h"


ngx_int_t
ngx_http_txid_post_read(ngx_http_request_t *r)
{
    ngx_str_t                  name;
    ngx_http_txid_srv_conf_t  *tscf;

    tscf = ngx_http_get_module_srv_conf(r, ngx_http_txid_module);

    if (tscf->error_log) {
        ngx_http_txid_add_to_error_log(r, tscf->error_log);
    }

    if (tscf->rejects && ngx_http_txid_sent_invalid_id(r, &name)) {
        if (tscf->error_log) {
            ngx_http_txid_get_logged(r, tscf->error_log);
        }
        ngx_log_error(NGX_LOG_INFO, r->connection->log, 0, "client sent an invalid \"%V\" header",
            &name);
        return NGX_HTTP_BAD_REQUEST;
    }
    return NGX_DECLINED;
}


/*
 * The last in its phase, so that realip has replaced the address before a variable that depends on
 * it is read.
 */
ngx_int_t
ngx_http_txid_late_post_read(ngx_http_request_t *r)
{
    ngx_http_txid_srv_conf_t  *tscf;

    tscf = ngx_http_get_module_srv_conf(r, ngx_http_txid_module);

    if (tscf->error_log) {
        ngx_http_txid_get_logged(r, tscf->error_log);
    }
    return NGX_DECLINED;
}
