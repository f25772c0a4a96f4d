/** Entry of the git thread. Loaded by `worker-client.ts` only, and only as compiled JavaScript. */
import { parentPort, workerData } from "node:worker_threads";
import type { RepositorySpec } from "./repository-reader.ts";
import { createWorkerHost } from "./worker-host.ts";
import type { ToWorker } from "./worker-protocol.ts";

const port = parentPort;
if (port !== null) {
  const host = createWorkerHost(workerData as readonly RepositorySpec[], (message) => port.postMessage(message));
  port.on("message", (message: ToWorker) => host.receive(message));
}
