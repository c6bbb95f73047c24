-- Prints the figures of README.md, and compares the formula with ids that the library makes: run.sh. With "svg" it
-- prints collisions.svg instead. It ends with an error if the ids do not follow the formula.
--
-- Two equal ids of 54 random bits are too rare to wait for. The simulation therefore looks at 20 or 24 of them.

local C = require("resty.txid.lib").C
local ffi = require "ffi"


local RANDOM_BITS = 54
local STAMP = 1700000000000
local WIDTHS = { 20, 24 }
local COUNTS = { [20] = { 50, 100, 200, 500, 1000, 2000 }, [24] = { 200, 500, 1000, 2000, 5000, 10000 } }
local IDS_A_POINT = 1e6
-- A correct generator stays within six standard deviations in all but 2 of a billion comparisons.
local DEVIATIONS = 6


-- The birthday problem: the probability that m ids of one stamp are not all different. exp(-x) rounds to 1 for small x.
local function probability(m, bits)
    local x = m * m / 2 ^ (bits + 1)
    return x < 1e-8 and x or 1 - math.exp(-x)
end


local buffer = ffi.new("char[20]")


-- The lowest random bits of a new id, but for the one in its last character.
local function random_bits(width)
    C.txid_fill(buffer, STAMP)
    local value = 0
    for i = 14, 18 do
        local character = buffer[i]
        value = value * 32 + (character < 58 and character - 48 or character - 87)
    end
    return value % 2 ^ width
end


-- How many of `rounds` rounds of m ids had two that are equal in their lowest bits.
local function simulate(m, width, rounds)
    local last_round = ffi.new("uint32_t[?]", 2 ^ width)
    local with_equal = 0
    for round = 1, rounds do
        local equal = false
        for _ = 1, m do
            local value = random_bits(width)
            equal = equal or last_round[value] == round
            last_round[value] = round
        end
        with_equal = with_equal + (equal and 1 or 0)
    end
    return with_equal
end


local function points()
    local list = {}
    for _, width in ipairs(WIDTHS) do
        for _, m in ipairs(COUNTS[width]) do
            local rounds = math.floor(IDS_A_POINT / m)
            local expected = probability(m, width)
            local seen = simulate(m, width, rounds)
            local bound = DEVIATIONS * math.sqrt(rounds * expected * (1 - expected)) + 1
            if math.abs(seen - rounds * expected) > bound then
                error(("%d ids of %d random bits: %d of %d rounds had equal ids, expected %.0f within %.0f"):format(
                    m, width, seen, rounds, rounds * expected, bound))
            end
            list[#list + 1] = { width = width, m = m, rounds = rounds, seen = seen, expected = expected }
        end
    end
    return list
end


local function span(seconds)
    if seconds < 86400 then
        return ("%.1f hours"):format(seconds / 3600)
    end
    return ("%.1f days"):format(seconds / 86400)
end


local function print_tables()
    print("  ids a second  one stamp for  ids of a stamp  equal in a stamp  one pair in")
    for _, rate in ipairs { 1e6, 1e7 } do
        for _, stamp_ms in ipairs { 1, 10, 100 } do
            local m = rate * stamp_ms / 1000
            local p = probability(m, RANDOM_BITS)
            print(("%14d  %10d ms  %14d  %16.2e  %11s"):format(rate, stamp_ms, m, p, span(stamp_ms / 1000 / p)))
        end
    end
    print("\n  bits  ids  rounds  formula  simulated")
    for _, it in ipairs(points()) do
        print(("%6d  %5d  %5d  %.4f  %.4f"):format(it.width, it.m, it.rounds, it.expected, it.seen / it.rounds))
    end
end


local LEFT, TOP, WIDTH, HEIGHT = 80, 30, 560, 300
local MAX_X, MIN_Y = 9, -12


-- Both axes are logarithmic.
local function x(m)
    return LEFT + math.log10(m) / MAX_X * WIDTH
end


local function y(p)
    return TOP + math.log10(p) / MIN_Y * HEIGHT
end


local function out(text, ...)
    print(text:format(...))
end


local function curve(bits, color)
    local list = {}
    for exponent = 0, MAX_X, 0.05 do
        local p = probability(10 ^ exponent, bits)
        if p >= 10 ^ MIN_Y then
            list[#list + 1] = ("%.1f,%.1f"):format(x(10 ^ exponent), y(p))
        end
    end
    out('<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>', color, table.concat(list, " "))
end


local function mark(m, text, color)
    local p = probability(m, RANDOM_BITS)
    out('<circle cx="%.1f" cy="%.1f" r="4" fill="%s"/>', x(m), y(p), color)
    out('<text x="%.1f" y="%.1f" fill="%s">%s</text>', x(m) + 9, y(p) + 14, color, text)
end


local function draw()
    out('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 390" font-family="sans-serif" font-size="15">')
    out('<rect width="720" height="390" fill="white"/>')
    for exponent = 0, MAX_X do
        out('<path d="M%.1f %d V%d" stroke="#ddd"/>', x(10 ^ exponent), TOP, TOP + HEIGHT)
        out('<text x="%.1f" y="%d" text-anchor="middle">1e%d</text>', x(10 ^ exponent), TOP + HEIGHT + 18, exponent)
    end
    for exponent = 0, MIN_Y, -2 do
        out('<path d="M%d %.1f H%d" stroke="#ddd"/>', LEFT, y(10 ^ exponent), LEFT + WIDTH)
        out('<text x="%d" y="%.1f" text-anchor="end">1e%d</text>', LEFT - 8, y(10 ^ exponent) + 4, exponent)
    end
    out('<text x="%d" y="%d" text-anchor="middle">ids with one stamp</text>', LEFT + WIDTH / 2, TOP + HEIGHT + 40)
    out('<text x="%d" y="%d">probability that two are equal</text>', LEFT, TOP - 10)
    for _, width in ipairs(WIDTHS) do
        curve(width, "#90a4ae")
    end
    curve(RANDOM_BITS, "#1769aa")
    for _, it in ipairs(points()) do
        local share = it.seen / it.rounds
        out('<circle cx="%.1f" cy="%.1f" r="3" fill="#c62828"><title>%d bits, %d ids: %.4f of %d</title></circle>',
            x(it.m), y(share), it.width, it.m, share, it.rounds)
    end
    out('<text x="%.1f" y="%.1f" fill="#607d8b">20 bits</text>', x(1.1), y(4e-5))
    out('<text x="%.1f" y="%.1f" fill="#607d8b">24 bits</text>', x(20), y(8e-7))
    out('<text x="%.1f" y="%.1f" fill="#1769aa">54 bits, an id</text>', x(2.5e7), y(1e-3))
    out('<text x="%.1f" y="%.1f" fill="#c62828">simulated</text>', x(500), y(1e-3) + 14)
    mark(1e3, "1 million a second", "#1769aa")
    mark(1e4, "10 million a second", "#1769aa")
    mark(1e6, "10 million, stamps of 100 ms", "#1769aa")
    out("</svg>")
end


if arg[1] == "svg" then
    draw()
else
    print_tables()
end
