-- Reads a variable of nginx where it is. ngx.var hashes its name each time, which takes more than all the rest.

local base = require "resty.core.base"
local ffi = require "ffi"


local C = ffi.C
local band = bit.band
local ffi_new = ffi.new
local get_request = base.get_request


-- The two functions of nginx have names of our own, because other modules may declare them in another way.
ffi.cdef[[
typedef struct { uint32_t bits; const char *data; } txid_ngx_variable;
typedef struct { size_t len; const char *data; char text[20]; } txid_ngx_str;
uintptr_t txid_ngx_hash_key(const char *data, size_t len) __asm__("ngx_hash_key");
txid_ngx_variable *txid_ngx_http_get_variable(void *request, txid_ngx_str *name, uintptr_t key)
    __asm__("ngx_http_get_variable");
]]

-- The bits of an ngx_variable_value_t.
local LEN = 0xfffffff
local NOT_FOUND = 0x40000000


-- Returns a function that returns where the value of this variable is, and its length, which is 0 if it is not found;
-- or nil, if it cannot be read. It is valid until the caller waits.
return function(text)
    local key = C.txid_ngx_hash_key(text, #text)
    local name = ffi_new("txid_ngx_str", #text, nil, text)
    name.data = name.text
    return function()
        local value = C.txid_ngx_http_get_variable(get_request(), name, key)
        if value == nil then
            return nil
        end
        return value.data, band(value.bits, NOT_FOUND) == 0 and band(value.bits, LEN) or 0
    end
end
