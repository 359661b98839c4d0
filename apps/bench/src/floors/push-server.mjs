/**
 * The minimum that a server can do with a streamed reply: pass each delta to one client, over a bare `ws` and
 * a bare `http` server. A client requests the reply at `?model=<url>`.
 */
import { createServer } from "node:http";
import { WebSocketServer } from "ws";
import { readDeltas, updateOf } from "./read-deltas.mjs";

/**
 * @param {import("node:http").IncomingMessage} request
 * @param {(text: string, seq: number) => void} write
 */
async function hand(request, write) {
  const model = new URL(request.url ?? "", "http://localhost").searchParams.get("model") ?? "";
  let seq = 0;
  for await (const piece of readDeltas(model, [{ role: "user", content: "go" }])) {
    seq += 1;
    write(JSON.stringify({ ...updateOf(piece), seq }), seq);
  }
  write(JSON.stringify({ type: "agent_settled" }), seq + 1);
}

const server = createServer((request, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  hand(request, (text, seq) => response.write(`id: ${seq}\ndata: ${text}\n\n`)).then(() => {
    response.end();
  });
});
new WebSocketServer({ server }).on("connection", (socket, request) => {
  hand(request, (text) => socket.send(text)).then(() => socket.close());
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  process.stdout.write(`${JSON.stringify({ type: "listening", port })}\n`);
});
