-- Compares resty.txid.cidr with a reference that knows the bits of each address because it made them, and tests texts
-- that are nearly networks. Prints TAP. To repeat a failure: luajit t/lua/cidr.lua SEED.

local cidr = require "resty.txid.cidr"


local ROUNDS = 4000
local seed = tonumber(arg[1]) or 20260221
math.randomseed(seed)
local random = math.random


local function random_bits(count)
    local bits = {}
    for i = 1, count do
        bits[i] = random(0, 1)
    end
    return bits
end


-- Like an attacker's choice: equal up to some bit, and then different.
local function like(bits, length)
    local copy = {}
    for i = 1, #bits do
        copy[i] = i <= length and bits[i] or random(0, 1)
    end
    if random(3) == 1 and length > 0 then
        local place = random(length)
        copy[place] = 1 - copy[place]
    end
    return copy
end


local function begins_alike(one, other, length)
    for i = 1, length do
        if one[i] ~= other[i] then
            return false
        end
    end
    return true
end


local function number(bits, first, count)
    local sum = 0
    for i = first, first + count - 1 do
        sum = 2 * sum + bits[i]
    end
    return sum
end


local function ipv4_text(bits, first)
    local octets = {}
    for i = 0, 3 do
        octets[i + 1] = number(bits, (first or 1) + 8 * i, 8)
    end
    return table.concat(octets, ".")
end


-- One of the many notations of an address: with or without leading zeros, in upper or lower case, with a run of zeros
-- omitted, or with an IPv4 address at the end.
local function ipv6_text(bits)
    local spell = ({ "%x", "%X", "%04x" })[random(3)]
    local groups = {}
    for i = 0, 7 do
        groups[i + 1] = spell:format(number(bits, 1 + 16 * i, 16))
    end
    if random(4) == 1 then
        groups[7], groups[8] = ipv4_text(bits, 97), nil
    end
    for first = 1, #groups do
        local last = first
        while groups[last] and groups[last]:find("^0+$") do
            last = last + 1
        end
        if last > first + 1 and random(2) == 1 then
            return table.concat(groups, ":", 1, first - 1) .. "::" .. table.concat(groups, ":", last)
        end
    end
    return table.concat(groups, ":")
end


local function random_ipv6_bits()
    local bits = random_bits(128)
    -- Few real addresses have no zeros.
    if random(2) == 1 then
        local first = 16 * random(0, 7) + 1
        for i = first, math.min(128, first + 16 * random(8) - 1) do
            bits[i] = 0
        end
    end
    -- Global addresses, so that none is an IPv4-mapped one.
    bits[1], bits[2], bits[3] = 0, 0, 1
    return bits
end


-- Returns the question if the answer differs from the reference's.
local function wrong_answer(bits, text_of)
    local length = random(0, #bits)
    local network = text_of(bits) .. "/" .. length
    -- Other networks before or after it change nothing.
    local list = { "unix:", "203.0.113.77", "fe80::77" }
    table.insert(list, random(4), network)
    local is_in, err = cidr.matcher(list)
    if not is_in then
        return err
    end
    for _ = 1, 5 do
        local peer = like(bits, length)
        if #bits == 128 then
            peer[1], peer[2], peer[3] = 0, 0, 1
        end
        local text, expected = text_of(peer), begins_alike(bits, peer, length)
        if is_in(text) ~= expected then
            return ("%s in %s should be %s"):format(text, network, tostring(expected))
        end
    end
end


local function no_wrong_answer()
    for _ = 1, ROUNDS do
        local wrong = wrong_answer(random_bits(32), ipv4_text) or wrong_answer(random_ipv6_bits(), ipv6_text)
        if wrong then
            return nil, wrong
        end
    end
    return true
end


-- An invalid network is refused with a reason; a valid one has an answer for any text.
local function any_text_has_an_answer()
    local alphabet = "0123456789abcdefABCDEF:./%-+ gxX\0\n\255"
    local samples = { "10.0.0.0/8", "255.255.255.255/32", "2001:db8::/32", "::ffff:10.0.0.0/104", "::/0", "unix:", "" }
    for _ = 1, ROUNDS do
        local text = samples[random(#samples)]:gsub("%d+$", function() return random(0, 140) end)
        for _ = 1, random(3) do
            local place, with = random(#text + 1), random(#alphabet)
            local head, tail = text:sub(1, place - random(0, 1)), text:sub(place + random(0, 1))
            text = head .. alphabet:sub(with, with):rep(random(0, 2)) .. tail
        end
        local called, is_in, err = pcall(cidr.matcher, { text })
        if not called or not is_in and type(err) ~= "string" then
            return nil, ("%q: %s %s"):format(text, tostring(is_in), tostring(err))
        end
        for _, peer in ipairs { text, "10.0.0.1", "::1", "" } do
            local asked, answer = pcall(is_in or cidr.matcher {}, peer)
            if not asked or type(answer) ~= "boolean" then
                return nil, ("%q in %q: %s"):format(peer, text, tostring(answer))
            end
        end
        local address, length = text:match("^([^/]+)/(%d+)$")
        if is_in and length and tonumber(length) > (address:find(":", 1, true) and 128 or 32) then
            return nil, ("%q is taken for a network"):format(text)
        end
    end
    return true
end


-- A text that is not an address is in no network. C code would read a NULL, and a text only up to its NUL.
local function what_is_no_address_is_in_no_network()
    local is_in = assert(cidr.matcher { "0.0.0.0/0", "::/0", "unix:" })
    for _, value in ipairs { "10.0.0.1\0", "10.0.0.1\0.example", "unix:\0", "\0", 167772161, true, {}, print } do
        if is_in(value) then
            return nil, tostring(value)
        end
    end
    return is_in(nil) == false, "nil"
end


-- C code would read it up to its NUL.
local function what_has_a_nul_is_no_network()
    for _, text in ipairs { "10.0.0.1\0", "10.0.0.1\0/8", "10.0.0.0/8\0", "\0" } do
        local is_in, why = cidr.matcher { text }
        if is_in or not why:find("is not an address, a network", 1, true) then
            return nil, ("%q: %s"):format(text, tostring(why))
        end
    end
    return true
end


local function what_is_no_list_is_refused()
    for _, value in ipairs { "10.0.0.0/8", 8, true, print } do
        local called, err = pcall(function() cidr.matcher(value) end)
        local expected = "^t/lua/cidr.lua:%d+: bad argument #1 to 'matcher' %(table expected, got " .. type(value)
        if called or not err:find(expected) then
            return nil, tostring(err)
        end
    end
    return true
end


-- A socket for both families shows the clients of IPv4 so.
local function a_mapped_address_is_one_of_ipv4()
    local is_in = assert(cidr.matcher { "10.0.0.0/8" })
    for peer, expected in pairs {
        ["10.0.0.1"] = true, ["::ffff:10.0.0.1"] = true, ["::FFFF:A00:1"] = true, ["::ffff:11.0.0.1"] = false,
    } do
        if is_in(peer) ~= expected then
            return nil, peer
        end
    end
    return true
end


-- Another bit among the 96 in front makes it an address of IPv6, which no network of IPv4 may contain.
local function only_a_mapped_address_is_one_of_ipv4()
    local is_in = assert(cidr.matcher { "10.0.0.0/8" })
    for bit = 1, 96 do
        local bits = {}
        for i = 1, 128 do
            -- ::ffff:10.0.0.1
            bits[i] = (i > 80 and i <= 96 or i == 101 or i == 103 or i == 128) and 1 or 0
        end
        assert(is_in(ipv6_text(bits)))
        bits[bit] = 1 - bits[bit]
        local text = ipv6_text(bits)
        local is_a_network, why = cidr.matcher { text .. "/104" }
        if is_in(text) or not is_a_network then
            return nil, text .. ": " .. (why or "in 10.0.0.0/8")
        end
    end
    return true
end


-- Though it begins with the same bytes.
local function no_address_is_in_a_network_of_the_other_family()
    local is_in_ipv4, is_in_ipv6 = assert(cidr.matcher { "10.0.0.0/8" }), assert(cidr.matcher { "a00::/8" })
    return is_in_ipv6("a00::1") and not is_in_ipv4("a00::1") and not is_in_ipv6("10.0.0.1"), "a00::1 or 10.0.0.1"
end


local tests = {
    { "what is no address is in no network", what_is_no_address_is_in_no_network },
    { "what has a NUL is no network", what_has_a_nul_is_no_network },
    { "what is no list is refused", what_is_no_list_is_refused },
    { "a mapped address is one of IPv4", a_mapped_address_is_one_of_ipv4 },
    { "only a mapped address is one of IPv4", only_a_mapped_address_is_one_of_ipv4 },
    { "no address is in a network of the other family", no_address_is_in_a_network_of_the_other_family },
    { "networks match as the reference does", no_wrong_answer },
    { "any text has an answer", any_text_has_an_answer },
}
print("1.." .. #tests)
for i, test in ipairs(tests) do
    local passed, wrong = test[2]()
    print(("%s %d - %s"):format(passed and "ok" or "not ok", i, test[1]))
    if not passed then
        io.stderr:write(("#   Failed test '%s'\n#   in t/lua/cidr.t\n# seed %d: %s\n"):format(test[1], seed, wrong))
    end
end
