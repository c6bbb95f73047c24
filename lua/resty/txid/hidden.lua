-- Numbers and UUIDs that tell nothing: their images under a keyed permutation. hidden.new{...} returns a series.

local args = require "resty.txid.args"
local ffi = require "ffi"
local lib = require "resty.txid.lib"


local C = lib.needed_by "resty.txid.hidden"
local bad_argument = args.bad_argument
local check_string = args.check_string
local check_table = args.check_table
local error = error
local ffi_new = ffi.new
local ffi_str = ffi.string
local floor = math.floor
local format = string.format
local handle_of = args.handle_of
local is_int64 = args.is_int64
local pairs = pairs
local setmetatable = setmetatable
local texts = require("resty.txid.text").texts
local tostring = tostring
local type = type


local MAX_NUMBER = 2^53
local OPTIONS = {
    key_file = true, name = true, digits = true, letters = true, uuid = true, check = true, state = true,
}

local buf = ffi_new("char[?]", lib.HIDDEN_LEN)
local message = ffi_new("char[?]", lib.MESSAGE_LEN)
local number = ffi_new("uint64_t[1]")


local methods = {}
local series_mt = { __index = methods }


-- A Lua number holds whole numbers up to 2^53 alone.
local function check_number(n)
    if type(n) == "number" then
        if not (n >= 0 and n <= MAX_NUMBER and n == floor(n)) then
            bad_argument(1, "hide", "a whole number from 0 to 2^53", n, format("%.17g", n))
        end

    elseif not is_int64(n) then
        bad_argument(1, "hide", "number, int64_t or uint64_t", n)

    elseif n < 0 then
        bad_argument(1, "hide", "a number from 0 on", n, tostring(n))
    end
end


-- Returns the image of a number, or nil and why it has none. An int64_t or uint64_t may have all of its bits.
function methods.hide(self, n)
    local handle = handle_of(self, "series", "hide", "...")
    check_number(n)

    local len = C.txid_hidden_hide(handle, n, buf, message)
    if len < 0 then
        return nil, ffi_str(message)
    end
    return (ffi_str(buf, len))
end


-- Returns the number with this image as a uint64_t, or nil and why the text is no image.
function methods.reveal(self, text)
    local handle = handle_of(self, "series", "reveal", "...")
    check_string(text, "reveal")

    if C.txid_hidden_reveal(handle, text, #text, number, message) < 0 then
        return nil, ffi_str(message)
    end
    return number[0]
end


local uuid_methods = {}
local uuid_series_mt = { __index = uuid_methods }


-- Returns the image of a UUID of version 7, a UUID of version 4; or nil and why it has none.
function uuid_methods.hide(self, text)
    local handle = handle_of(self, "series", "hide", "...")
    check_string(text, "hide")

    local len = C.txid_hidden_hide_text(handle, text, #text, buf, message)
    if len < 0 then
        return nil, ffi_str(message)
    end
    return (ffi_str(buf, len))
end


-- Returns the UUID with this image, or nil and why the text is no image.
function uuid_methods.reveal(self, text)
    local handle = handle_of(self, "series", "reveal", "...")
    check_string(text, "reveal")

    local len = C.txid_hidden_reveal_text(handle, text, #text, buf, message)
    if len < 0 then
        return nil, ffi_str(message)
    end
    return (ffi_str(buf, len))
end


-- Raises an error at the caller of new(), which called the function that calls this; or, if it was not called by new()
-- itself, one that is `more` calls away.
local function wrong(option, what, more)
    error("bad option '" .. option .. "' to 'new' (" .. what .. ")", 4 + (more or 0))
end


local function check_text(options, option, what, more)
    local value = options[option]
    if type(value) ~= "string" then
        wrong(option, what .. " expected, got " .. type(value), more)
    end
    -- C would read only the part before a NUL.
    if value:find("\0", 1, true) then
        wrong(option, "text without a NUL expected", more)
    end
    return value
end


-- A relative path would depend on the working directory.
local function check_path(options, option, what)
    local path = check_text(options, option, what, 1)
    if path:sub(1, 1) ~= "/" then
        wrong(option, "absolute path expected, got '" .. path .. "'")
    end
    return path
end


local function check_count(options, option)
    local count = options[option]
    if count == nil then
        return 0
    end
    if type(count) ~= "number" or count ~= floor(count) or count < 1 or count > 100 then
        local shown = type(count) == "string" and '"' .. count .. '"' or tostring(count)
        wrong(option, "whole number from 1 to 100 expected, got " .. shown)
    end
    return count
end


local function check_boolean(options, option)
    local value = options[option]
    if value ~= nil and type(value) ~= "boolean" then
        wrong(option, "boolean expected, got " .. type(value))
    end
    return value
end


local _M = {}


-- Returns a series of hidden numbers or UUIDs; raises an error if an option is wrong or the key cannot be read. Call it
-- in init_by_lua, while nginx is still the user who may read the key; workers inherit it.
--   key_file  the file with the key
--   name      the name of the series, such as "orders"; with another name, the images are others
--   digits    how many digits images have, 6 to 19; or
--   letters   how many letters, 4 to 13; or
--   uuid      true: UUIDs of version 7 are hidden, and images are UUIDs of version 4
--   check     true: images of numbers end with a check digit
--   state     the file of the segment that the numbers are of, such as "/run/txid/orders.segment"
function _M.new(options)
    check_table(options, "new")
    for key in pairs(options) do
        if not OPTIONS[key] then
            error("bad option '" .. tostring(key) .. "' to 'new' (unknown option; the options are check, digits, "
                .. "key_file, letters, name, state, uuid)", 2)
        end
    end
    local key_file = check_path(options, "key_file", "the file of the key")
    local name = check_text(options, "name", "name of the series")
    local digits, letters = check_count(options, "digits"), check_count(options, "letters")
    local uuid, check, state = check_boolean(options, "uuid"), check_boolean(options, "check"), options.state
    if (digits > 0 and 1 or 0) + (letters > 0 and 1 or 0) + (uuid and 1 or 0) ~= 1 then
        error("bad options to 'new' (one of digits, letters and uuid expected)", 2)
    end
    if state ~= nil then
        state = check_path(options, "state", "the file that txid-agent keeps")
    end

    local length = uuid and "uuid" or digits > 0 and "digits=" .. digits or "letters=" .. letters
    local words = { "key=" .. key_file, "name=" .. name, length }
    if check then
        words[#words + 1] = "check"
    end
    if state then
        words[#words + 1] = "state=" .. state
    end

    local list, count = texts(words)
    local opened = ffi_new("txid_hidden *[1]")
    if C.txid_hidden_open(list, count, opened, message) < 0 then
        error("cannot hide " .. (uuid and "UUIDs: " or "numbers: ") .. ffi_str(message), 2)
    end
    local series = { handle = ffi.gc(opened[0], C.txid_hidden_close) }
    if not C.txid_hidden_is_locked(series.handle, message) then
        lib.log("WARN", "resty.txid.hidden: " .. ffi_str(message))
    end
    return setmetatable(series, uuid and uuid_series_mt or series_mt)
end


return _M
