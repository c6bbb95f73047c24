-- Makes a worker that is root a user who may do little. nginx does that by itself, but the tests tell it not to.

local ffi = require "ffi"


ffi.cdef [[
unsigned geteuid(void);
int setgid(unsigned gid);
int setuid(unsigned uid);
]]


local NOBODY = 65534


-- Returns the user's number.
return function()
    if ffi.C.geteuid() == 0 then
        assert(ffi.C.setgid(NOBODY) == 0 and ffi.C.setuid(NOBODY) == 0)
    end
    return ffi.C.geteuid()
end
