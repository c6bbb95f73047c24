-- UUIDs of RFC 9562, for those who come from lua-resty-jit-uuid: what resty.txid.maker makes and resty.txid.inspect
-- reads.

local args = require "resty.txid.args"
local ffi = require "ffi"
local lib = require "resty.txid.lib"
-- First, so that the error is this module's.
local C = lib.needed_by "resty.txid.uuid"
local inspect = require "resty.txid.inspect"
local maker = require "resty.txid.maker"
local text = require "resty.txid.text"


local bad_argument = args.bad_argument
local check_string = args.check_string
local read = text.read
local type = type


local _M = {
    v1 = maker.new "uuid_v1",
    v4 = maker.new "uuid_v4",
    v7 = maker.new "uuid_v7",
}


local buf = ffi.new("char[?]", lib.UUID_LEN)


local function of_name(version, function_name, namespace, name)
    if type(namespace) ~= "string" then
        bad_argument(1, function_name, "string", namespace)
    end
    if type(name) ~= "string" then
        bad_argument(2, function_name, "string", name)
    end
    if C.txid_uuid_of_name(version, namespace, #namespace, name, #name, buf) < 0 then
        return nil, "the namespace is neither a UUID nor dns, url, oid or x500"
    end
    return (ffi.string(buf, lib.UUID_LEN))
end


-- Returns the UUID of a name in a namespace, a UUID or "dns", "url", "oid" or "x500": the same each time, by MD5.
-- Returns nil and the reason for an invalid namespace.
function _M.v3(namespace, name)
    local id, err = of_name(3, "v3", namespace, name)
    if not id then
        return nil, err
    end
    return id
end


-- Returns the UUID of a name by SHA-1. Take this one, unless the other side has v3.
function _M.v5(namespace, name)
    local id, err = of_name(5, "v5", namespace, name)
    if not id then
        return nil, err
    end
    return id
end


-- Whether the value, of any type, is a UUID of 36 characters.
function _M.is_valid(s)
    return type(s) == "string" and read("uuid", s) ~= nil
end


-- Returns the fields of the UUID: `version`, `variant`, and for versions 1, 6 and 7 `ms` and `time`. Returns nil and
-- the reason for an invalid UUID.
function _M.decode(s)
    check_string(s, "decode")

    local decoded, err = inspect(s, "uuid")
    return decoded, err
end


return _M
