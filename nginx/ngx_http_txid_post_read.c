/*
 * Runs as soon as a request is read: adds its id to its lines of the error log, and may reject a
 * request with an invalid id.
 */

#include "ngx_http_txid.h"


static ngx_int_t
ngx_http_txid_check_id(ngx_http_request_t *r, const ngx_http_txid_srv_conf_t *tscf)
{
    ngx_str_t  name;

    if (!tscf->rejects || !ngx_http_txid_sent_invalid_id(r, &name)) {
        return NGX_DECLINED;
    }

    if (tscf->error_log) {
        ngx_http_txid_get_logged(r, tscf->error_log);
    }
    ngx_log_error(NGX_LOG_INFO, r->connection->log, 0, "client sent an invalid \"%V\" header",
        &name);
    return NGX_HTTP_BAD_REQUEST;
}


ngx_int_t
ngx_http_txid_post_read(ngx_http_request_t *r)
{
    ngx_http_txid_srv_conf_t  *tscf;

    tscf = ngx_http_get_module_srv_conf(r, ngx_http_txid_module);

    if (tscf->error_log) {
        ngx_http_txid_add_to_error_log(r, tscf->error_log);
    }
    return tscf->accept ? NGX_DECLINED : ngx_http_txid_check_id(r, tscf);
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
    return tscf->accept ? ngx_http_txid_check_id(r, tscf) : NGX_DECLINED;
}
