-- Waits until the condition is true, for five seconds at most, and returns whether it is.
return function(condition)
    for _ = 1, 500 do
        if condition() then
            return true
        end
        ngx.sleep(0.01)
    end
    return false
end
