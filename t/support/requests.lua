-- Sends the requests of tests/vectors/ to the nginx that it runs in.

local agree = require "support.agree"
local http = require "support.http"


local _M = {}


-- The lines of a request's head, each with its CR LF.
local function head_of(lines)
    local head = {}
    for _, line in ipairs(lines) do
        line = type(line) == "table" and line or { line = line }
        local text = line.line .. ("a"):rep(tonumber(line.pad or 0)) .. "\r\n"
        head[#head + 1] = text:rep(tonumber(line.times or 1))
    end
    return table.concat(head)
end


-- Prints the request's id, and where it was seen.
function _M.print_id(port, host, name, lines)
    local verdict, response = agree.report(port, "GET / HTTP/1.1\r\nHost: " .. host .. "\r\nConnection: close\r\n"
                                                 .. head_of(lines) .. "\r\n")
    local id = response:match("X%-Request%-Id: ([^\r]*)")
    if id then
        verdict = verdict .. ", " .. (id:find("^[0-9a-v]+$") and #id == 20 and "a new one" or "the client's " .. id)
    end
    ngx.say(name, ": ", verdict)
end


-- The number in 16 hexadecimal digits.
local function decimal(digits)
    return (tostring(0ULL + tonumber(digits:sub(1, 8), 16) * 2ULL ^ 32 + tonumber(digits:sub(9), 16)):sub(1, -4))
end


-- Prints what the server sent upstream, with this hop's span as SPAN, a new trace as TRACE, and everything else
-- unchanged. Needs the servers of t/support/Traces.pm.
function _M.print_sent(port, host, name, lines)
    local request = head_of(lines)
    local response = http.send("GET / HTTP/1.0\r\nHost: " .. host .. "\r\n" .. request .. "\r\n", port)
    local head, body = response:match("^(.-\r\n)\r\n(.*)")
    local trace, span = head:match("This%-Trace: (%x+)"), head:match("This%-Span: (%x+)")
    body = body:gsub(span, "SPAN"):gsub(decimal(span), "SPAN")
    local upper, lower = trace:sub(1, 16), trace:sub(17)
    if not request:lower():find((lower:gsub("^0+", "")), 1, true) and not request:find(decimal(lower), 1, true) then
        body = body:gsub(trace, "TRACE"):gsub(trace:sub(1, 8) .. "%-" .. trace:sub(9), "TRACE")
        body = body:gsub(decimal(lower), "TRACE"):gsub("tid=" .. upper, "tid=TRACE")
    end
    ngx.say(name, ": ", body)
end


return _M
