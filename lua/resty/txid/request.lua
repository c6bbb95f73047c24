-- One id for each request: the client's own if the client is trusted, otherwise a new one, and the same through
-- redirects and subrequests. Call configure { ... } in init_by_lua, then id() or handle().

local args = require "resty.txid.args"
local native = require "resty.txid.request.native"
local options = require "resty.txid.request.options"
local store = require(require("resty.txid.lib").engine == "native" and "resty.txid.request.kept"
                      or "resty.txid.request.store")


local error = error
local get_phase = ngx.get_phase
local ngx = ngx
local ngx_exit = ngx.exit
local ngx_log = ngx.log
local pcall = pcall
local rawget = rawget
local require = require
local type = type
local var = ngx.var


local get_ctx_table = require("resty.core.ctx").get_ctx_table
local kept_id = store.id
local settings = options.check({})
local defined = {}
local trace
local _M = {}


-- Call this in init_by_lua. A wrong option stops nginx with a message that names it.
function _M.configure(given)
    args.check_table(given, "configure")
    settings = options.check(given)
    trace = settings.has_trace and require "resty.txid.request.trace"
end


-- In these phases, nginx creates a fake request and connection. The ngx.ctx of a TLS handshake lives as long as the
-- client's connection, and the ngx.ctx of each request on the connection inherits from it; elsewhere it has neither id
-- nor span.
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


-- Returns the client's id; or nil, and whether the client sent an invalid one.
local function client_id()
    if settings.trusts_nobody then
        return nil, false
    end
    return settings.sent_id(settings.policy, settings.trusts, settings.valid)
end


-- Returns a new id; and the span in this place, if the id is that of its trace.
local function make_id(place, has_client)
    if settings.is_of_trace then
        local span = settings.span(settings.policy, place, has_client and not settings.trusts_nobody, settings.trusts,
                                   has_client and settings.sample)
        return trace.trace_id(span), span
    end

    local id = settings.format()
    if type(id) ~= "string" then
        error("resty.txid.request: format returned a " .. type(id) .. ", not a string")
    end
    return id
end


-- Returns the ngx.ctx of a phase without a request, with an id.
local function context()
    local ctx = get_ctx_table()
    -- Raw, because the table inherits fields.
    if not rawget(ctx, "txid_id") then
        local id, span = make_id(settings.is_of_trace and trace.new(), false)
        -- As in keep().
        if not rawget(ctx, "txid_id") then
            ctx.txid_id, ctx.txid_span = id, span
        end
    end
    return ctx
end


-- The id of the request for which this is kept; a new one, unless it has one.
local function id_of(kept)
    local id = store.id_in(kept)
    if id then
        return id
    end
    local is_invalid, span
    id, is_invalid = client_id()
    if not id then
        id, span = make_id(settings.is_of_trace and store.span_place(kept), true)
    end
    if span then
        store.keep_span(kept, span)
    end
    return store.keep(kept, id, is_invalid and settings.rejects)
end


local function first_id()
    settings.forget()
    local phase = get_phase()
    if PHASES_WITHOUT_REQUEST[phase] then
        return context().txid_id
    end
    return id_of(store.start(phase))
end


-- The id of the request.
local function id_of_request()
    return kept_id() or first_id()
end


_M.id = id_of_request
if native.is_loaded then
    -- Otherwise nginx's module and Lua would each make an id.
    function _M.id()
        return is_of_a_request() and var.request_txid or id_of_request()
    end
end


-- The span of the request for which this is kept, as the library writes it; a new one, unless it has one.
local function span_of(kept)
    if settings.is_of_trace then
        id_of(kept)
    end
    local span = store.span_in(kept)
    if span then
        return span
    end
    span = settings.span(settings.policy, store.span_place(kept), not settings.trusts_nobody, settings.trusts,
                         settings.sample)
    return store.keep_span(kept, span)
end


local function first_span()
    local phase = get_phase()
    if not PHASES_WITHOUT_REQUEST[phase] then
        return span_of(store.start(phase))
    end

    local ctx = context()
    local span = rawget(ctx, "txid_span")
    if not span then
        span = settings.span(settings.policy, trace.new(), false)
        ctx.txid_span = span
    end
    return span
end


-- The span of the request: a table with the strings trace_id and span_id and more, as in resty.txid.trace, and with the
-- headers traceparent and b3; nil if trace is off.
function _M.span()
    if native.is_loaded and is_of_a_request() then
        return native.span()
    end
    settings.forget()
    return trace and trace.as_table(store.span() or first_span()) or nil
end


local function set_variable(name, value)
    var[name] = value
end


-- nginx knows all its variables from the start, so a variable that is missing now stays missing.
local function set_variable_if_defined(name, value)
    if defined[name] == nil then
        defined[name] = pcall(set_variable, name, value)

    elseif defined[name] then
        var[name] = value
    end
end


-- Sends the id upstream and in the response, and writes $request_txid, if map "" $request_txid { default ""; } has made
-- that variable. ("set" makes it as well, but in a server it runs again on a redirect, and clears it.) In
-- header_filter_by_lua, it replaces an id that the upstream sent, and serves errors from before rewrite_by_lua.
function _M.handle()
    settings.forget()
    local phase = get_phase()
    local is_early = phase ~= "header_filter"
    -- Beside nginx's module, the id is that of its variable, and trace is off.
    local kept = not native.is_loaded and store.start(phase)
    local id = kept and id_of(kept) or _M.id()
    local span = trace and span_of(kept) or nil
    local header = settings.header

    if is_early and settings.upstream then
        settings.send(settings.policy, id, span)
    end
    if settings.response then
        ngx.header[header] = id
    end
    if span and settings.server_timing then
        trace.add_server_timing(span)
    end
    set_variable_if_defined("request_txid", id)
    if span and defined.txid_trace_id ~= false then
        set_variable_if_defined("txid_trace_id", trace.trace_id(span))
    end
    if span and defined.txid_span_id ~= false then
        set_variable_if_defined("txid_span_id", trace.span_id(span))
    end
    if span and defined.txid_trace_sampled ~= false then
        set_variable_if_defined("txid_trace_sampled", trace.sampled(span))
    end
    if is_early and settings.rejects and store.take_rejection(kept) then
        return ngx_exit(400)
    end
end


-- ngx.log with the id before the message.
function _M.log(level, ...)
    -- A tail call, so that the log names the caller's line and not this one.
    return ngx_log(level, "[", _M.id(), "] ", ...)
end


return _M
