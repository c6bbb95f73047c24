-- Sends a signal to a process.

local ffi = require "ffi"


ffi.cdef "int kill(int pid, int sig);"


local NUMBERS = { HUP = 1, KILL = 9, TERM = 15, CONT = 18, STOP = 19 }


return function(pid, name)
    assert(ffi.C.kill(pid, NUMBERS[name]) == 0)
end
