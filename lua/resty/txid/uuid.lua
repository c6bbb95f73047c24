-- UUIDs of RFC 9562, for those who come from lua-resty-jit-uuid: what resty.txid.maker makes and resty.txid.inspect
-- reads.

local args = require "resty.txid.args"
-- First, so that the error is this module's.
require("resty.txid.lib").needed_by "resty.txid.uuid"
local inspect = require "resty.txid.inspect"
local maker = require "resty.txid.maker"
local text = require "resty.txid.text"


local check_string = args.check_string
local read = text.read
local type = type


local _M = {
    v1 = maker.new "uuid_v1",
    v4 = maker.new "uuid_v4",
    v7 = maker.new "uuid_v7",
}


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
