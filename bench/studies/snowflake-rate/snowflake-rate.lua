-- Measures ids and refusals a second, and prints snowflake-rate.svg, for run.sh. Its argument is an absolute path
-- without symbolic links, where states may be made.

local clock_ms = require("resty.txid.lib").C.txid_clock_ms
local snowflake = require "resty.txid.snowflake"


local SECONDS = 2
local MAX_DRIFT = 0.5
local LAYOUT = { time_bits = 41, node_bits = 10, sequence_bits = 8, epoch = "2026-01-01" }
local LAYOUT_RATE = 256000
local LAST_RATE = 640000
local STEP = 64000


-- Requests ids at this rate. Returns how many were made and refused a second.
local function measure(rate, state)
    local order_id = snowflake.new { layout = LAYOUT, node = 1, state = state, max_drift = MAX_DRIFT }
    local start, asked = tonumber(clock_ms()), 0
    repeat
        local elapsed = tonumber(clock_ms()) - start
        while asked < rate * elapsed / 1000 do
            order_id:next()
            asked = asked + 1
        end
    until elapsed >= SECONDS * 1000

    local stats = order_id:stats()
    return stats.issued / SECONDS, stats.refused / SECONDS
end


local LEFT, TOP, WIDTH, HEIGHT = 80, 30, 560, 280


local function x(rate)
    return LEFT + rate / LAST_RATE * WIDTH
end


local function y(rate)
    return TOP + HEIGHT - rate / LAST_RATE * HEIGHT
end


local function out(text, ...)
    print(text:format(...))
end


local function line(values, color, name, down)
    local points = {}
    for i, value in ipairs(values) do
        points[i] = ("%.1f,%.1f"):format(x(value[1]), y(value[2]))
    end
    out('<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>', color, table.concat(points, " "))
    for _, value in ipairs(values) do
        out('<circle cx="%.1f" cy="%.1f" r="3" fill="%s"><title>%d asked, %d %s</title></circle>', x(value[1]),
            y(value[2]), color, value[1], value[2], name)
    end
    local last = values[#values]
    out('<text x="%.1f" y="%.1f" fill="%s">%s</text>', x(last[1]) + 8, y(last[2]) + down, color, name)
end


local made, refused = {}, {}
for rate = STEP, LAST_RATE, STEP do
    local made_a_second, refused_a_second = measure(rate, arg[1] .. "/rate-" .. rate)
    made[#made + 1] = { rate, made_a_second }
    refused[#refused + 1] = { rate, refused_a_second }
end

out('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 370" font-family="sans-serif" font-size="12">')
out('<rect width="720" height="370" fill="white"/>')
for rate = 0, LAST_RATE, 2 * STEP do
    out('<path d="M%.1f %d V%d M%d %.1f H%d" stroke="#ddd"/>', x(rate), TOP, TOP + HEIGHT, LEFT, y(rate), LEFT + WIDTH)
    out('<text x="%.1f" y="%d" text-anchor="middle">%d,000</text>', x(rate), TOP + HEIGHT + 18, rate / 1000)
    out('<text x="%d" y="%.1f" text-anchor="end">%d,000</text>', LEFT - 8, y(rate) + 4, rate / 1000)
end
out('<path d="M%.1f %d V%d" stroke="#888" stroke-dasharray="4 4"/>', x(LAYOUT_RATE), TOP, TOP + HEIGHT)
out('<text x="%.1f" y="%d" fill="#555">the layout\'s rate</text>', x(LAYOUT_RATE) + 4, TOP + 12)
out('<text x="%d" y="%d" text-anchor="middle">asked for a second, over %d s</text>', LEFT + WIDTH / 2,
    TOP + HEIGHT + 38, SECONDS)
line(made, "#1769aa", "made", -2)
line(refused, "#c62828", "refused", 12)
out("</svg>")
