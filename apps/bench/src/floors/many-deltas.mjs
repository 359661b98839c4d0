/**
 * The minimum that a program can do with the replies of many sessions: read each from its own connection, and
 * write each delta as a line that names its session. Lines of one turn of the event loop are sent in one
 * write. It answers `get_state` with next to nothing. Reads lines of JSON: `{type: "prompt", sessionId,
 * url}`; with `--listen`, messages of a WebSocket, to which it sends each line.
 */
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { WebSocketServer } from "ws";
import { createLineOutput } from "./line-output.mjs";
import { updateOf } from "./read-deltas.mjs";

const agent = new Agent({ keepAlive: true });
const messages = [{ role: "user", content: "Go on." }];
const body = JSON.stringify({ model: "bench", stream: true, messages });
/** @type {(frame: object) => void} */
let send = createLineOutput((text) => process.stdout.write(text));

/**
 * @param {string} url
 * @param {string} sessionId
 */
function reply(url, sessionId) {
  let rest = "";
  let seq = 0;
  const headers = { "content-type": "application/json" };
  const sent = request(
    `${url}/chat/completions`,
    { method: "POST", agent, headers },
    (response) => {
      response.setEncoding("utf8");
      response.on("data", (text) => {
        const events = (rest + text).split("\n\n");
        rest = events.pop() ?? "";
        for (const event of events) {
          if (event === "data: [DONE]") continue;
          const delta = JSON.parse(event.slice(6)).choices[0]?.delta.content;
          if (delta === undefined) continue;
          seq += 1;
          send({ ...updateOf(delta), sessionId, seq });
        }
      });
      response.on("end", () => send({ type: "agent_settled", sessionId }));
    },
  );
  sent.end(body);
}

/** @param {string} line */
function take(line) {
  const { type, id, sessionId, url } = JSON.parse(line);
  if (type === "prompt") reply(url, sessionId);
  send({ id, type: "response", command: type, success: true, data: {}, sessionId });
}

if (process.argv.includes("--listen")) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  server.on("connection", (socket) => {
    send = (frame) => socket.send(JSON.stringify(frame));
    socket.on("message", (data) => take(data.toString()));
  });
  server.on("listening", () => {
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    process.stdout.write(
      `${JSON.stringify({ type: "listening", url: `ws://127.0.0.1:${port}` })}\n`,
    );
  });
  process.stdin.on("end", () => process.exit()).resume();
} else for await (const line of createInterface({ input: process.stdin })) take(line);
