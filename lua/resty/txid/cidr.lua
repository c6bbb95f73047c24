-- Tells whether an address is in one of several networks: cidr.matcher { "10.0.0.0/8", "2001:db8::/32", "unix:" }.
-- "all" contains every address, and "off", which must be alone, none.
-- As in nginx (ngx_cidr_match), an address in ::ffff:0:0/96 is an IPv4 address. So a network of such mapped addresses
-- contains nothing, and matcher refuses it.

local bit = require "bit"
local ffi = require "ffi"


local C = ffi.C
local assert = assert
local band = bit.band
local bxor = bit.bxor
local error = error
local ffi_cast = ffi.cast
local ffi_copy = ffi.copy
local ffi_new = ffi.new
local find = string.find
local format = string.format
local lshift = bit.lshift
local match = string.match
local max = math.max
local min = math.min
local sub = string.sub
local tonumber = tonumber
local tostring = tostring
local type = type


ffi.cdef[[
int inet_pton(int af, const char *src, void *dst);
]]


local AF_INET = 2
local AF_INET6 = assert(({ Linux = 10, OSX = 30, BSD = 28 })[jit.os], "resty.txid.cidr: unknown system")
local UNIX = "unix:"
local NOT_A_NETWORK = " is not an address, a network such as 10.0.0.0/8 or fd00::/8, unix:, all or off"
local MAPPED = " contains IPv4-mapped addresses, which count as IPv4: write it as an IPv4 network"
local words_ptr = ffi.typeof("uint32_t *")

local _M = {}


-- Writes the bytes of an address: 4, followed by anything, or 16. Returns the number of its bits, and whether it was
-- written as an IPv4-mapped IPv6 address.
local function parse_address(text, bytes)
    if C.inet_pton(AF_INET, text, bytes) == 1 then
        return 32, false
    end
    if C.inet_pton(AF_INET6, text, bytes) ~= 1 then
        return nil
    end

    for i = 0, 11 do
        if bytes[i] ~= (i < 10 and 0 or 0xff) then
            return 128, false
        end
    end
    ffi_copy(bytes, bytes + 12, 4)
    return 32, true
end


local function parse_network(text)
    -- A C string would end at the NUL.
    if type(text) ~= "string" or find(text, "%z") then
        return nil
    end
    local address, length = match(text, "^([^/]+)/(%d+)$")

    local bytes = ffi_new("uint8_t[16]")
    local family, is_mapped = parse_address(address or text, bytes)
    if not family then
        return nil
    end
    if is_mapped then
        return nil, MAPPED
    end

    local bits = tonumber(length) or family
    if bits > family then
        return nil
    end

    local mask = ffi_new("uint8_t[16]")
    for i = 0, 15 do
        mask[i] = band(lshift(0xff, 8 - min(max(bits - 8 * i, 0), 8)), 0xff)
    end
    -- Kept here, because pointers do not keep what they point to.
    return {
        family = family, bytes = bytes, words = ffi_cast(words_ptr, bytes), mask_bytes = mask,
        mask = ffi_cast(words_ptr, mask),
    }
end


local function is_in(words, network)
    local theirs, mask = network.words, network.mask
    return band(bxor(words[0], theirs[0]), mask[0]) == 0 and band(bxor(words[1], theirs[1]), mask[1]) == 0
           and band(bxor(words[2], theirs[2]), mask[2]) == 0 and band(bxor(words[3], theirs[3]), mask[3]) == 0
end


-- Returns a function(address) -> boolean, or nil and what is wrong with the list.
function _M.matcher(list)
    if type(list) ~= "table" then
        error("bad argument #1 to 'matcher' (table expected, got " .. type(list) .. ")", 2)
    end

    local networks, takes_all, takes_unix = {}, false, false
    for i = 1, #list do
        local text = list[i]
        if text == "all" then
            takes_all = true

        elseif text == UNIX then
            takes_unix = true

        elseif text == "off" then
            if #list > 1 then
                return nil, '"off" cannot be combined with other networks'
            end

        else
            local network, why = parse_network(text)
            if not network then
                return nil, format("%q", tostring(text)) .. (why or NOT_A_NETWORK)
            end
            networks[#networks + 1] = network
        end
    end

    local bytes = ffi_new("uint8_t[16]")
    local words = ffi_cast(words_ptr, bytes)
    return function(address)
        if takes_all then
            return true
        end
        -- C would read a NULL for nil, and a text up to its NUL.
        if type(address) ~= "string" or find(address, "\0", 1, true) then
            return false
        end
        -- The path of the socket may follow.
        if sub(address, 1, #UNIX) == UNIX then
            return takes_unix
        end
        local family = parse_address(address, bytes)
        if not family then
            return false
        end
        for i = 1, #networks do
            if networks[i].family == family and is_in(words, networks[i]) then
                return true
            end
        end
        return false
    end
end


return _M
