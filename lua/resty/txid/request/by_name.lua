-- Asks the library about a request of a gateway that reads and changes headers by their names.

local bit = require "bit"
local ffi = require "ffi"
local lib = require "resty.txid.lib"
local rules = require "resty.txid.request.rules"


local ACCEPTED = lib.VERDICT_ACCEPTED
local INVALID = lib.VERDICT_INVALID
local L = lib.C
local SPAN_ID_LEN = lib.SPAN_ID_LEN
local TRACEPARENT_LEN = lib.TRACEPARENT_LEN
local TRACE_ID_LEN = lib.TRACE_ID_LEN
local bor = bit.bor
local clock_ms = lib.clock_ms
local ffi_new = ffi.new
local ffi_str = ffi.string
local jit = jit
local lower = string.lower
local lshift = bit.lshift
local pairs = pairs
local refused = rules.refused
local tonumber = tonumber


-- To remove that many headers, whether they are there or not, takes no longer than to find those that are.
local FEW = 8

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

    -- The headers that are read, if the sender is trusted, and all that may change; and the bits of their places.
    local places, read, names, bit_of = {}, {}, {}, {}
    local only_changed, all = 0, 0
    local name = ffi_new("txid_text")
    for place = 0, lib.PLACES - 1 do
        local is_read = L.txid_policy_header(policy, place, name)
        if name.len ~= 0 then
            local text = lower(ffi_str(name.data, name.len))
            names[#names + 1], bit_of[text], all = text, lshift(1, place), bor(all, lshift(1, place))
            if is_read then
                places[#places + 1], read[#read + 1] = place, text
            else
                only_changed = bor(only_changed, lshift(1, place))
            end
        end
    end
    local self, changed, changed_to = { names = names, read = read }, {}, {}

    function self.trusts(address)
        request.peer.text.data, request.peer.text.len, request.trust = address, #address, 0
        return (L.txid_request_trust(policy, request))
    end

    -- How many headers of an untrusted sender are removed if all of them are there.
    request.unread, request.trust = all, -1
    L.txid_decide(policy, clock_ms(), request, wants, decision)
    local removals = 0
    for i = 0, tonumber(changes.count) - 1 do
        removals = removals + (changes.list[i].value.data == nil and 1 or 0)
    end

    -- Returns which headers of an untrusted sender may be there, for decide().
    function self.find(headers)
        if removals <= FEW then
            return all
        end
        local found = 0
        for text in pairs(headers) do
            found = bor(found, bit_of[text] or 0)
        end
        return found
    end

    -- LuaJIT would compile each turn by itself, which takes longer.
    jit.off(self.find)

    -- Decides about a request with these values of the headers that are read, each of which may be false, or true if it
    -- is repeated; or nil if the sender is not trusted, and `found` of these. Returns the id that is kept; or nil, and
    -- the place of the first invalid one.
    function self.decide(sent, found)
        local came, repeated = 0, 0
        for i = 1, sent and #places or 0 do
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
        request.came, request.repeated = came, repeated
        request.unread, request.trust = sent and only_changed or found, sent and 1 or -1
        request.refused = came ~= 0 and settings.valid and refused(settings.valid, request, settings.ids) or 0
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
        if not span then
            return nil
        end
        return ffi_str(span.trace_id, TRACE_ID_LEN), ffi_str(span.span_id, SPAN_ID_LEN),
               (ffi_str(span.traceparent, TRACEPARENT_LEN))
    end

    return self
end


return _M
