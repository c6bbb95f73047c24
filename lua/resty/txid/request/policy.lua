-- What the library decides about a request: the id that it keeps, and its span. This module only collects the headers.

local ffi = require "ffi"
local lib = require "resty.txid.lib"
local peers = require "resty.txid.request.peer"
local sent_headers = require "resty.txid.request.headers"


local ACCEPTED = lib.VERDICT_ACCEPTED
local INVALID = lib.VERDICT_INVALID
local L = lib.C
local all_headers = sent_headers.all
local change_header = sent_headers.change
local clock_ms = lib.clock_ms
local ffi_new = ffi.new
local ffi_str = ffi.string
local format = string.format
local log = lib.log
local peer_address = peers.address
local peer_bytes = peers.bytes
local tonumber = tonumber
local var = ngx.var


local changed = ffi_new("txid_changed_headers")
local headers = ffi_new("txid_headers")
local peer = ffi_new("txid_peer")

-- Whether `headers` has those of this request, and whether one of a trace is among them.
local are_found, has_trace = false, false
local _M = { open = require("resty.txid.request.open").open }


-- `headers` points into the memory of a request. So each call of resty.txid.request begins with this, and each call of
-- a function of configure(), which may wait or change the request, ends with it.
function _M.forget()
    are_found = false
end


-- Finds the headers of this request that the policy looks at.
local function find_headers(policy)
    if not are_found then
        local fields, count = all_headers()
        has_trace = L.txid_headers_find(policy, fields, count, headers)
        are_found = true
    end
end


-- Returns the id in this header, a txid_header; or nil, and whether it is invalid.
local function id_in(policy, header, valid)
    peer.text.data, peer.text.len = peer_bytes()
    local verdict = L.txid_policy_judge(policy, peer, header)
    if verdict == ACCEPTED or verdict == INVALID and valid and header.count == 1 then
        local id = ffi_str(header.value.data, header.value.len)
        if not valid or valid(id) then
            return id
        end
        return nil, true
    end
    return nil, verdict == INVALID
end


-- The same for the first valid one of several headers. `others` is the number of those besides the first.
local function first_id(policy, valid, others)
    local id, is_invalid = id_in(policy, headers.id, valid)
    for i = 0, others - 1 do
        if id then
            return id
        end
        find_headers(policy)
        local is_other_invalid
        id, is_other_invalid = id_in(policy, headers.other_ids[i], valid)
        is_invalid = is_invalid or is_other_invalid
    end
    return id, not id and is_invalid
end


-- Returns a function that returns the id that an accepted peer sent; or nil, and whether it sent an invalid one.
-- `trusts` is a function of the peer's address, `valid` one of the id; either may be nil. `others` is as above.
function _M.reader(others)
    return function(policy, trusts, valid)
        find_headers(policy)
        if others == 0 and headers.id.count == 0 then
            return nil, false
        end

        if trusts then
            if not trusts(peer_address()) then
                return nil, false
            end
            find_headers(policy)
        end
        return first_id(policy, valid, others)
    end
end


local has_warned = false

-- Decides whether the trace is recorded, by the share in the variable of this name.
local function decide(span, name)
    local value = var[name] or ""
    if not L.txid_span_decide(span, value, #value) and not has_warned then
        has_warned = true
        log("WARN", "resty.txid.request: sample: $" .. name .. " is " .. format("%q", value)
                    .. ", which is no share; such traces are recorded")
    end
end


-- Writes the span of this request to `span`, a txid_span, and returns it. It continues the trace that an accepted peer
-- sent, if it may, or starts one. `variable` has the share of traces that are recorded, unless the policy has it.
function _M.span(policy, span, may_continue, trusts, variable)
    local continues = false
    if may_continue then
        find_headers(policy)
        continues = has_trace and (not trusts or trusts(peer_address()))
    end
    if continues then
        find_headers(policy)
        peer.text.data, peer.text.len = peer_bytes()
        L.txid_span_continue(policy, clock_ms(), peer, headers, span)
    else
        L.txid_span_start(policy, clock_ms(), span)
    end
    if variable and span.open ~= 0 then
        decide(span, variable)
    end
    return span
end


-- Sends the id upstream, and the span unless it is nil: changes each header that the request does not have so already.
function _M.send(policy, id, span)
    find_headers(policy)
    local count = tonumber(L.txid_headers_change(policy, id, #id, span, headers, changed))
    for i = 0, count - 1 do
        change_header(changed.list[i])
    end
end


return _M
