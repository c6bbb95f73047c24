-- Makes ids of any format. maker.new("ksuid") returns a function like that of resty.txid, ksuid([ms]).

local args = require "resty.txid.args"
local ffi = require "ffi"
local lib = require "resty.txid.lib"
local text = require "resty.txid.text"


local C = lib.needed_by "resty.txid.maker"
local bad_argument = args.bad_argument
local clock_ms = lib.clock_ms
local error = error
local ffi_new = ffi.new
local ffi_str = ffi.string
local format = string.format
local integer_ms = args.integer_ms
local pairs = pairs
local printable = text.printable
local texts = text.texts
local tostring = tostring
local type = type
local warn_guessable = lib.warn_guessable


local buf = ffi_new("char[?]", lib.MAX_LEN)
local guessable = ffi_new("bool[1]")
local message = ffi_new("char[?]", lib.MESSAGE_LEN)


-- Returns the name of a format and its options as words for the library, which checks them.
local function words_of(name, options)
    if type(name) ~= "string" then
        bad_argument(1, "new", "string", name)
    end
    if options ~= nil and type(options) ~= "table" then
        bad_argument(2, "new", "table", options)
    end

    local words = { name }
    for option, value in pairs(options or {}) do
        if type(value) == "number" then
            value = format("%.17g", value)
        end
        if type(value) ~= "string" then
            error(format("bad option '%s' to 'new' (string or number expected, got %s)",
                         printable(tostring(option)), type(value)), 3)
        end
        words[#words + 1] = tostring(option) .. "=" .. value
    end
    return words
end


local _M = {}


-- Returns a function that makes ids of a format, named as in nginx's txid_format. `options` is what the format needs,
-- such as { node = 17, state = "/var/lib/txid/orders" }; raises an error if one is wrong. The function returns a new id
-- of this moment, or one stamped with exactly `ms`; or nil and why there is none now.
function _M.new(name, options)
    local words = words_of(name, options)
    local list, count = texts(words)
    local opened = ffi_new("txid_maker *[1]")
    if C.txid_maker_open(list, count, false, opened, message) < 0 then
        error("resty.txid.maker: " .. ffi_str(message), 2)
    end
    local maker = ffi.gc(opened[0], C.txid_maker_close)

    return function(ms)
        local len
        if ms then
            len = C.txid_maker_fill_at(maker, integer_ms(ms, name), buf, guessable, message)
        else
            len = C.txid_maker_fill(maker, clock_ms(), buf, guessable, message)
        end

        if len < 0 then
            if ms then
                error(ffi_str(message), 2)
            end
            return nil, ffi_str(message)
        end
        if guessable[0] then
            warn_guessable()
        end
        return (ffi_str(buf, len))
    end
end


-- Whether the system gave no randomness to this worker, so that its ids could be guessed.
function _M.entropy_degraded()
    return C.txid_entropy_degraded()
end


return _M
