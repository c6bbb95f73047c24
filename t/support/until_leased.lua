-- Waits until there is a lease, for half a minute at most, as init_by_lua must, where ngx.sleep is not to be had.

local ffi = require "ffi"


ffi.cdef "int usleep(unsigned usec);"


return function(generator)
    for _ = 1, 3000 do
        if generator() then
            return true
        end
        ffi.C.usleep(10000)
    end
    return false
end
