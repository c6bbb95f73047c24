-- What Kong's extractors read in the headers of a file, one in hexadecimal a line: a line of trace, parent and decision
-- for each, or "-". Runs in nginx for its regular expressions. Kong's own files are loaded from `source`; what they
-- need of its libraries is below.

local format, rep, gsub, char, byte = string.format, string.rep, string.gsub, string.char, string.byte


local function nothing() end


-- Penlight's, for functions that are not called here.
package.loaded["pl.stringx"] = { join = nothing, split = nothing }
_G.kong = { log = { warn = nothing, err = nothing, debug = nothing } }

-- lua-resty-openssl's.
package.loaded["resty.openssl.bn"] = {
    from_dec = function(digits)
        local bytes = { 0 }
        for digit in digits:gmatch("%d") do
            local carry = tonumber(digit)
            for place = 1, #bytes do
                local value = bytes[place] * 10 + carry
                bytes[place], carry = value % 256, math.floor(value / 256)
            end
            if carry > 0 then
                bytes[#bytes + 1] = carry
            end
        end
        while bytes[#bytes] == 0 do
            bytes[#bytes] = nil
        end
        return {
            to_binary = function()
                local text = ""
                for place = #bytes, 1, -1 do
                    text = text .. char(bytes[place])
                end
                -- As it answers for 0.
                return text ~= "" and text or nil
            end,
        }
    end,
}

local EXTRACTORS = {
    aws = { "aws", "x-amzn-trace-id" },
    gcp = { "gcp", "x-cloud-trace-context" },
    traceparent = { "w3c", "traceparent" },
    b3_single = { "b3", "b3" },
    jaeger = { "jaeger", "uber-trace-id" },
    datadog = { "datadog", "x-datadog-trace-id", "x-datadog-parent-id", "x-datadog-sampling-priority",
                "x-datadog-tags" },
}


local function hexadecimal(bytes)
    return (gsub(bytes, ".", function(c)
        return format("%02x", byte(c))
    end))
end


return function(source, file, kind, out)
    package.path = source .. "/?.lua;" .. package.path
    local names = EXTRACTORS[kind]
    local extractor = require("kong.observability.tracing.propagation.extractors." .. names[1])
    local written = assert(io.open(out, "w"))
    for line in io.lines(file) do
        local header = gsub(line, "%x%x", function(digits)
            return char(tonumber(digits, 16))
        end)
        -- As headers.py joins the values of several headers.
        local headers, place = {}, 2
        for value in (header .. "\1"):gmatch("(.-)\1") do
            headers[names[place]] = value ~= "\2" and value or nil
            place = place + 1
        end
        local span = extractor:extract(headers)
        if span and span.trace_id then
            local parent = span.span_id and hexadecimal(span.span_id) or rep("0", 16)
            local decision = span.should_sample == nil and "?" or span.should_sample and "1" or "0"
            written:write(hexadecimal(span.trace_id), " ", parent, " ", decision, "\n")
        else
            written:write("-\n")
        end
    end
    written:close()
end
