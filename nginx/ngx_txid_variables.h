/*
 * How variables are added, and the directives that add some: the same for http and stream. Each of
 * them includes this file once, after its handlers, which find the values. ngx_txid_of(name) is
 * nginx's name there, and NGX_TXID_VAR(NAME) a flag.
 */

#define txid_of(name)  ngx_txid_of(txid_ ## name)


static ngx_int_t
txid_of(add)(ngx_conf_t *cf, const ngx_str_t *name, ngx_txid_of(get_variable_pt) handler,
    uintptr_t data, ngx_uint_t flags)
{
    ngx_str_t                 copy = *name;
    ngx_txid_of(variable_t)  *var;

    var = ngx_txid_of(add_variable)(cf, &copy, flags);
    if (var == NULL) {
        return NGX_ERROR;
    }
    /* One that was there can be changed. */
    if (var->flags & NGX_TXID_VAR(CHANGEABLE)) {
        ngx_txid_conf_error(cf, ngx_txid_is_taken, name);
        return NGX_ERROR;
    }

    var->get_handler = handler;
    var->data = data;
    return NGX_OK;
}


/* Returns the index of the variable. */
static ngx_int_t
txid_of(add_indexed)(ngx_conf_t *cf, const ngx_str_t *name, ngx_txid_of(get_variable_pt) handler,
    uintptr_t data)
{
    ngx_str_t  copy = *name;

    if (txid_of(add)(cf, name, handler, data, 0) != NGX_OK) {
        return NGX_ERROR;
    }
    return ngx_txid_of(get_variable_index)(cf, &copy);
}


/* Adds a variable with ids of the format that the words name; without words, with txids. */
static ngx_int_t
txid_of(add_ids)(ngx_conf_t *cf, const ngx_str_t *name, const ngx_str_t *words, size_t count)
{
    ngx_txid_ids_t        *ids;
    txid_of(main_conf_t)  *tmcf;

    ids = ngx_palloc(cf->pool, sizeof(ngx_txid_ids_t));
    if (ids == NULL) {
        return NGX_ERROR;
    }

    if (count == 0) {
        tmcf = ngx_txid_of(conf_get_module_main_conf)(cf, txid_of(module));
        ids->generator = tmcf->generator;
        ids->index = txid_of(add_indexed)(cf, name, txid_of(txid), (uintptr_t) ids);
        return ids->index == NGX_ERROR ? NGX_ERROR : NGX_OK;
    }

    ids->maker = ngx_txid_open_maker(cf, words, count);
    if (ids->maker == NULL) {
        return NGX_ERROR;
    }

    ids->index = txid_of(add_indexed)(cf, name, txid_of(ids), (uintptr_t) ids);
    return ids->index == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


/* $txid, one for each other format, and those of a span. */
static ngx_int_t
txid_of(add_common)(ngx_conf_t *cf)
{
    const ngx_txid_part_t    *part;
    const ngx_txid_format_t  *format;
    txid_of(main_conf_t)     *tmcf;

    static ngx_str_t  txid = ngx_string("txid");
    static ngx_str_t  trace_id = ngx_string("txid_trace_id");

    tmcf = ngx_txid_of(conf_get_module_main_conf)(cf, txid_of(module));

    tmcf->generator = ngx_txid_open_generator(cf);
    if (tmcf->generator == NULL || txid_of(add_ids)(cf, &txid, NULL, 0) != NGX_OK) {
        return NGX_ERROR;
    }

    for (format = ngx_txid_formats; format->name.len; format++) {
        if (txid_of(add_ids)(cf, &format->name, &format->format, 1) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    tmcf->span = txid_of(add_indexed)(cf, &trace_id, txid_of(trace_id), 0);
    if (tmcf->span == NGX_ERROR) {
        return NGX_ERROR;
    }

    for (part = ngx_txid_parts; part->name.len; part++) {
        if (txid_of(add)(cf, &part->name, txid_of(part), (uintptr_t) part, 0) != NGX_OK) {
            return NGX_ERROR;
        }
    }
    return NGX_OK;
}


char *
txid_of(variable)(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t              name, *words;
    txid_of(main_conf_t)  *tmcf;

    words = cf->args->elts;
    tmcf = ngx_txid_of(conf_get_module_main_conf)(cf, txid_of(module));
    if (ngx_txid_variable_name(cf, &words[1], &name) != NGX_OK
        || txid_of(add_ids)(cf, &name, &words[2], cf->args->nelts - 2) != NGX_OK
        || ngx_txid_note_made(cf, &tmcf->made, &words[2], cf->args->nelts - 2) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }
    return NGX_CONF_OK;
}


/* Adds a variable that is made of another one, which may change, and sets the index of that one. */
static char *
txid_of(add_made_of)(ngx_conf_t *cf, const ngx_str_t *name, ngx_txid_of(get_variable_pt) handler,
    void *data, ngx_str_t *source, ngx_int_t *index)
{
    *index = ngx_txid_of(get_variable_index)(cf, source);
    if (*index == NGX_ERROR
        || txid_of(add)(cf, name, handler, (uintptr_t) data, NGX_TXID_VAR(NOCACHEABLE)) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }
    return NGX_CONF_OK;
}


char *
txid_of(time)(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t              source, name;
    ngx_txid_time_t       *time;
    txid_of(main_conf_t)  *tmcf;

    tmcf = ngx_txid_of(conf_get_module_main_conf)(cf, txid_of(module));
    time = ngx_txid_time_words(cf, &tmcf->times, &source, &name);
    return time == NULL
        ? NGX_CONF_ERROR
        : txid_of(add_made_of)(cf, &name, txid_of(read_time), time, &source, &time->source);
}


char *
txid_of(hidden)(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t           name, source;
    ngx_txid_hidden_t  *hidden;

    hidden = ngx_txid_hidden_words(cf, &name, &source);
    return hidden == NULL
        ? NGX_CONF_ERROR
        : txid_of(add_made_of)(cf, &name, txid_of(find_hidden), hidden, &source, &hidden->source);
}
