-- Checks that everyone sees the same id of a request. Call note(place, id) where an id is seen, then report(...), which
-- sends a request and returns how many ids there were, and where. Needs lua_shared_dict agree.

local wait_until = require "support.wait_until"


local dict = ngx.shared.agree


local _M = {}


function _M.note(place, id)
    assert(dict:rpush("notes", place .. " " .. (id or "(none)")))
end


local function exchange(port, bytes)
    local socket = ngx.socket.tcp()
    assert(socket:connect("127.0.0.1", port))
    assert(socket:send(bytes))
    local response = assert(socket:receive("*a"))
    socket:close()
    return response
end


-- The request is a path, or all that is sent. Its log phase is over when nginx has closed the connection, unless nginx
-- lingers to read more input: then pass the number of notes to wait for.
function _M.report(port, request, expected)
    if request:find("^/") then
        request = "GET " .. request .. " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    end
    local response = exchange(port, request)
    for id in response:match("^.-\r\n\r\n"):gmatch("X%-Request%-Id: ([^\r]*)") do
        _M.note("response", id)
    end

    if expected then
        wait_until(function() return dict:llen("notes") >= expected end)
    end

    local places, ids, distinct = {}, {}, 0
    for _ = 1, dict:llen("notes") do
        local place, id = dict:lpop("notes"):match("^(%S+) (.*)")
        places[id] = places[id] or {}
        places[id][place] = (places[id][place] or 0) + 1
        if not ids[id] then
            ids[id] = true
            distinct = distinct + 1
        end
    end

    local lines = {}
    for id, counts in pairs(places) do
        local line = {}
        for place, count in pairs(counts) do
            line[#line + 1] = count == 1 and place or place .. "*" .. count
        end
        table.sort(line)
        lines[#lines + 1] = table.concat(line, " ") .. (distinct == 1 and "" or ": " .. id)
    end
    table.sort(lines)
    return response:match("^HTTP/1.%d (%d+)") .. " " .. distinct .. " id: " .. table.concat(lines, "; "), response
end


return _M
