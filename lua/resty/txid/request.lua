-- One id for each request: the client's own if the client is trusted, otherwise a new one, and the same through
-- redirects and subrequests. Call configure { ... } in init_by_lua, then id() or handle().

local args = require "resty.txid.args"
local native = require "resty.txid.request.native"
local options = require "resty.txid.request.options"

local is_native = require("resty.txid.lib").engine == "native"
local policies = require(is_native and "resty.txid.request.decide" or "resty.txid.request.plain")
local span_line = is_native and require "resty.txid.request.span_line"
local store = require(is_native and "resty.txid.request.kept" or "resty.txid.request.store")


local INFO = ngx.INFO
local error = error
local get_phase = ngx.get_phase
local ngx = ngx
local ngx_exit = ngx.exit
local ngx_log = ngx.log
local pcall = pcall
local rawget = rawget
local require = require
local response_header = ngx.header
local select = select
local type = type
local var = ngx.var


local get_ctx_table = require("resty.core.ctx").get_ctx_table
local decide_now = policies.decide
local forget = policies.forget
local id_in = store.id_in
local keep_id = store.keep
local kept_id = store.id
local prepare = policies.prepare
local send = policies.send
local span_in = store.span_in
local start = store.start
local configured = options.check({})
local defined, has_span_variables = {}, true
local trace = native.is_loaded and require "resty.txid.request.trace"
local _M = {}


-- Call this in init_by_lua. A wrong option stops nginx with a message that names it.
function _M.configure(given)
    args.check_table(given, "configure")
    configured = options.check(given)
    trace = trace or configured.has_trace and require "resty.txid.request.trace"
end


-- Returns a policy for id() and handle(). It takes the same options.
function _M.policy(given)
    args.check_table(given, "policy")
    local checked = options.check(given)
    trace = trace or checked.has_trace and require "resty.txid.request.trace"
    return checked
end


-- In these phases, nginx creates a fake request and connection. The ngx.ctx of a TLS handshake lives as long as the
-- client's connection, and the ngx.ctx of each request on the connection inherits from it; elsewhere it has neither id
-- nor span. (proxy_ssl_cert and proxy_ssl_verify are not among them: there, the request is the client's.)
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


-- Returns a new id, which is that of the trace if the settings say so.
local function new_id(settings, span)
    if settings.is_of_trace then
        return trace.trace_id(span)
    end

    local id = settings.format()
    if settings.may_wait then
        forget()
    end
    if type(id) ~= "string" then
        error("resty.txid.request: format returned a " .. type(id) .. ", not a string")
    end
    return id
end


-- Returns a new span in this place, where there is no request.
local function new_span(place)
    policies.start(configured, place)
    return place
end


-- Returns the ngx.ctx of a phase without a request, with an id.
local function context()
    local ctx = get_ctx_table()
    -- Raw, because the table inherits fields.
    if not rawget(ctx, "txid_id") then
        local span = configured.is_of_trace and new_span(trace.new())
        local id = new_id(configured, span)
        -- As in keep().
        if not rawget(ctx, "txid_id") then
            ctx.txid_id, ctx.txid_span = id, span
        end
    end
    return ctx
end


-- Decides what is not decided yet: the id, and the span if it is wanted. Returns both. If the headers that change are
-- wanted, too, they may be decided as well.
local function decide(settings, kept, wants_span, wants_changes)
    local id, span = id_in(kept), span_in(kept)
    if id and (span or not wants_span) then
        return id, span
    end
    local about
    if wants_span or not settings.trusts_nobody then
        if prepare(settings, kept) then
            -- While it waited, another thread or a subrequest may have been first.
            id, span = id_in(kept), span_in(kept)
        end
        local place = wants_span and not span and store.span_place(kept) or nil
        local sent
        sent, about = decide_now(settings, not id, place, wants_changes and not id and (place ~= nil or not wants_span))
        id, span = id or sent, place and store.keep_span(kept, place) or span
    end
    if about and settings.rejects then
        ngx_log(INFO, 'client sent an invalid "', settings.headers[about + 1], '" header')
    end
    return keep_id(kept, id or new_id(settings, span), about and settings.rejects), span
end


local function first_id(settings)
    forget()
    local phase = get_phase()
    if PHASES_WITHOUT_REQUEST[phase] then
        return context().txid_id
    end
    return (decide(settings, start(phase), settings.is_of_trace))
end


-- The id of the request, by the options of `policy`, or those of configure().
local function id_of_request(policy)
    return kept_id() or first_id(policy or configured)
end


_M.id = id_of_request
if native.is_loaded then
    -- Otherwise nginx's module and Lua would each make an id.
    function _M.id(policy)
        return is_of_a_request() and var.request_txid or id_of_request(policy)
    end
end


local function first_span()
    local phase = get_phase()
    if not PHASES_WITHOUT_REQUEST[phase] then
        local kept = start(phase)
        -- In the log phase, what handle(policy) has kept is found late.
        return span_in(kept) or configured.has_trace and select(2, decide(configured, kept, true))
    end
    if not configured.has_trace then
        return nil
    end

    local ctx = context()
    local span = rawget(ctx, "txid_span")
    if not span then
        span = new_span(trace.new())
        ctx.txid_span = span
    end
    return span
end


-- The txid_span of the request, or false or nil without one.
local function span_of_request()
    if native.is_loaded and is_of_a_request() then
        return native.span()
    end
    forget()
    return trace and (store.span() or first_span())
end


-- The span of the request: a table with the strings trace_id and span_id and more, as in resty.txid.trace, and with the
-- headers traceparent and b3; nil if trace is off.
function _M.span()
    local span = span_of_request()
    return span and trace.as_table(span) or nil
end


-- The span of a request as a line of OTLP/JSON, for an access log: call this in log_by_lua, with
-- { service =, name =, attributes = }. Returns nil if the trace is not recorded, and in a subrequest.
function _M.span_line(given)
    args.check_table(given, "span_line")
    if ngx.is_subrequest or not is_of_a_request() then
        return nil
    end
    local span = span_of_request()
    return span and span_line(span, _M.id(), given) or nil
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


-- Sends the id upstream and in the response, by the options of `policy`, or those of configure(). An id or a span that
-- the request has stays. Writes $request_txid, if map "" $request_txid { default ""; } has made that variable. ("set"
-- makes it as well, but in a server it runs again on a redirect, and clears it.) In header_filter_by_lua, it replaces
-- an id that the upstream sent, and serves errors from before rewrite_by_lua.
function _M.handle(policy)
    forget()
    local settings = policy or configured
    local phase = get_phase()
    local is_early = phase ~= "header_filter"
    -- Beside nginx's module, the id is that of its variable, and trace is off.
    local kept = not native.is_loaded and start(phase)
    local sends = is_early and settings.upstream
    local id, span
    if kept then
        id, span = decide(settings, kept, settings.has_trace, sends)
    else
        id = _M.id()
    end

    if sends then
        send(settings, kept, id, settings.has_trace and span or nil)
    end
    if settings.response then
        response_header[settings.header] = id
    end
    if span and settings.server_timing then
        trace.add_server_timing(span)
    end
    if defined.request_txid ~= false then
        set_variable_if_defined("request_txid", id)
    end
    if span and has_span_variables then
        set_variable_if_defined("txid_trace_id", trace.trace_id(span))
        set_variable_if_defined("txid_span_id", trace.span_id(span))
        set_variable_if_defined("txid_trace_sampled", trace.sampled(span))
        has_span_variables = defined.txid_trace_id or defined.txid_span_id or defined.txid_trace_sampled
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
