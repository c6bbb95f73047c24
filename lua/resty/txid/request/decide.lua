-- Asks the library about a request of nginx: collects what came, and carries out what was decided.

local ffi = require "ffi"
local lib = require "resty.txid.lib"
local peers = require "resty.txid.request.peer"
local sent_headers = require "resty.txid.request.headers"


local ACCEPTED = lib.VERDICT_ACCEPTED
local INVALID = lib.VERDICT_INVALID
local L = lib.C
local WANTS_CHANGES = lib.WANTS_CHANGES
local WANTS_ID = lib.WANTS_ID
local WANTS_SPAN = lib.WANTS_SPAN
local all_headers = sent_headers.all
local change_headers = sent_headers.change
local clock_ms = lib.clock_ms
local ffi_new = ffi.new
local ffi_str = ffi.string
local format = string.format
local log = lib.log
local peer_address = peers.address
local peer_bytes = peers.bytes
local refused = require("resty.txid.request.rules").refused
local tonumber = tonumber
local var = ngx.var


local changes = ffi_new("txid_changed_headers")
local decision = ffi_new("txid_decision")
local request = ffi_new("txid_request")
decision.changes = changes

-- Whether `request` has what came in this request, and the answers of the functions of configure(); and whether
-- `changes` has what follows from both, besides a new id.
local is_ready, is_decided = false, false
local _M = {}


-- `request` points into the memory of a request. So each call of resty.txid.request begins with this, and each call of
-- a function of configure(), which may wait or change the request, ends with it.
function _M.forget()
    is_ready, is_decided = false, false
end


local function find(settings)
    local fields, count = all_headers()
    L.txid_request_find(settings.policy, fields, count, request)
    request.trust, request.judges, request.refused = -1, false, 0
end


-- Asks the functions of configure() about the peer, but only once, and about the ids. Each may wait.
local function ask(settings, kept)
    if settings.trusts then
        if kept.trust == 0 then
            kept.trust = settings.trusts(peer_address()) and 1 or -1
            find(settings)
        end
        request.trust = kept.trust
    end
    if settings.valid and L.txid_request_trust(settings.policy, request) then
        local mask = refused(settings.valid, request, settings.ids)
        find(settings)
        request.trust, request.judges, request.refused = 1, true, mask
    end
end


-- Finds what came, and whether it counts. Returns whether it may have waited.
local function prepare(settings, kept)
    if is_ready then
        return false
    end
    find(settings)
    local asks = false
    if request.came ~= 0 and not settings.trusts_nobody then
        if not settings.trusts then
            local peer = request.peer.text
            request.trust, peer.data, peer.len = 0, peer_bytes()
        end
        asks = settings.asks
        if asks then
            ask(settings, kept)
        end
    end
    is_ready = true
    return asks
end
_M.prepare = prepare


local has_warned = false

-- The share of traces that are recorded, in the variable of this name; and the value if it is no share.
local function share_in(name)
    local value = var[name] or ""
    local share = L.txid_share(value, #value)
    if share >= 0 then
        return share
    end
    return 0, value
end


local function warn_of(name, value)
    if not has_warned then
        has_warned = true
        log("WARN", "resty.txid.request: sample: $" .. name .. " is " .. format("%q", value)
                    .. ", which is not a sampling ratio; such traces are sampled")
    end
end


-- Decides about the request for which prepare() was called. Returns the id that came in, if it is wanted and kept; or
-- nil, and the place of the first invalid one. Writes the span to `span`, a txid_span, unless it is nil. If the changes
-- are wanted as well, send() has nothing left to decide.
function _M.decide(settings, wants_id, span, wants_changes)
    if request.came == 0 and not span then
        return nil
    end
    local now_ms, wrong = 0
    if span then
        local share = 0
        if settings.sample then
            share, wrong = share_in(settings.sample)
        end
        now_ms, request.share = clock_ms(), share
    end
    decision.span, is_decided = span, wants_changes or false
    local wants = (wants_id and WANTS_ID or 0) + (span and WANTS_SPAN or 0) + (wants_changes and WANTS_CHANGES or 0)
    local verdict = L.txid_decide(settings.policy, now_ms, request, wants, decision)
    if wrong and span.open ~= 0 then
        warn_of(settings.sample, wrong)
    end
    if verdict == ACCEPTED then
        return ffi_str(decision.id.data, decision.id.len)
    end
    return nil, verdict == INVALID and decision.about or nil
end


-- Writes the first span of a trace to `span`, where there is no request.
function _M.start(settings, span)
    L.txid_span_start(settings.policy, clock_ms(), span)
end


-- Sends the id upstream, and the span unless it is nil: changes each header that the request does not have so already.
function _M.send(settings, kept, id, span)
    if is_decided then
        if decision.id.len == 0 then
            local made = changes.list[tonumber(changes.count)]
            made.name.data, made.name.len, made.value.data, made.value.len = settings.header, #settings.header, id, #id
            changes.count = changes.count + 1
        end
    else
        prepare(settings, kept)
        decision.id.data, decision.id.len, decision.span = id, #id, span
        L.txid_decide(settings.policy, 0, request, WANTS_CHANGES, decision)
    end
    -- Most ids that came in change nothing.
    if changes.count > 0 then
        change_headers(changes)
    end
end


return _M
