-- Waits for a lease for at most a minute, in init_by_lua, where ngx.sleep is not available.

local ffi = require "ffi"


ffi.cdef "int usleep(unsigned usec);"


return function(generator)
    for _ = 1, 6000 do
        if generator() then
            return true
        end
        ffi.C.usleep(10000)
    end
    return false
end
