-- What the library decides about a request: the id that it keeps, and its span. This module only collects the headers.

local base = require "resty.core.base"
local ffi = require "ffi"
local lib = require "resty.txid.lib"
local peer_address = require "resty.txid.request.peer"
require "resty.core.request"


local ACCEPTED = lib.VERDICT_ACCEPTED
local C = ffi.C
local INVALID = lib.VERDICT_INVALID
local L = lib.C
local assert = assert
local clock_ms = lib.clock_ms
local error = error
local ffi_cast = ffi.cast
local ffi_gc = ffi.gc
local ffi_new = ffi.new
local ffi_str = ffi.string
local get_request = base.get_request
local pairs = pairs


local elements_ptr = ffi.typeof("ngx_http_lua_ffi_table_elt_t *")
local headers = ffi_new("txid_headers")
local message = ffi_new("char[?]", lib.MESSAGE_LEN)
local peer = ffi_new("txid_peer")
local span_type = ffi.typeof("txid_span")
local truncated = ffi_new("int[1]")

local capacity = 0
local fields, elements
local _M = {}


assert(ffi.sizeof("txid_field") == ffi.sizeof("ngx_http_lua_ffi_table_elt_t"))


-- Returns a policy for the options of configure() that the library knows. Each value is a list of strings. Returns nil,
-- the name of the option and what is wrong with it otherwise.
function _M.open(options)
    local policy = ffi_gc(L.txid_policy_open(), L.txid_policy_close)
    for name, words in pairs(options) do
        local texts = ffi_new("txid_text[?]", #words)
        for i = 1, #words do
            texts[i - 1].data, texts[i - 1].len = words[i], #words[i]
        end
        if L.txid_policy_set(policy, name, #name, texts, #words, message) < 0 then
            return nil, name, ffi_str(message)
        end
    end
    return policy
end


-- Finds the headers of this request that the policy looks at. What it finds is valid until the caller waits.
local function find_headers(policy)
    local request = get_request()
    local count = C.ngx_http_lua_ffi_req_get_headers_count(request, 0, truncated)
    if count > capacity then
        capacity = count + 32
        fields = ffi_new("txid_field[?]", capacity)
        elements = ffi_cast(elements_ptr, fields)
    end
    if count < 0 or count > 0 and C.ngx_http_lua_ffi_req_get_headers(request, elements, count, 0) ~= 0 then
        error("resty.txid.request: the request's headers cannot be read here", 0)
    end
    L.txid_headers_find(policy, fields, count, headers)
end


local function set_peer(address)
    peer.text.data, peer.text.len = address, #address
end


-- Returns the id that an accepted peer sent; or nil, and whether it sent an invalid one. `trusts` is a function of the
-- peer's address, `valid` one of the id; either may be nil.
function _M.sent_id(policy, trusts, valid)
    find_headers(policy)
    if headers.id.count == 0 then
        return nil, false
    end

    local address = peer_address()
    if trusts then
        if not trusts(address) then
            return nil, false
        end
        -- The function may have waited.
        find_headers(policy)
    end

    set_peer(address)
    local verdict = L.txid_policy_judge(policy, peer, headers.id)
    if verdict == ACCEPTED or verdict == INVALID and valid and headers.id.count == 1 then
        local id = ffi_str(headers.id.value.data, headers.id.value.len)
        if not valid or valid(id) then
            return id
        end
        return nil, true
    end
    return nil, verdict == INVALID
end


-- Returns the span of this request as a txid_span. It continues the trace that an accepted peer sent, if it may, or
-- starts one.
function _M.span(policy, may_continue, trusts)
    local span = ffi_new(span_type)
    local address = may_continue and peer_address()
    if address and (not trusts or trusts(address)) then
        find_headers(policy)
        set_peer(address)
        L.txid_span_continue(policy, clock_ms(), peer, headers, span)
    else
        L.txid_span_start(policy, clock_ms(), span)
    end
    return span
end


return _M
