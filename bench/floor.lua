-- require "floor" (length) returns a function that makes the cheapest string of that length. BENCH_FLOORS is the path
-- of the library built from floor.c.

local ffi = require "ffi"


local floors = ffi.load(os.getenv("BENCH_FLOORS"))


-- Loaded once for each length: LuaJIT would compile shared code for the first length only. The call is in parentheses
-- for the same reason as in resty.txid.
return function(length)
    ffi.cdef("void floor_" .. length .. "(char *buf);")
    return loadstring(([[
        local C, buf, ffi_str = ...
        return function()
            C.floor_LENGTH(buf)
            return (ffi_str(buf, LENGTH))
        end
    ]]):gsub("LENGTH", length), "=floor")(floors, ffi.new("char[?]", length), ffi.string)
end
