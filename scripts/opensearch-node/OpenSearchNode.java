import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

/** Runs one node of OpenSearch on 127.0.0.1 until SIGTERM. Arguments: the HTTP port, and the directory of its files. */
public final class OpenSearchNode extends Node {

    private OpenSearchNode(Environment environment) {
        super(environment, List.of(Netty4Plugin.class, CommonAnalysisPlugin.class), true);
    }

    public static void main(String[] args) throws Exception {
        Path dir = Files.createDirectories(Path.of(args[1]).toAbsolutePath());
        Path config = Files.createDirectories(dir.resolve("config"));
        System.setProperty("opensearch.logs.base_path", dir.toString());
        Settings settings = Settings.builder()
            .put("path.home", dir)
            .put("path.data", dir.resolve("data"))
            .put("cluster.name", "freshet-test")
            .put("node.name", "freshet-test")
            .put("discovery.type", "single-node")
            .put("network.host", "127.0.0.1")
            .put("http.port", args[0])
            .put("transport.port", "0")
            .put("transport.type", "netty4")
            .put("http.type", "netty4")
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .put("cluster.max_shards_per_node", 10_000)
            .build();
        Node node = new OpenSearchNode(InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), config, () -> "freshet-test"));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                node.close();
                node.awaitClose(10, TimeUnit.SECONDS);
            } catch (Exception e) {
                e.printStackTrace();
            }
        }));
        node.start();
        new CountDownLatch(1).await(); // the node has no thread that keeps the process alive
    }
}
