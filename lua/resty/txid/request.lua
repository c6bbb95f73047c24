-- One id a request: the client's own where it may be trusted, a new one elsewhere, the same wherever nginx takes it.
-- Call configure { ... } in init_by_lua, then id() or handle().

local args = require "resty.txid.args"
local native = require "resty.txid.request.native"
local options = require "resty.txid.request.options"
local store = require "resty.txid.request.store"


local error = error
local get_phase = ngx.get_phase
local ngx = ngx
local ngx_exit = ngx.exit
local ngx_log = ngx.log
local pcall = pcall
local rawget = rawget
local req_get_headers = ngx.req.get_headers
local req_set_header = ngx.req.set_header
local require = require
local lower = string.lower
local type = type
local var = ngx.var


local context = store.context
local find_kept = store.find
local keep = store.keep
local settings = options.check({})
local defined = {}
local trace
local _M = {}


-- Call it in init_by_lua. What is wrong stops nginx with a line that names it.
function _M.configure(given)
    args.check_table(given, "configure")
    settings = options.check(given)
    trace = settings.trace and require "resty.txid.request.trace"
end


-- In these, nginx makes up a request and, for the moment, a connection. The ngx.ctx of a TLS handshake lives as long as
-- the client's connection does, and that of each request of the connection inherits from it.
local PHASES_WITHOUT_REQUEST = {
    exit_worker = true,
    init_worker = true,
    ssl_cert = true,
    ssl_client_hello = true,
    ssl_session_fetch = true,
    ssl_session_store = true,
    timer = true,
}


local function is_of_a_request()
    return not PHASES_WITHOUT_REQUEST[get_phase()]
end


local function is_accepted()
    local accept = settings.accept
    if type(accept) == "boolean" then
        return accept
    end
    -- realip puts an address in the place of the peer's that a client may have made up.
    return accept(var.realip_remote_addr or var.remote_addr)
end


-- Returns the client's id, or nil and true when the request is to be rejected for it.
local function client_id()
    -- A look at the variable first spares the requests without an id a table of all their headers.
    if not settings.accept or not is_of_a_request() or not var[settings.header_variable] or not is_accepted() then
        return nil
    end

    -- The variable has the first of many headers, or all of them, by nginx's version. Of many, none is the right one.
    local id = rawget(req_get_headers(0), lower(settings.header))
    if type(id) ~= "string" then
        return nil
    end
    if settings.valid(id) then
        return id
    end
    return nil, settings.on_invalid == "reject"
end


local function first_id(ctx)
    local kept, address = find_kept()
    if not kept then
        local id, rejected = client_id()
        if not id then
            id = settings.format()
            if type(id) ~= "string" then
                error("resty.txid.request: format made a " .. type(id) .. ", not a string")
            end
        end

        -- Where a function of the settings has waited, another thread or a subrequest may have been faster.
        kept = find_kept() or ctx
        if not rawget(kept, "txid_id") then
            kept.txid_id = id
            if rejected then
                kept.txid_rejected = true
            end
            if is_of_a_request() then
                keep(kept, address)
            end
        end
    end

    local id = kept.txid_id
    ctx.txid_id = id
    return id
end


-- The id of the request.
local function id_of_request()
    local ctx = context()
    -- Raw, because of what a request inherits.
    return rawget(ctx, "txid_id") or first_id(ctx)
end


_M.id = id_of_request
if native.is_loaded then
    -- nginx's own module and Lua do not each make one.
    function _M.id()
        return is_of_a_request() and var.request_txid or id_of_request()
    end
end


-- The span of the request, a table with the strings trace_id and span_id and more, as resty.txid.trace has them. Where
-- trace is off it is nil.
function _M.span()
    if not settings.trace then
        return nil
    end

    local ctx = context()
    local span = rawget(ctx, "txid_span")
    if not span then
        id_of_request()
        local kept = find_kept() or ctx
        span = rawget(kept, "txid_span")
        if not span then
            local headers = settings.accept and is_of_a_request() and is_accepted() and req_get_headers(0)
            -- As in first_id().
            span = rawget(kept, "txid_span") or trace.span(settings.trace, settings.trace_id_header, headers)
            kept.txid_span = span
        end
        ctx.txid_span = span
    end
    return span
end


local function set_variable(name, value)
    var[name] = value
end


-- nginx knows all its variables from the start: one that is not there now never will be.
local function set_variable_if_defined(name, value)
    if defined[name] == nil then
        defined[name] = pcall(set_variable, name, value)

    elseif defined[name] then
        var[name] = value
    end
end


-- Once: the page that says so may be a redirect away, and handled, too.
local function is_to_be_rejected()
    local kept = find_kept() or context()
    if kept.txid_rejected then
        kept.txid_rejected = nil
        return true
    end
    return false
end


-- Sends the id upstream and in the response, and writes $request_txid, if there is one. (map "" $request_txid { default
-- ""; } makes one. "set" does, too, but in a server it runs again on a redirect, and after server_rewrite_by_lua.)
-- In header_filter_by_lua it does what is left to do then: for errors that nginx finds before it comes to
-- rewrite_by_lua, and in place of an id that the upstream sent.
function _M.handle()
    local id = _M.id()
    local span = _M.span()
    local header = settings.header
    local is_early = get_phase() ~= "header_filter"

    if is_early and settings.upstream then
        req_set_header(header, id)
        if span then
            trace.send(settings.trace, settings.trace_id_header, span)
        end
    end
    if settings.response then
        ngx.header[header] = id
    end
    set_variable_if_defined("request_txid", id)
    if span then
        set_variable_if_defined("txid_trace_id", span.trace_id)
        set_variable_if_defined("txid_span_id", span.span_id)
    end
    if is_early and settings.on_invalid == "reject" and is_to_be_rejected() then
        return ngx_exit(400)
    end
end


-- ngx.log with the id in front.
function _M.log(level, ...)
    -- A tail call, so that the line in the log names the caller's place and not this one.
    return ngx_log(level, "[", _M.id(), "] ", ...)
end


return _M
