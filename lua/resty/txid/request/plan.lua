-- What the library decides about a request in a gateway that reads and changes headers by their names.

local ffi = require "ffi"
local lib = require "resty.txid.lib"
local rules = require "resty.txid.request.rules"


local INVALID = lib.VERDICT_INVALID
local L = lib.C
local SPAN_ID_LEN = lib.SPAN_ID_LEN
local TRACE_ID_LEN = lib.TRACE_ID_LEN
local clock_ms = lib.clock_ms
local ffi_gc = ffi.gc
local ffi_new = ffi.new
local ffi_str = ffi.string
local first_id = rules.first_id
local tonumber = tonumber
local without_port = rules.without_port


local _M = {
    open = require("resty.txid.request.open").open,
    forget = rules.forget,
    reader = rules.reader,
}


-- Returns what decides under the policy of these options.
function _M.new(options)
    local plan = ffi_gc(L.txid_plan_open(options.policy), L.txid_plan_close)
    local read_count = tonumber(plan.read_count)
    local values = ffi_new("txid_text[?]", read_count)
    local names, changed, changed_to = {}, {}, {}
    for i = 1, tonumber(plan.name_count) do
        local name = plan.names[i - 1]
        names[i] = ffi_str(name.data, name.len)
    end
    -- Of all headers that are read or changed. The first are read, if the sender is trusted.
    local self = { names = names, read_count = read_count }

    function self.trusts(address)
        if options.trusts then
            return options.trusts(without_port(address))
        end
        return (L.txid_plan_trusts(plan, address, #address))
    end

    -- Returns the id that came in, if it is accepted, or nil; and whether it is invalid. `sent` has the values of the
    -- headers that are read, or false; it is nil if the sender is not trusted.
    function self.fill(sent)
        if not sent and not options.has_trace then
            return nil, false
        end
        if sent then
            for i = 1, read_count do
                local value = sent[i]
                values[i - 1].data = value or nil
                values[i - 1].len = value and #value or 0
            end
        end
        local verdict = L.txid_plan_fill(plan, clock_ms(), sent and values or nil)
        if sent and options.valid then
            return first_id(sent, options.ids, options.valid)
        end
        local id = plan.id
        return id.len ~= 0 and ffi_str(id.data, id.len) or nil, verdict == INVALID
    end

    -- Changes the headers of traces. (First all FFI, which LuaJIT compiles, and then all calls of the gateway's
    -- functions, which it does not.)
    function self.change(headers)
        local changes, count = plan.changes, tonumber(plan.change_count)
        for i = 1, count do
            local change = changes[i - 1]
            local data = change.value.data
            changed[i] = names[tonumber(change.place) + 1]
            changed_to[i] = data ~= nil and ffi_str(data, change.value.len)
        end
        for i = 1, count do
            if changed_to[i] then
                headers:replace(changed[i], changed_to[i])
            else
                headers:remove(changed[i])
            end
        end
    end

    -- Returns the ids of the trace and of the span, and the traceparent with both; nil without traces.
    function self.span()
        if not options.has_trace then
            return nil
        end
        local text = plan.traceparent
        local traceparent = text.data
        return ffi_str(traceparent + 3, TRACE_ID_LEN), ffi_str(traceparent + 36, SPAN_ID_LEN),
               (ffi_str(traceparent, text.len))
    end

    return self
end


return _M
