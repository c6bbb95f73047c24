-- require "resty.txid" is the function txid([ms]), which returns a new id of 20 characters.

local args = require "resty.txid.args"
local ffi = require "ffi"
local lib = require "resty.txid.lib"


if lib.engine == "pure" then
    return require "resty.txid.pure"
end


local C = lib.C
local LEN = lib.LEN
local clock_ms = lib.clock_ms
local ffi_new = ffi.new
local ffi_str = ffi.string
local integer_ms = args.integer_ms


local buf = ffi_new("char[?]", LEN)


return function(ms)
    if ms then
        C.txid_fill(buf, integer_ms(ms, "txid"))
    else
        C.txid_fill_now(buf, clock_ms())
    end

    -- In parentheses, here as in the other modules, so that this is not a tail call of C. A function that ends in one,
    -- and is called from C once a request, is not compiled by LuaJIT.
    return (ffi_str(buf, LEN))
end
