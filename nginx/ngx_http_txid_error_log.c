/*
 * Adds the id, or another variable, to the request's lines of the error log.
 */

#include "ngx_http_txid.h"


/* A longer value is cut off: a line of the log has 2048 characters. */
#define NGX_HTTP_TXID_LOGGED_LEN  256


/* The argument of txid_error_log. */
char *
ngx_http_txid_error_log(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_txid_srv_conf_t  *tscf = conf;

    ngx_str_t                  *words;
    ngx_http_txid_logged_t     *logged;
    ngx_http_txid_main_conf_t  *tmcf;

    if (tscf->error_log != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    words = cf->args->elts;
    if (ngx_strcmp(words[1].data, "off") == 0) {
        tscf->error_log = NULL;
        return NGX_CONF_OK;
    }

    logged = ngx_pcalloc(cf->pool, sizeof(ngx_http_txid_logged_t));
    if (logged == NULL) {
        return NGX_CONF_ERROR;
    }

    if (ngx_strcmp(words[1].data, "on") == 0) {
        tmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_txid_module);
        ngx_str_set(&logged->name, "txid");
        logged->index = tmcf->request;

    } else if (words[1].len > 1 && words[1].data[0] == '$') {
        logged->name.len = words[1].len - 1;
        logged->name.data = words[1].data + 1;
        logged->index = ngx_http_get_variable_index(cf, &logged->name);
        if (logged->index == NGX_ERROR) {
            return NGX_CONF_ERROR;
        }

    } else {
        ngx_txid_conf_error(cf, "\"%V\" is neither on, off nor a $variable", &words[1]);
        return NGX_CONF_ERROR;
    }

#if (NGX_HTTP_TXID_LOG_PROPERTIES)
    logged->property.name = logged->name;
    logged->property.module = "http";
    logged->property.type = NGX_LOG_PT_STR;
    logged->property.tag.str = logged->name;
    if (ngx_log_add_property(cf->cycle, &logged->property) != NGX_OK) {
        return NGX_CONF_ERROR;
    }
#endif

    tscf->error_log = logged;
    return NGX_CONF_OK;
}


/*
 * Copies the value, which was read earlier: reading it here could itself write to the log. Clients
 * may have chosen it, so what could end a line or a quotation is escaped as in the access log. What
 * cannot be had is "-". nginx gives its handlers the main request.
 */
static const ngx_http_txid_logged_t *
ngx_http_txid_find_logged(ngx_http_request_t *r, u_char *text, ngx_str_t *value)
{
    u_char                     c, *end, *last;
    ngx_uint_t                 i;
    ngx_http_txid_srv_conf_t  *tscf;
    ngx_http_variable_value_t  *v;

    static const u_char  hex[] = "0123456789ABCDEF";

    tscf = ngx_http_get_module_srv_conf(r, ngx_http_txid_module);
    if (tscf->error_log == NULL) {
        return NULL;
    }

    v = &r->variables[tscf->error_log->index];
    end = text;
    last = text + NGX_HTTP_TXID_LOGGED_LEN - 4;

    if (v->valid && !v->not_found) {
        for (i = 0; i < v->len && end < last; i++) {
            c = v->data[i];

            if (c < 0x20 || c > 0x7e || c == '"' || c == '\\') {
                *end++ = '\\';
                *end++ = 'x';
                *end++ = hex[c >> 4];
                *end++ = hex[c & 0xf];

            } else {
                *end++ = c;
            }
        }
    }

    if (end == text) {
        *end++ = '-';
    }
    value->len = end - text;
    value->data = text;
    return tscf->error_log;
}


/*
 * The handler that the request had before. Most often it is nginx's own, but other modules set one
 * for some requests, such as Kong's. It is kept with the request's pool, because a redirect clears
 * the module's context. Angie has one of another type since 1.12.
 */
#if (NGX_HTTP_TXID_LOG_PROPERTIES)
typedef ngx_log_ext_handler_pt  ngx_http_txid_log_handler_pt;
#else
typedef ngx_http_log_handler_pt  ngx_http_txid_log_handler_pt;
#endif


/* It marks the entry. */
static void
ngx_http_txid_forget_log_handler(void *data)
{
}


static ngx_http_txid_log_handler_pt
ngx_http_txid_next_log_handler(const ngx_http_request_t *r)
{
    ngx_pool_cleanup_t  *cln;

    for (cln = r->pool->cleanup; cln; cln = cln->next) {
        if (cln->handler == ngx_http_txid_forget_log_handler) {
            return *(ngx_http_txid_log_handler_pt *) cln->data;
        }
    }
    return NULL;
}


#if (NGX_HTTP_TXID_LOG_PROPERTIES)


static u_char *
ngx_http_txid_log_handler(ngx_log_t *log, u_char *buf, u_char *last, void *data)
{
    ngx_http_log_ctx_t  *ctx = data;

    u_char                         text[NGX_HTTP_TXID_LOGGED_LEN];
    ngx_str_t                      value;
    ngx_log_property_key_t         key;
    ngx_http_txid_log_handler_pt   next;
    const ngx_http_txid_logged_t  *logged;

    logged = ngx_http_txid_find_logged(ctx->request, text, &value);
    if (logged != NULL) {
        key.id = logged->property.index;
        buf = ngx_log_property(log, buf, last, key, "%V", &value);
    }
    next = ngx_http_txid_next_log_handler(ctx->request);
    return next ? next(log, buf, last, data) : buf;
}

#else

static u_char *
ngx_http_txid_log_handler(ngx_http_request_t *r, ngx_http_request_t *sr, u_char *buf, size_t len)
{
    u_char                         text[NGX_HTTP_TXID_LOGGED_LEN], *end;
    ngx_str_t                      value;
    ngx_http_txid_log_handler_pt   next;
    const ngx_http_txid_logged_t  *logged;

    logged = ngx_http_txid_find_logged(r, text, &value);
    if (logged != NULL) {
        end = ngx_snprintf(buf, len, ", %V: %V", &logged->name, &value);
        len -= end - buf;
        buf = end;
    }
    next = ngx_http_txid_next_log_handler(r);
    return next ? next(r, sr, buf, len) : buf;
}

#endif


/* Without memory, the lines of the request lack it. */
void
ngx_http_txid_add_to_error_log(ngx_http_request_t *r, const ngx_http_txid_logged_t *logged)
{
    ngx_pool_cleanup_t         *cln;
    ngx_http_txid_main_conf_t  *tmcf;
    ngx_http_txid_srv_conf_t   *tscf;

    /* Without a variable, the id depends on nothing that comes later in this phase. */
    tmcf = ngx_http_get_module_main_conf(r, ngx_http_txid_module);
    tscf = ngx_http_get_module_srv_conf(r, ngx_http_txid_module);
    if (logged->index == tmcf->request && tscf->accept == NULL) {
        (void) ngx_http_txid_kept_id(r);
    }

    cln = ngx_pool_cleanup_add(r->pool, sizeof(ngx_http_txid_log_handler_pt));
    if (cln == NULL) {
        return;
    }

    cln->handler = ngx_http_txid_forget_log_handler;
    *(ngx_http_txid_log_handler_pt *) cln->data = r->log_handler;
    r->log_handler = ngx_http_txid_log_handler;
}


/* Reads the variable. If it cannot be had yet, it may still be read later. */
void
ngx_http_txid_get_logged(ngx_http_request_t *r, const ngx_http_txid_logged_t *logged)
{
    (void) ngx_http_get_indexed_variable(r, logged->index);

    if (!r->variables[logged->index].valid) {
        r->variables[logged->index].not_found = 0;
    }
}
