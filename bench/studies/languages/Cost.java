import java.lang.management.ManagementFactory;
import java.util.Map;

class Cost {
    static final int COUNT = 500_000;

    public static void main(String[] args) {
        var orders = Ids.snowflakes("snowflake", args[0] + "/orders");
        var invoices = Ids.segment(args[0] + "/invoices.segment");
        var threads = ManagementFactory.getThreadMXBean();
        for (var kind : Map.<String, Runnable>of(
                "txid", Ids::txid, "snowflake", orders::getAsLong, "segment", invoices::getAsLong).entrySet()) {
            long spent = 0;
            // The first round is for the compiler.
            for (int round = 0; round < 2; round++) {
                long start = threads.getCurrentThreadCpuTime();
                for (int i = 0; i < COUNT; i++) {
                    kind.getValue().run();
                }
                spent = threads.getCurrentThreadCpuTime() - start;
            }
            System.out.println("java " + kind.getKey() + " " + (double) spent / COUNT);
        }
    }
}
