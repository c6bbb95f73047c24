-- Opens a policy of the library.

local ffi = require "ffi"
local lib = require "resty.txid.lib"


local L = lib.C
local ffi_gc = ffi.gc
local ffi_str = ffi.string
local pairs = pairs
local texts = require("resty.txid.text").texts


local message = ffi.new("char[?]", lib.MESSAGE_LEN)
local _M = {}


-- Returns a policy for the options of configure() that the library knows. Each value is a list of strings. Returns nil,
-- what is wrong, and the name of the option that is alone to blame otherwise.
function _M.open(options, is_id_of_trace)
    local policy = ffi_gc(L.txid_policy_open(), L.txid_policy_close)
    for name, words in pairs(options) do
        local list, count = texts(words)
        if L.txid_policy_set(policy, name, #name, list, count, message) < 0 then
            return nil, ffi_str(message), name
        end
    end
    if L.txid_policy_check(policy, is_id_of_trace, message) < 0 then
        return nil, ffi_str(message)
    end
    return policy
end


return _M
