-- In place of lib.lua in scripts/lua-asan.sh: each object that a module of resty.txid makes is memory of exactly its
-- size from malloc, behind which AddressSanitizer sees an access. LuaJIT's own memory is one piece for it.

local ffi = require "ffi"


ffi.cdef "void *malloc(size_t size);"

local new = ffi.new


function ffi.new(...)
    local object = new(...)
    local size = ffi.sizeof(object)
    local is_array, first = pcall(function() return object + 0 end)
    local pointer = is_array and ffi.typeof(first) or ffi.typeof("$ *", ffi.typeof(object))
    -- Never freed: a module may have kept a pointer to it.
    local exact = ffi.cast(pointer, ffi.C.malloc(size))
    ffi.copy(exact, object, size)
    return exact
end


return dofile((package.searchpath("resty.txid.cdefs", package.path):gsub("cdefs", "lib")))
