-- require "resty.txid" is the function txid([ms]), which returns a new id of 20 characters.

local ffi = require "ffi"
local lib = require "resty.txid.lib"


if lib.engine == "pure" then
    return require "resty.txid.pure"
end


local resty_ms = require "resty.txid.ms"


local C = lib.C
local LEN = lib.LEN
local clock_ms = resty_ms.nginx_clock or function() return C.txid_clock_ms() end
local ffi_new = ffi.new
local ffi_str = ffi.string
local integer_ms = resty_ms.integer


local buf = ffi_new("char[?]", LEN)


return function(ms)
    if ms then
        C.txid_fill(buf, integer_ms(ms, "txid"))
    else
        C.txid_fill_now(buf, clock_ms())
    end
    return ffi_str(buf, LEN)
end
