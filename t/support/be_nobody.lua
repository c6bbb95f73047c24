-- Makes a worker that is root a user who may do little. nginx does that by itself, but the tests tell it not to.

local ffi = require "ffi"


ffi.cdef [[
unsigned geteuid(void);
int seteuid(unsigned uid);
int setgid(unsigned gid);
int setuid(unsigned uid);
]]


local NOBODY = 65534


-- Returns the user's number. Who has to load modules later `reads_the_tree`: then root stays root where nobody may not
-- read it, as below a /root that is closed to others.
return function(reads_the_tree)
    if reads_the_tree and ffi.C.geteuid() == 0 then
        ffi.C.seteuid(NOBODY)
        local module = package.searchpath("resty.txid", package.path)
        ffi.C.seteuid(0)
        if not module then
            return 0
        end
    end
    if ffi.C.geteuid() == 0 then
        assert(ffi.C.setgid(NOBODY) == 0 and ffi.C.setuid(NOBODY) == 0)
    end
    return ffi.C.geteuid()
end
