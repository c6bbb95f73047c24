-- A client for the nginx that it runs in.

local _M = {}


-- The whole response to these bytes, or nil and the error.
function _M.send(bytes, port)
    local socket = ngx.socket.tcp()
    local ok, err = socket:connect("127.0.0.1", port or ngx.var.server_port)
    if not ok then
        return nil, err
    end

    ok, err = socket:send(bytes)
    if not ok then
        return nil, err
    end

    local response
    response, err = socket:receive("*a")
    socket:close()
    return response, err
end


-- The response's body and its head, or nil and the error.
function _M.get(path, port)
    local response, err = _M.send("GET " .. path .. " HTTP/1.0\r\nHost: localhost\r\n\r\n", port)
    if not response then
        return nil, err
    end

    local head, body = response:match("^(HTTP/1%.%d 200 .-\r\n)\r\n(.*)")
    if not head then
        return nil, "not a good response: " .. response
    end
    return body, head
end


-- A connection for several requests.
function _M.connect(port)
    local socket = ngx.socket.tcp()
    assert(socket:connect("127.0.0.1", port))
    return socket
end


-- What this pattern finds in the next response on it, which comes in chunks, or nil if there is none.
function _M.ask(socket, path, pattern)
    assert(socket:send("GET " .. path .. " HTTP/1.1\r\nHost: localhost\r\n\r\n"))
    local lines = ""
    repeat
        local line = socket:receive()
        if not line then
            return nil
        end
        lines = lines .. line .. "\n"
    until lines:find("\n0\n\n$")
    return lines:match(pattern)
end


return _M
