-- Asks the library about a request of a gateway that reads and changes headers by their names.

local bit = require "bit"
local ffi = require "ffi"
local lib = require "resty.txid.lib"
local rules = require "resty.txid.request.rules"


local ACCEPTED = lib.VERDICT_ACCEPTED
local INVALID = lib.VERDICT_INVALID
local L = lib.C
local SPAN_ID_LEN = lib.SPAN_ID_LEN
local SPAN_OF_NONE = lib.SPAN_OF_NONE
local SPAN_OF_TRACE = lib.SPAN_OF_TRACE
local TRACEPARENT_LEN = lib.TRACEPARENT_LEN
local TRACE_ID_LEN = lib.TRACE_ID_LEN
local band = bit.band
local bor = bit.bor
local clock_ms = lib.clock_ms
local ffi_new = ffi.new
local ffi_str = ffi.string
local lower = string.lower
local lshift = bit.lshift
local refused = rules.refused
local tonumber = tonumber


local _M = {}


-- Returns what decides under the policy of these settings.
function _M.new(settings)
    local policy = settings.policy
    local changes, decision = ffi_new("txid_changed_headers"), ffi_new("txid_decision")
    local request = ffi_new("txid_request")
    local span = settings.has_trace and ffi_new("txid_span") or nil
    local wants = bor(lib.WANTS_ID, lib.WANTS_CHANGES, span and lib.WANTS_SPAN or 0)
    decision.changes, decision.span = changes, span
    request.judges = settings.valid and true

    -- The headers that may change, and their places.
    local names, places = {}, {}
    local name = ffi_new("txid_text")
    for place = 0, lib.PLACES - 1 do
        L.txid_policy_header(policy, place, name)
        if name.len ~= 0 then
            names[#names + 1], places[#names + 1] = lower(ffi_str(name.data, name.len)), place
        end
    end
    local self, changed, changed_to, is_new = { names = names }, {}, {}, {}

    function self.trusts(address)
        request.peer.text.data, request.peer.text.len, request.trust = address, #address, 0
        return (L.txid_request_trust(policy, request))
    end

    -- Decides about a request with these values of `names`, each of which may be false, or true if it is repeated; or
    -- with none, if none came. Returns the id that is kept; or nil, and the place of the first invalid one.
    function self.decide(sent, is_trusted)
        local came, repeated = 0, 0
        for i = 1, sent and #names or 0 do
            local value, place = sent[i], lshift(1, places[i])
            if value then
                came = bor(came, place)
                if value == true then
                    repeated = bor(repeated, place)
                else
                    local text = request.values[places[i]]
                    text.data, text.len = value, #value
                end
            end
        end
        request.came, request.repeated, request.trust = came, repeated, is_trusted and 1 or -1
        request.refused = is_trusted and settings.valid and refused(settings.valid, request, settings.ids) or 0
        decision.id.len = 0
        local verdict = L.txid_decide(policy, clock_ms(), request, wants, decision)
        if verdict == ACCEPTED then
            return ffi_str(decision.id.data, decision.id.len)
        end
        return nil, verdict == INVALID and decision.about or nil
    end

    -- Changes headers, but not that of an id that is made. (First all FFI, which LuaJIT compiles, and then all calls of
    -- the gateway's functions, which it does not.)
    function self.change(headers)
        local count = tonumber(changes.count)
        for i = 1, count do
            local change = changes.list[i - 1]
            local data = change.value.data
            changed[i] = ffi_str(change.name.data, change.name.len)
            changed_to[i] = data ~= nil and ffi_str(data, change.value.len)
            is_new[i] = band(request.came, lshift(1, change.place)) == 0
        end
        for i = 1, count do
            if changed_to[i] and is_new[i] then
                headers:add(changed[i], changed_to[i])
            elseif changed_to[i] then
                headers:replace(changed[i], changed_to[i])
            else
                headers:remove(changed[i])
            end
        end
    end

    -- Returns the ids of the trace and of the span, and the traceparent with both; nil without traces.
    function self.span()
        if not span or span.of == SPAN_OF_NONE then
            return nil
        end
        if span.of == SPAN_OF_TRACE then
            return ffi_str(span.trace_id, TRACE_ID_LEN)
        end
        return ffi_str(span.trace_id, TRACE_ID_LEN), ffi_str(span.span_id, SPAN_ID_LEN),
               ffi_str(span.traceparent, TRACEPARENT_LEN), ffi_str(span.parent_span_id, span.parent_span_id_len)
    end

    return self
end


return _M
