-- As resty.txid.request.policy, without the library. It has no spans, because their ids come from the library.

local cidr = require "resty.txid.cidr"
local lib = require "resty.txid.lib"
local peer_address = require "resty.txid.request.peer"


local find = string.find
local format = string.format
local lower = string.lower
local pcall = pcall
local rawget = rawget
local re_find = ngx.re.find
local req_get_headers = ngx.req.get_headers
local type = type


-- As in src/request/header.rs.
local RESERVED = " accept-ranges authorization cache-control connection content-encoding content-length content-range "
    .. "content-type cookie date etag expires host keep-alive last-modified link location server set-cookie te trailer "
    .. "transfer-encoding upgrade vary www-authenticate "
local VALID = "\\A[A-Za-z0-9._~:/+=@-]{1,128}\\z"

local _M = {}


local function need_library()
    return lib.C.txid_span_start
end


-- Returns a policy for the options of configure(). Each value is a list of strings. Returns nil, the name of the option
-- and what is wrong with it otherwise.
function _M.open(options)
    local header, action = options.header[1], options.on_invalid[1]
    if not find(header, "^[%w!#%%&'*+.^_`|~-]+$") then
        return nil, "header", format("%q is not the name of a header", header)
    end
    if find(RESERVED, " " .. lower(header) .. " ", 1, true) then
        return nil, "header", format("%q has a meaning of its own; name another header, such as X-Request-Id", header)
    end
    if action ~= "replace" and action ~= "reject" then
        return nil, "on_invalid", format("%q is neither replace nor reject", action)
    end
    if options.trace[1] ~= "off" then
        return nil, "trace", select(2, pcall(need_library))
    end
    local trusts, err = cidr.matcher(options.accept)
    if not trusts then
        return nil, "accept", err
    end
    return { header = lower(header), trusts = trusts }
end


-- Returns the id that an accepted peer sent; or nil, and whether it sent an invalid one. `trusts` is a function of the
-- peer's address, `valid` one of the id; either may be nil.
function _M.sent_id(policy, trusts, valid)
    local id = rawget(req_get_headers(0), policy.header)
    if not id or not (trusts or policy.trusts)(peer_address()) then
        return nil, false
    end

    -- A repeated header is a table.
    if type(id) ~= "string" then
        return nil, true
    end
    if valid then
        if valid(id) then
            return id
        end

    elseif re_find(id, VALID, "jo") then
        return id
    end
    return nil, true
end


return _M
