-- The millisecond in an id, read from its first 42 bits by code that shares nothing with the library.

local floor = math.floor


local DIGITS = "0123456789abcdefghijklmnopqrstuv"


local function digit(id, position)
    return DIGITS:find(id:sub(position, position), 1, true) - 1
end


return function(id)
    local ms = 0
    for position = 1, 8 do
        ms = ms * 32 + digit(id, position)
    end

    -- 40 bits so far; the ninth character holds two more, above three random ones.
    return ms * 4 + floor(digit(id, 9) / 8)
end
