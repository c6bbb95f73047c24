-- Turns a worker that runs as root into an unprivileged user. nginx does that by itself, but the tests disable it.

local ffi = require "ffi"


ffi.cdef [[
unsigned geteuid(void);
int seteuid(unsigned uid);
int setgid(unsigned gid);
int setuid(unsigned uid);
]]


local NOBODY = 65534


-- Returns the user's number. With `reads_the_tree`, for code that loads modules later, root stays root if nobody cannot
-- read the tree, for example below a /root that is closed to others.
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
