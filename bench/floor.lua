-- require "floor" (length) returns a function that makes the cheapest string of that length. BENCH_FLOORS names the
-- library built from floor.c.

local ffi = require "ffi"


local floors = ffi.load(os.getenv("BENCH_FLOORS"))


-- Code of its own for each: what several share would be compiled for the first of them. In parentheses for the same
-- reason as in resty.txid.
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
