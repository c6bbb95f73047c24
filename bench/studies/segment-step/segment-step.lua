-- Measures numbers a second and how many txid-agent takes at a time, and prints segment-step.svg, for run.sh. Its
-- argument is the segment of an agent whose clock runs 120 times as fast, so that 15 minutes last 7.5 s.

local clock_ms = require("resty.txid.lib").C.txid_clock_ms
local segment = require "resty.txid.segment"


-- Minutes of the agent's clock, and numbers in such a minute.
local LOAD = { { 60, 200 }, { 60, 2000 }, { 150, 600 }, { 150, 300 } }
local FASTER = 120
local LEAST, MOST = 100, 1e5


local points, refused, total = {}, 0, 0
local invoice_no = segment.new { state = arg[1] }
local ffi = require "ffi"
ffi.cdef "int usleep(unsigned);"

for _, phase in ipairs(LOAD) do
    local seconds, rate = phase[1] * 60 / FASTER, phase[2] * FASTER / 60
    local start, asked, shown, shown_at = tonumber(clock_ms()), 0, 0, 0
    repeat
        local elapsed = (tonumber(clock_ms()) - start) / 1000
        while asked < rate * elapsed do
            refused = refused + (invoice_no:next() and 0 or 1)
            asked = asked + 1
        end
        if elapsed - shown_at >= 0.5 then
            local a_minute = (asked - shown) / (elapsed - shown_at) / FASTER * 60
            points[#points + 1] = { total + elapsed, a_minute, invoice_no:stats().step }
            shown, shown_at = asked, elapsed
        end
        ffi.C.usleep(1000)
    until elapsed >= seconds
    total = total + seconds
end
local stats = invoice_no:stats()


local LEFT, TOP, WIDTH, HEIGHT = 80, 30, 560, 280


local function x(seconds)
    return LEFT + seconds / total * WIDTH
end


local function y(value)
    return TOP + HEIGHT - math.log10(math.max(value, LEAST) / LEAST) / math.log10(MOST / LEAST) * HEIGHT
end


local function out(text, ...)
    print(text:format(...))
end


local function line(column, color, name, at)
    local text = {}
    for i, point in ipairs(points) do
        text[i] = ("%.1f,%.1f"):format(x(point[1]), y(point[column]))
    end
    out('<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>', color, table.concat(text, " "))
    out('<text x="%d" y="%d" fill="%s">%s</text>', LEFT + 8, at, color, name)
end


out('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 370" font-family="sans-serif" font-size="12">')
out('<rect width="720" height="370" fill="white"/>')
for minutes = 0, total * FASTER / 60, 30 do
    local seconds = minutes * 60 / FASTER
    out('<path d="M%.1f %d V%d" stroke="#ddd"/>', x(seconds), TOP, TOP + HEIGHT)
    out('<text x="%.1f" y="%d" text-anchor="middle">%d</text>', x(seconds), TOP + HEIGHT + 18, minutes)
end
for power = math.log10(LEAST), math.log10(MOST) do
    out('<path d="M%d %.1f H%d" stroke="#ddd"/>', LEFT, y(10 ^ power), LEFT + WIDTH)
    out('<text x="%d" y="%.1f" text-anchor="end">%d</text>', LEFT - 8, y(10 ^ power) + 4, 10 ^ power)
end
line(2, "#1769aa", "numbers taken in a minute", TOP + 16)
line(3, "#c62828", "numbers that the agent takes at a time", TOP + 32)
out('<text x="%d" y="%d" text-anchor="middle">minutes of the agent\'s clock; %d ranges, %d numbers refused</text>',
    LEFT + WIDTH / 2, TOP + HEIGHT + 38, tonumber(stats.fetches), refused)
out("</svg>")
