-- One id for each request in Envoy: the client's own if the client is trusted, otherwise a new one. In the code of a
-- Lua filter, call new { ... }, and take its functions as envoy_on_request and envoy_on_response.

local args = require "resty.txid.args"
local is_native = require("resty.txid.lib").engine == "native"
local options = require "resty.txid.request.options"
local deciders = require(is_native and "resty.txid.request.by_name" or "resty.txid.request.rules")
local without_port = require("resty.txid.request.rules").without_port


local error = error
local find = string.find
local gsub = string.gsub
local jit = jit
local pairs = pairs
local pcall = pcall
local tostring, type = tostring, type


-- To ask for so many headers takes no longer than to look at all that there are.
local FEW = 8


-- Returns on_request, and on_response if it has something to do. A wrong option stops Envoy, and the message names it.
local function new(given)
    args.check_table(given, "new")
    local settings = options.check(given)
    local decider = deciders.new(settings)
    local names, at_of, sent = decider.names, {}, {}
    local trusts = settings.trusts or decider.trusts
    -- Otherwise there is nothing to decide.
    local decides = settings.has_trace or settings.ids > 1 or not settings.trusts_nobody
    for i = 1, #names do
        at_of[names[i]], sent[i] = i, false
    end
    local has_found = false

    local function found(i, value)
        sent[i], has_found = value, true
    end

    -- Finds what came in of `names`: in `sent`, false, a value, or true where there are several. Returns whether any
    -- did.
    local function look(headers)
        for i = 1, has_found and #names or 0 do
            sent[i] = false
        end
        has_found = false
        if #names > FEW then
            for name, value in pairs(headers) do
                local i = at_of[name]
                if i then
                    found(i, sent[i] and true or value)
                end
            end
            return has_found
        end
        for i = 1, #names do
            local value = headers:get(names[i])
            if value then
                -- Envoy joins several by commas.
                found(i, find(value, ",", 1, true) and headers:getNumValues(names[i]) > 1 or value)
            end
        end
        return has_found
    end

    -- LuaJIT would compile each turn by itself, which takes longer.
    jit.off(look)

    local function is_trusted(handle)
        return not settings.trusts_nobody and trusts(without_port(handle:streamInfo():downstreamDirectRemoteAddress()))
    end

    -- Returns whether the request is rejected. Without headers, Envoy has answered it before it came to the filter.
    local function start(handle, headers)
        local known, about
        if decides then
            local came_in = headers and look(headers) and sent
            known, about = decider.decide(came_in, came_in and is_trusted(handle))
        end
        local trace_id, span_id, traceparent, parent_span_id = decider.span()
        local id = known or settings.is_of_trace and trace_id or settings.format()
        if type(id) ~= "string" then
            error("format returned a " .. type(id) .. ", not a string", 0)
        end
        if headers and settings.upstream then
            if decides then
                decider.change(headers)
            end
            headers:replace(names[1], id)
        end
        if settings.response or settings.server_timing then
            local metadata = handle:streamInfo():dynamicMetadata()
            metadata:set("txid", "id", id)
            if trace_id then
                metadata:set("txid", "trace_id", trace_id)
            end
            if span_id then
                metadata:set("txid", "span_id", span_id)
                metadata:set("txid", "traceparent", traceparent)
            end
            if parent_span_id and parent_span_id ~= "" then
                metadata:set("txid", "parent_span_id", parent_span_id)
            end
        end
        if about and settings.rejects then
            handle:logInfo('client sent an invalid "' .. settings.headers[about + 1] .. '" header')
            return true
        end
        return false
    end

    local function finish(handle, headers)
        local metadata = handle:streamInfo():dynamicMetadata()
        if not metadata:get("txid") then
            start(handle)
        end
        local made = metadata:get("txid")
        if settings.response then
            headers:replace(names[1], made.id)
        end
        if settings.server_timing then
            headers:add("server-timing", (gsub('traceparent;desc="SPAN", trace;desc=SPAN', "SPAN", made.traceparent)))
        end
    end

    -- Envoy goes on after an error. A header that a client made up must not.
    local function protected(run, handle)
        local headers = handle:headers()
        local ok, result = pcall(run, handle, headers)
        for i = 1, ok and 0 or #names do
            headers:remove(names[i])
        end
        return ok and result or not ok and handle:logErr("resty.txid.envoy: " .. tostring(result))
    end

    return {
        on_request = function(handle)
            return protected(start, handle) and handle:respond({ [":status"] = "400" })
        end,
        on_response = (settings.response or settings.server_timing) and function(handle)
            protected(finish, handle)
        end or nil,
    }
end


return { new = new }
