import { readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { fileURLToPath } from "node:url";
import { WebSocket } from "ws";
import type { Child } from "../child.ts";
import { type BenchOptions, comparedRow, type Measurement, type Row } from "../measurement.ts";
import { ModelServer } from "../model-server.ts";
import { Workspace } from "../workspace.ts";

const floorServer = fileURLToPath(new URL("../floors/push-server.mjs", import.meta.url));
const END = '"type":"agent_settled"';

/** One way to receive the events of a reply; resolves when the last one has arrived. */
type Follow = () => Promise<void>;

/** Receiving the events of a reply through a WebSocket and as server-sent events, compared with bare servers. */
export const pushedEvents: Measurement = {
  name: "pushed-events",
  async run({ isQuick, hostCommand }: BenchOptions): Promise<Row[]> {
    await using server = await ModelServer.start();
    using workspace = new Workspace(server.baseUrl);
    const count = isQuick ? 2_000 : 8_000;
    const floor = workspace.spawn([process.execPath, floorServer]);
    const { port } = await floor.next(({ type }) => type === "listening");
    const listen = ["--sessions", "--listen", "127.0.0.1:0"];
    const host = workspace.spawn(workspace.command(hostCommand, listen));
    const { url, tokenFile } = await host.next(({ type }) => type === "listening");
    const access = { url: String(url), token: readFileSync(String(tokenFile), "utf8").trim() };
    const model = encodeURIComponent(server.baseUrl);
    const ways = {
      WebSocket: {
        host: await overWebSocket(access, workspace.cwd),
        floor: () => webSocketReply(`ws://127.0.0.1:${port}/?model=${model}`),
      },
      "server-sent events": {
        host: await overEventStream(access, workspace.cwd),
        floor: async () => endOf(await openStream(`http://127.0.0.1:${port}/?model=${model}`)),
      },
    };
    const rows: Row[] = [];
    for (const [name, way] of Object.entries(ways)) {
      const times = { host: [] as Cost[], floor: [] as Cost[] };
      // The first run compiles code.
      for (let round = isQuick ? -1 : -2; round < (isQuick ? 3 : 7); round += 1) {
        for (const which of ["floor", "host"] as const) {
          server.replies = [{ text: Array<string>(count).fill("twelve chars") }];
          const spent = await cost({ host, floor }[which], way[which], count);
          if (round >= 0) times[which].push(spent);
        }
      }
      rows.push(...rowsOf(name, times));
    }
    return rows;
  },
};

interface Cost {
  readonly cpu: number;
  readonly elapsed: number;
}

function rowsOf(name: string, times: { readonly host: Cost[]; readonly floor: Cost[] }): Row[] {
  const row = (what: string, kind: keyof Cost, more: { target?: number } = {}) =>
    comparedRow(
      { what: `${name}: ${what} per event`, unit: "µs", ratioOf: "host / bare server", ...more },
      {
        host: times.host.map((one) => one[kind]),
        floor: times.floor.map((one) => one[kind]),
      },
    );
  return [row("time", "elapsed"), row("CPU", "cpu", { target: 2 })];
}

async function cost(child: Child, follow: Follow, count: number): Promise<Cost> {
  const cpu = child.cpuMicroseconds();
  const start = performance.now();
  await follow();
  const elapsed = ((performance.now() - start) * 1_000) / count;
  return { cpu: (child.cpuMicroseconds() - cpu) / count, elapsed };
}

interface Access {
  readonly url: string;
  readonly token: string;
}

async function overWebSocket({ url, token }: Access, cwd: string): Promise<Follow> {
  const socket = new WebSocket(url.endsWith("/rpc") ? url : `${url}/rpc`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const next = (marker: string) =>
    new Promise<string>((resolve) => {
      const take = (data: Buffer): void => {
        if (!data.includes(marker)) return;
        socket.off("message", take);
        resolve(data.toString("utf8"));
      };
      socket.on("message", take);
    });
  await new Promise((resolve, reject) => socket.on("open", resolve).on("error", reject));
  socket.send(JSON.stringify({ type: "open_session", cwd }));
  const opened = JSON.parse(await next('"command":"open_session"')) as Opened;
  const { sessionId } = opened.data;
  socket.send(JSON.stringify({ type: "initialize", stream: "delta", sessionId }));
  return async () => {
    const settled = next(END);
    socket.send(JSON.stringify({ type: "prompt", message: "go", sessionId }));
    await settled;
  };
}

interface Opened {
  readonly data: { readonly sessionId: string };
}

async function overEventStream({ url, token }: Access, cwd: string): Promise<Follow> {
  const base = url.replace("ws:", "http:").replace(/\/rpc$/, "");
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const post = async (command: object): Promise<Opened> => {
    const body = JSON.stringify(command);
    return (await (await fetch(`${base}/rpc`, { method: "POST", headers, body })).json()) as Opened;
  };
  const { sessionId } = (await post({ type: "open_session", cwd })).data;
  return async () => {
    const path = `/sessions/${sessionId}/events?stream=delta`;
    const stream = await openStream(`${base}${path}`, headers);
    const settled = endOf(stream);
    await post({ type: "prompt", message: "go", sessionId });
    await settled;
  };
}

function webSocketReply(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    socket.on("error", reject).on("message", (data: Buffer) => {
      if (data.includes(END)) socket.close();
    });
    socket.on("close", () => resolve());
  });
}

/** Resolves once the server has started its response. */
function openStream(url: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { headers }, resolve).on("error", reject);
  });
}

function endOf(stream: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let tail = "";
    stream.on("data", (bytes: Buffer) => {
      const text = tail + bytes.toString("latin1");
      tail = text.slice(-END.length);
      if (!text.includes(END)) return;
      resolve();
      stream.destroy();
    });
  });
}
