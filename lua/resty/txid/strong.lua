-- require "resty.txid.strong" is a function like that of resty.txid, txid([ms]). Nothing of its ids was in memory
-- before: each random bit comes from the operating system when it is needed.

local args = require "resty.txid.args"
local ffi = require "ffi"
local lib = require "resty.txid.lib"


local C = lib.needed_by "resty.txid.strong"
local LEN = lib.LEN
local clock_ms = lib.clock_ms
local ffi_new = ffi.new
local ffi_str = ffi.string
local integer_ms = args.integer_ms
local warn_guessable = lib.warn_guessable


local buf = ffi_new("char[?]", LEN)


return function(ms)
    local is_strong
    if ms then
        is_strong = C.txid_strong_fill(buf, integer_ms(ms, "txid"))
    else
        is_strong = C.txid_strong_fill_now(buf, clock_ms())
    end
    if not is_strong then
        warn_guessable()
    end
    return (ffi_str(buf, LEN))
end
