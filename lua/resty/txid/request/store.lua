-- As resty.txid.request.kept, without the library. It has no spans, because their ids come from the library.
--
-- nginx clears ngx.ctx on a redirect, and each subrequest has its own; ngx.location.capture gives it new variables,
-- too. But all of these share a connection, and no other request has it at that time: in HTTP/2 and HTTP/3, nginx
-- creates one for each. So a table maps its address to the ngx.ctx of the first of them. Data of an earlier request is
-- never used:
--
-- - An ngx.ctx is listed in ctx_tables until the whole request has ended. If it is no longer listed under its number,
-- it is ignored. (Code that replaces ngx.ctx by another table loses the id.)
-- - Kong and timers use a table again. So it records its connection, and when its request began.
-- - The table's values are weak: the garbage collector frees those that no request uses.

local base = require "resty.core.base"
local core_ctx = require "resty.core.ctx"
local ffi = require "ffi"


local C = ffi.C
local IS_KNOWN = require("resty.txid.request.headers").is_known
local ctx_tables = debug.getregistry().ngx_lua_ctx_tables
local error = error
local ffi_cast = ffi.cast
local get_ctx_table = core_ctx.get_ctx_table
local get_request = base.get_request
local is_internal = ngx.req.is_internal
local ngx = ngx
local rawget = rawget
local setmetatable = setmetatable
local start_time = ngx.req.start_time
local tonumber = tonumber


local SIGNATURE = 0x50545448
local uintptr_t = ffi.typeof("uintptr_t")

-- The beginning of a request in every nginx; the rest differs with its version and how it was built.
local request_head_ptr = ffi.typeof("struct { uint32_t signature; void *connection; } *")

local owners = setmetatable({}, { __mode = "v" })
local _M = {}


-- Where the request's ngx.ctx is in ctx_tables, or a negative number; always that if the function may be another one,
-- and then an id is lost on a redirect.
local function ref_of(request)
    return IS_KNOWN and C.ngx_http_lua_ffi_get_ctx_ref(request, nil, nil) or -1
end


local function connection_address()
    local head = ffi_cast(request_head_ptr, get_request())
    if head.signature ~= SIGNATURE then
        error("resty.txid.request: this nginx lays out its requests in an unknown way")
    end
    return (tonumber(ffi_cast(uintptr_t, head.connection)))
end


-- The current ngx.ctx. A new one has room for our fields from the start, which costs less than growing it. This way to
-- it also costs less than the one through the table ngx.
local function context()
    local request = get_request()
    if request then
        local ref = ref_of(request)
        if ref >= 0 then
            return ctx_tables[ref]
        end
    end
    return (get_ctx_table({ txid_id = false, txid_ref = 0, txid_connection = 0, txid_started = 0 }))
end


-- Whether the current request may belong to the owner: a redirected request, a subrequest, or the owner's parent.
local function may_be_of(owner)
    return ngx.is_subrequest
           or (owner.txid_of_subrequest or is_internal()) and start_time() <= owner.txid_started
end


-- Returns the ngx.ctx that keep() got for this request, before a redirect or in a subrequest; and the address of the
-- connection. The first is nil if there is none, or if it may be the current ngx.ctx.
local function find()
    local address = connection_address()
    local owner = owners[address]
    if owner and owner.txid_connection == address and ctx_tables[owner.txid_ref] == owner and may_be_of(owner) then
        return owner, address
    end
    return nil, address
end


-- Returns the table that has the id of the current request, or is to have it.
function _M.start()
    return (find() or context())
end


-- Raw, because the table inherits fields.
local function id_in(kept)
    return rawget(kept, "txid_id") or nil
end
_M.id_in = id_in


-- Returns the id of the current request; or nil, and then start() may still find one.
function _M.id()
    return id_in(context())
end


function _M.span_in()
end


-- Keeps the id, unless there is one by now: if a function of the settings has waited, another thread or a subrequest
-- may have been first. Returns the id that is kept.
function _M.keep(_, id, is_rejected)
    local ctx = context()
    local kept, address = find()
    if not kept then
        kept = ctx
        if not id_in(kept) then
            local request = get_request()
            kept.txid_id = id
            if is_rejected then
                kept.txid_rejected = true
            end
            kept.txid_connection = address
            kept.txid_ref = ref_of(request)
            kept.txid_started = start_time()
            if ngx.is_subrequest then
                kept.txid_of_subrequest = true
            end
            owners[address] = kept
        end
    end
    ctx.txid_id = kept.txid_id
    return kept.txid_id
end


-- Whether the request is to be rejected. Only once: the error page may be an internal redirect, which is handled as
-- well.
function _M.take_rejection(_)
    local kept = find() or context()
    local is_rejected = rawget(kept, "txid_rejected")
    kept.txid_rejected = nil
    return is_rejected
end


return _M
