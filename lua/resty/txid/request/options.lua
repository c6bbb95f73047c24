-- Checks the options of resty.txid.request.configure(). Errors are found when nginx starts, and name the option. Here
-- values get their types; what the options of the policy say is read in the same way as nginx's directives.

local engine = require("resty.txid.lib").engine
local kinds = require "resty.txid.request.kinds"
local native = require "resty.txid.request.native"
local policies = require(engine == "native" and "resty.txid.request.policy" or "resty.txid.request.plain")


local concat = table.concat
local error = error
local format = string.format
local pairs = pairs
local pcall = pcall
local re_find = ngx.re.find
local require = require
local sort = table.sort
local tostring = tostring
local type = type


local _M = {}

local DEFAULTS = {
    header = "X-Request-Id",
    accept = false,
    valid = false,
    format = "txid",
    on_invalid = "replace",
    response = true,
    upstream = true,
    trace = "off",
    trace_id_header = false,
    trace_ids = "random",
    trace_flags = "03",
    server_timing = false,
}

-- Those that also have an effect where nginx's module decides about ids and traces. The others need its directives.
local BESIDE_NATIVE = {
    header = true,
    response = true,
    upstream = true,
}

local function show(value)
    if type(value) == "string" then
        return format("%q", value)
    end
    return type(value) == "table" and "this table" or tostring(value)
end


-- Returns why a table is not a list of strings, or nil.
local function unlike_a_list(value)
    for key in pairs(value) do
        if type(key) ~= "number" or key < 1 or key > #value then
            return "it has the key " .. show(key)
        end
    end
    for i = 1, #value do
        if type(value[i]) ~= "string" then
            return "entry " .. i .. " is " .. show(value[i])
        end
    end
    return nil
end


-- The options of the policy: each function returns a list of words; or nil, what it expects, and why.
local words = {}


local function word(value)
    if type(value) == "string" then
        return { value }
    end
    return nil, "a string"
end


words.on_invalid = word
words.trace_flags = word


local function word_or_list(value, expected)
    if type(value) ~= "table" then
        return word(value), expected
    end
    local err = unlike_a_list(value)
    return not err and value or nil, expected, err
end


function words.header(value)
    return word_or_list(value, "the name of a header or a list of names")
end


function words.accept(value)
    if type(value) == "boolean" or type(value) == "function" then
        return { value and "all" or "off" }
    end
    return word_or_list(value, "true, false, a list of networks or a function")
end


function words.trace(value)
    return word_or_list(value, '"off", "' .. concat(kinds, '", "') .. '" or a list of these')
end


function words.trace_ids(value)
    return word_or_list(value, '"random", "sorted_seconds", "sorted", "sorted_host", or a list of the last two with an '
                               .. 'epoch')
end


function words.trace_id_header(value)
    if value == false then
        return { "off" }
    end
    return word(value), "the name of a header or false"
end


-- The other options: each function returns the value for request.lua.
local checks = {}


local function boolean(value)
    if type(value) == "boolean" then
        return value
    end
    return nil, "true or false"
end


checks.response = boolean
checks.server_timing = boolean
checks.upstream = boolean


-- A regular expression must match the whole id.
function checks.valid(value)
    if type(value) == "function" or value == false then
        return value
    end
    if type(value) ~= "string" then
        return nil, "a regular expression or a function"
    end

    local pattern = "\\A(?:" .. value .. ")\\z"
    local _, _, err = re_find("", pattern, "jo")
    if err then
        return nil, "a regular expression", err
    end
    return function(id)
        return re_find(id, pattern, "jo") ~= nil
    end
end


-- Returns a function that makes ids of a format, or nil and why there is none.
local function generator(name)
    if name == "txid" then
        return require "resty.txid"
    end

    local ok, maker = pcall(require, "resty.txid.maker")
    if not ok then
        -- So that the next one hears the reason, too, and not of a previous error.
        package.loaded["resty.txid.maker"] = nil
        return nil, maker
    end
    local made
    ok, made = pcall(maker.new, name)
    return ok and made or nil, made
end


-- "trace" stands for the id of the trace.
function checks.format(value)
    if type(value) == "function" or value == "trace" then
        return value
    end
    if type(value) ~= "string" then
        return nil, "the name of a format or a function"
    end

    local generate, err = generator(value)
    if type(generate) == "function" then
        local ok, id = pcall(generate)
        if ok and type(id) == "string" then
            return generate
        end
        err = ok and "it makes a " .. type(id) .. ", not a string" or id
    end
    return nil, "the name of a format such as txid or uuid_v7", err
end


local function names()
    local sorted = {}
    for name in pairs(DEFAULTS) do
        sorted[#sorted + 1] = name
    end
    sort(sorted)
    return concat(sorted, ", ")
end


local function value_of(given, name)
    local value = given[name]
    if value == nil then
        return DEFAULTS[name]
    end
    return value
end


-- Returns what the checks return for each option, by name.
local function check_each(given, by_name)
    local results = {}
    for name, check in pairs(by_name) do
        local value = value_of(given, name)
        local result, expected, err = check(value)
        if result == nil then
            error("resty.txid.request: " .. name .. " must be " .. expected .. ", not " .. show(value)
                  .. (err and " (" .. tostring(err) .. ")" or ""), 4)
        end
        results[name] = result
    end
    return results
end


local function same(list, other)
    return concat(list, " ") == concat(other, " ")
end


-- What to do instead, where there is no directive of the same name.
local INSTEAD_OF = {
    valid = "leave it out",
    server_timing = "use add_header Server-Timing 'traceparent;desc=\"$txid_traceparent\"'",
}

-- An option that only seems to work would be worse than an error.
local function check_beside_native(given, policy)
    for name, value in pairs(given) do
        local default = words[name] and words[name](DEFAULTS[name])
        local is_default
        if name == "accept" then
            is_default = #policy.accept == 0 or policy.accept[1] == "off" and type(value) ~= "function"
        elseif default then
            is_default = same(policy[name], default)
        else
            is_default = value == DEFAULTS[name]
        end
        if not BESIDE_NATIVE[name] and not is_default then
            error("resty.txid.request: " .. name .. " has no effect beside ngx_http_txid_module, which decides: "
                  .. (INSTEAD_OF[name] or "use its directive txid_" .. name), 4)
        end
    end
end


-- Returns the options for request.lua, with defaults for those that are not given.
function _M.check(given)
    for key in pairs(given) do
        if DEFAULTS[key] == nil then
            error("resty.txid.request: configure has no option " .. show(key) .. "; it has " .. names(), 3)
        end
    end

    local policy = check_each(given, words)
    local options = check_each(given, checks)
    options.is_of_trace = options.format == "trace"
    if native.is_loaded then
        check_beside_native(given, policy)
    end
    local err, name
    options.policy, err, name = policies.open(policy, options.is_of_trace)
    if not options.policy then
        error("resty.txid.request: " .. (name and name .. ": " or "") .. err, 3)
    end
    if options.server_timing and policy.trace[1] == "off" then
        error("resty.txid.request: server_timing is true, but trace is off", 3)
    end
    if options.valid and (policy.accept[1] == "off" or #policy.accept == 0) then
        error("resty.txid.request: valid has no effect, because accept is off: leave it out, or set accept", 3)
    end

    options.header = policy.header[1]
    options.trusts_nobody = policy.accept[1] == "off" or #policy.accept == 0
    options.trusts = type(given.accept) == "function" and given.accept or nil
    options.may_wait = options.trusts ~= nil or type(given.valid) == "function" or type(given.format) == "function"
    options.rejects = policy.on_invalid[1] == "reject"
    options.has_trace = policy.trace[1] ~= "off"
    options.forget = policies.forget
    options.send = policies.send
    options.sent_id = policies.reader(#policy.header - 1)
    options.span = policies.span
    return options
end


return _M
