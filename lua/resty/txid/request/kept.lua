-- Keeps data for a request and everything that nginx derives from it: internal redirects and subrequests. (nginx clears
-- ngx.ctx on every internal redirect, and each subrequest has its own.) The library keeps it in memory of the request
-- itself, and finds it by the connection; crates/capi/src/kept.rs says how.

local base = require "resty.core.base"
local ffi = require "ffi"
local lib = require "resty.txid.lib"


local L = lib.C
local error = error
local ffi_cast = ffi.cast
local ffi_str = ffi.string
local get_request = base.get_request


-- By a name of its own, because other modules may declare the function in another way.
ffi.cdef[[
void *txid_ngx_http_cleanup_add(void *request, size_t size) __asm__("ngx_http_cleanup_add");
]]

local add_cleanup = ffi_cast("txid_add_cleanup", ffi.C.txid_ngx_http_cleanup_add)
local _M = {}


-- Returns what is kept for the current request, or nil.
local function find()
    local request = get_request()
    local kept = L.txid_kept_of(request)
    return kept ~= nil and kept or nil
end


-- Returns what is kept for the current request, in this phase; if nothing is, an empty txid_kept that is kept from now
-- on.
local function start(phase)
    local request = get_request()
    if not request then
        error("no request found")
    end
    local kept = L.txid_kept_start(request, add_cleanup, phase == "log")
    if kept == nil then
        error("resty.txid.request: no memory, or this nginx lays out its requests in an unknown way")
    end
    return kept
end
_M.start = start


local function id_in(kept)
    return kept.id.data ~= nil and ffi_str(kept.id.data, kept.id.len) or nil
end
_M.id_in = id_in


-- Returns the id of the current request; or nil, and then start() may still find one.
function _M.id()
    local kept = find()
    return kept and id_in(kept)
end


-- Keeps the id, unless there is one by now: if a function of the settings has waited, another thread or a subrequest
-- may have been first. Returns the id that is kept.
function _M.keep(kept, id, is_rejected)
    local first = id_in(kept)
    if first then
        return first
    end
    if not L.txid_kept_set_id(kept, id, #id) then
        error("no memory")
    end
    if is_rejected then
        kept.rejected = true
    end
    return id
end


local function span_in(kept)
    return kept.span ~= nil and kept.span or nil
end
_M.span_in = span_in


-- As id().
function _M.span()
    local kept = find()
    return kept and span_in(kept)
end


-- As keep().
function _M.keep_span(kept, span)
    if kept.span == nil then
        kept.span = span
    end
    return kept.span
end


-- Room for a span that may be kept.
function _M.span_place(kept)
    local place = L.txid_kept_span_place(kept)
    if place == nil then
        error("no memory")
    end
    return place
end


-- Whether the request is to be rejected. Only once: the error page may be an internal redirect, which is handled as
-- well.
function _M.take_rejection(kept)
    local is_rejected = kept.rejected
    if is_rejected then
        kept.rejected = false
    end
    return is_rejected
end


return _M
