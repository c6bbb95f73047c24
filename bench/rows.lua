-- The rows of the first table: the length of the string, which determines the row's floor; the name; and the call, in
-- which `m` is the module, `ms` a time in milliseconds that changes with each call, and `i` the number of the call. A
-- row with `reads` returns a number and not a string.
--
-- `module` is one of our modules; `format` is the name of a format, whose maker is `m`. `peer` is another library: a
-- file below PEERS, named by its path because some have the name of one of our modules. `first` runs once, before the
-- first call.
return {
    { 20, "txid()", "m()", module = "resty.txid" },
    { 20, "txid(ms)", "m(ms)", module = "resty.txid" },
    { 20, "txid() in plain LuaJIT", "m()", module = "resty.txid.pure" },
    { 20, "txid(ms) in plain LuaJIT", "m(ms)", module = "resty.txid.pure" },

    { 20, "codec.ms(id), which reads one", "m.ms(m.ids[band(i, 255) + 1])", module = "resty.txid.codec", reads = true,
      first = "m.ids = {} for i = 1, 256 do m.ids[i] = require 'resty.txid'(i) end" },

    { 20, "strong", "m()", format = "strong" },
    { 36, "uuid_v4", "m()", format = "uuid_v4" },
    { 36, "uuid_v7", "m()", format = "uuid_v7" },
    { 36, "uuid_v1", "m()", format = "uuid_v1" },
    { 22, "flake", "m()", format = "flake" },
    { 27, "unique_id", "m()", format = "unique_id" },
    { 24, "unique_id_short", "m()", format = "unique_id_short", options = { address = "10.0.0.7" } },
    { 32, "trace_id", "m()", format = "trace_id" },
    { 32, "trace_host_id", "m()", format = "trace_host_id", options = { address = "10.0.0.7" } },
    { 32, "otel_trace_id", "m()", format = "otel_trace_id" },
    { 16, "span_id", "m()", format = "span_id" },
    { 25 + #tostring(ngx.worker.pid()), "sofa", "m()", format = "sofa", options = { address = "10.0.0.7" } },
    { 52, "skywalking", "m()", format = "skywalking" },
    { 26, "ulid", "m()", format = "ulid" },
    { 27, "ksuid", "m()", format = "ksuid" },
    { 20, "xid", "m()", format = "xid" },
    { 21, "nanoid", "m()", format = "nanoid" },

    { 19, "order_id() of snowflake", "m.order_id()", module = "resty.txid.snowflake",
      first = "m.order_id = m.new { layout = 'snowflake', node = 1, state = ngx.config.prefix() .. 'orders' }" },
    { 19, "order_id() of snowflake, on a leased node", "m.leased()", module = "resty.txid.snowflake",
      first = "m.leased = m.new { layout = 'snowflake', node = 'lease', " ..
              "state = ngx.config.prefix() .. 'agent/orders' }" },
    { 7, "invoice_no() of a segment", "m.invoice_no()", module = "resty.txid.segment",
      first = "m.invoice_no = m.new { state = ngx.config.prefix() .. 'agent/invoices.segment' } " ..
              "repeat local number = m.invoice_no() until number and #number == 7" },

    { 10, "orders:hide(number) of hidden", "m.orders:hide(1763712000 + i)", module = "resty.txid.hidden",
      first = "local key = ngx.config.prefix() .. 'orders.key' " ..
              "local file = io.open(key, 'w') file:write(('85962d72415d32da'):rep(2), '\\n') file:close() " ..
              "os.execute('chmod 600 ' .. key) " ..
              "m.orders = m.new { key_file = key, name = 'orders', digits = 10 }" },
    { 10, "orders:reveal(image) of hidden", "m.orders:reveal(m.images[band(i, 255)])", module = "resty.txid.hidden",
      reads = true, first = "m.images = {} for i = 0, 255 do m.images[i] = m.orders:hide(i) end" },

    { 20, "lua-resty-txid", "m()", peer = "lua-resty-txid/lib/resty/txid.lua" },
    { 36, "lua-resty-jit-uuid v4", "m.generate_v4()", peer = "lua-resty-jit-uuid/lib/resty/jit-uuid.lua",
      first = "m.seed()" },
    { 36, "lua-resty-uuid v4", "m.generate_random()", peer = "lua-resty-uuid/lib/resty/uuid.lua" },
    { 10, "hashids.lua, no encryption", "m.orders:encode(1763712000 + i)", peer = "hashids.lua/src/init.lua",
      first = "m.orders = m.new('orders', 10)" },
}
