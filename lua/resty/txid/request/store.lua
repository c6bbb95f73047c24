-- What is kept for a request and all that nginx makes of it: internal redirects and subrequests.
--
-- ngx.ctx alone does not do: nginx empties it on every internal redirect (error_page, index, try_files, ngx.exec, a
-- named location), and each subrequest (auth_request, mirror, ngx.location.capture) has one of its own. An nginx
-- variable does not, either: ngx.location.capture gives its subrequest new ones, and to read one that is not set yet
-- writes a warning to the log. What all of these share is the connection, of which a request has one to itself until it
-- ends (in HTTP/2 and HTTP/3, where a connection carries many, nginx makes a connection object for each).
--
-- So a table finds the ngx.ctx of the first of them by the address of the connection. Three facts keep this from ever
-- handing on what belongs to an earlier request, or from growing:
--
-- - An ngx.ctx is listed in ctx_tables, under a number, until the whole request has ended, redirects and subrequests
--   included. When it is no longer in its place there, it does not count. (So code that puts another table in the place
--   of ngx.ctx, instead of a field into it, takes the id away.)
-- - It may be listed again: a gateway that takes its tables from a pool, as Kong does, has it serve a request of
--   another connection, and a timer that is handed it for its own ngx.ctx lists it under the same number, as likely as
--   not. So it says of which connection it is and when its request began, and counts for nothing but redirects and
--   subrequests.
-- - The table's values are weak: what no request has any more, the garbage collector takes.
--
-- $connection and $connection_requests together would tell requests apart, too, but to read them costs some 200 ns, and
-- leaves strings to the garbage collector.

local base = require "resty.core.base"
local core_ctx = require "resty.core.ctx"
local ffi = require "ffi"


local C = ffi.C
local ctx_tables = debug.getregistry().ngx_lua_ctx_tables
local error = error
local ffi_cast = ffi.cast
local get_ctx_table = core_ctx.get_ctx_table
local get_request = base.get_request
local setmetatable = setmetatable
local tonumber = tonumber


local SIGNATURE = 0x50545448
local uintptr_t = ffi.typeof("uintptr_t")

-- How every request of every nginx begins; what follows differs with the version and with how it was built.
local request_head_ptr = ffi.typeof("struct { uint32_t signature; void *connection; } *")

local owners = setmetatable({}, { __mode = "v" })
local _M = {}


local function connection_address()
    local head = ffi_cast(request_head_ptr, get_request())
    if head.signature ~= SIGNATURE then
        error("resty.txid.request: this nginx lays out its requests in an unknown way")
    end
    return (tonumber(ffi_cast(uintptr_t, head.connection)))
end


-- The present ngx.ctx. A new one has room for our fields from the start: that costs less than to let it grow. And so
-- does this way to it, over one through the table ngx.
function _M.context()
    local request = get_request()
    if request then
        local ref = C.ngx_http_lua_ffi_get_ctx_ref(request, nil, nil)
        if ref >= 0 then
            return ctx_tables[ref]
        end
    end
    return (get_ctx_table({ txid_id = false, txid_ref = 0, txid_connection = 0, txid_started = 0 }))
end


-- Whether the present request may be the owner's: a redirected one, a subrequest, or what the owner is a subrequest of.
local function may_be_of(owner)
    local request = get_request()
    if C.ngx_http_lua_ffi_is_subrequest(request) == 1 then
        return true
    end
    return (owner.txid_of_subrequest or C.ngx_http_lua_ffi_req_is_internal(request) == 1)
           and C.ngx_http_lua_ffi_req_start_time(request) <= owner.txid_started
end


-- The ngx.ctx that keep() was given for this request, before a redirect or in a subrequest; and the address of the
-- connection, for keep(). It is nil where there is none, or where it may be the present ngx.ctx.
function _M.find()
    local address = connection_address()
    local owner = owners[address]
    if owner and owner.txid_connection == address and ctx_tables[owner.txid_ref] == owner and may_be_of(owner) then
        return owner, address
    end
    return nil, address
end


-- Keeps ctx, which has to be the present ngx.ctx, for the request of the connection at this address.
function _M.keep(ctx, address)
    local request = get_request()
    ctx.txid_connection = address
    ctx.txid_ref = C.ngx_http_lua_ffi_get_ctx_ref(request, nil, nil)
    ctx.txid_started = C.ngx_http_lua_ffi_req_start_time(request)
    if C.ngx_http_lua_ffi_is_subrequest(request) == 1 then
        ctx.txid_of_subrequest = true
    end
    owners[address] = ctx
end


return _M
