-- picture.lua RESULTS.md: draws the first table as an SVG, a bar for each row that makes a string: how many times the
-- floor it takes. Its colors follow the reader's, light or dark.

local format = string.format
local max = math.max
local min = math.min


-- So narrow that a phone shows it large enough to read.
local NAMES, BARS, RIGHT, LINE = 258, 200, 50, 18
-- A longer bar is cut.
local LONGEST = 20


-- What rows.lua says of each row. It asks nginx for its process id.
local said = {}
local load_rows = assert(loadfile((arg[0]:match("^.*/") or "") .. "rows.lua"))
local nginx = { worker = { pid = function() return 1 end } }
for _, row in ipairs(setfenv(load_rows, { ngx = nginx, tostring = tostring })()) do
    said[row[2]] = row
end

local rows = {}
local in_table
for line in io.lines(arg[1]) do
    in_table = in_table and line:sub(1, 3) ~= "## " or line == "## In LuaJIT, inside an nginx worker"
    local name, times = line:match("^| ([^|*]+) | [^|]+ | ([%d.]+) %(")
    local row = said[name] or {}
    if in_table and name and not row.reads then
        rows[#rows + 1] = { name = name, times = tonumber(times), is_ours = not row.peer }
    end
end
assert(#rows > 0, "no table")


local out = {}
local function add(...)
    out[#out + 1] = format(...)
end

local function escaped(text)
    return (text:gsub("[&<>]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;" }))
end

local function x_of(times)
    return NAMES + BARS * min(times, LONGEST) / LONGEST
end

local width, height = NAMES + BARS + RIGHT, 44 + #rows * LINE
add('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d"', width, height, width, height)
add(' font-family="sans-serif" font-size="12" role="img">')
add("<title>What a string takes in LuaJIT, in an nginx worker: times the floor</title>")
add([[<style>
text { fill: #1f2328 } .ours { fill: #0969da } .other { fill: #8c959f } .floor { stroke: #cf222e } .cut { stroke: #fff }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .ours { fill: #4493f8 } .other { fill: #6e7681 } .floor { stroke: #ff7b72 }
.cut { stroke: #0d1117 }
}
</style>]])
add('<text x="%d" y="16" text-anchor="end">times the floor, the cheapest string of that length (the line)</text>',
    width - 8)
for i, row in ipairs(rows) do
    local y = 28 + (i - 1) * LINE
    local x = x_of(row.times)
    add('<text x="%d" y="%d" text-anchor="end">%s</text>', NAMES - 8, y + 13, escaped(row.name))
    add('<rect x="%d" y="%d" width="%.1f" height="12" class="%s"/>',
        NAMES, y + 3, max(x - NAMES, 1), row.is_ours and "ours" or "other")
    if row.times > LONGEST then
        add('<path d="M%d %d l-6 16" stroke-width="4" class="cut"/>', x - 20, y + 1)
    end
    add('<text x="%.1f" y="%d">%s</text>', x + 6, y + 13, format(row.times < 10 and "%.2f" or "%.0f", row.times))
end
add('<path d="M%.1f 24 V%d" class="floor"/>', x_of(1), height - 12)
add("</svg>")
print(table.concat(out, "\n"))
