import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Makes snowflake ids with the datacenter in DATACENTER_ID and the worker in WORKER_ID, five bits each, until it is
 * ended, and knows nothing of txid.
 *
 * java Snowflake.java DIRECTORY COUNT: appends them to DIRECTORY/NODE-PID, as 8 bytes each, COUNT every 5 ms.
 */
class Snowflake {
    private static final long EPOCH_MS = 1288834974657L;

    public static void main(String[] args) throws IOException, InterruptedException {
        long node = Long.parseLong(System.getenv("DATACENTER_ID")) << 5 | Long.parseLong(System.getenv("WORKER_ID"));
        String path = args[0] + "/" + node + "-" + ProcessHandle.current().pid();
        int count = Integer.parseInt(args[1]);
        ByteBuffer batch = ByteBuffer.allocate(count * 8).order(ByteOrder.nativeOrder());
        long lastMs = 0;
        try (FileOutputStream file = new FileOutputStream(path, true)) {
            while (true) {
                long ms = System.currentTimeMillis() - EPOCH_MS;
                if (ms > lastMs) {
                    lastMs = ms;
                    batch.clear();
                    for (int sequence = 0; sequence < count; sequence++) {
                        batch.putLong(ms << 22 | node << 12 | sequence);
                    }
                    file.write(batch.array());
                }
                Thread.sleep(5);
            }
        }
    }
}
