/**
 * An MCP server on stdio that behaves, or misbehaves, as its argument says. It is a separate program,
 * which tests start with `node`.
 */
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

export interface Behaviour {
  readonly tools?: readonly object[];
  readonly prompts?: readonly object[];
  readonly resources?: readonly object[];
  readonly templates?: readonly object[];
  readonly instructions?: string;
  /** What the server does before it reads any input. */
  readonly first?: "exit" | "rubbish" | "endless" | "flood" | "stderr";
  /** Methods that it never answers. */
  readonly silent?: readonly string[];
  /** A file that receives a line for each start and each message. */
  readonly log?: string;
  /** Makes the server end immediately while this file exists. */
  readonly brokenWhile?: string;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { name?: string; arguments?: Record<string, unknown>; _meta?: object };
  readonly result?: unknown;
}

const behaviour = JSON.parse(process.argv[2] ?? "{}") as Behaviour;
const { tools = [], prompts = [], resources = [], silent = [] } = behaviour;
let offered = tools;
const pending = new Map<number, (answer: Message) => void>();
let lastId = 1000;

const note = (text: string): void => {
  if (behaviour.log !== undefined) appendFileSync(behaviour.log, `${text}\n`);
};
const send = (message: object): void => {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
};
const ask = (method: string, params: object): Promise<Message> =>
  new Promise((resolve) => {
    lastId += 1;
    pending.set(lastId, resolve);
    send({ id: lastId, method, params });
  });
const text = (value: string, more: object = {}) => ({
  content: [{ type: "text", text: value }],
  ...more,
});

note(`start ${process.pid}`);
if (behaviour.brokenWhile !== undefined && existsSync(behaviour.brokenWhile)) process.exit(3);
switch (behaviour.first) {
  case "exit":
    process.stderr.write("cannot start: no luck today\n");
    process.exit(7);
    break;
  case "rubbish":
    process.stdout.write("Welcome to the server!\n{broken\n[]\n");
    break;
  case "endless":
    setInterval(() => process.stdout.write("x".repeat(1 << 20)), 1);
    break;
  case "flood":
    setInterval(() => process.stdout.write("noise\n".repeat(5000)), 1);
    break;
  case "stderr":
    process.stderr.write("e".repeat(1 << 20));
    break;
}

/** The behaviour of the fixture's tools, by name. */
const actions: Record<string, (message: Message) => unknown> = {
  echo: ({ params }) => text(`echo: ${String(params?.arguments?.message)}`),
  environment: () => text(JSON.stringify(process.env)),
  folder: () => text(process.cwd()),
  big: ({ params }) => text("0123456789".repeat(Number(params?.arguments?.kilobytes) * 100)),
  fail: () => text("it broke", { isError: true }),
  refuse: () => {
    throw new Error("not with me");
  },
  app: () => text("shown", { _meta: { ui: { resourceUri: "ui://app/page", csp: {} }, other: 1 } }),
  initialized: () => text(JSON.stringify(initialized)),
  structured: () => ({ content: [], structuredContent: { answer: 42 } }),
  both: () => ({ content: [{ type: "text", text: '{"answer":42}' }], structuredContent: { answer: 42 } }),
  die: () => process.exit(9),
  hang: () => new Promise(() => {}),
  change: () => {
    offered = [...tools.slice(1), { name: "added", inputSchema: { type: "object" } }];
    send({ method: "notifications/tools/list_changed" });
    return text("changed");
  },
  progress: async ({ params }) => {
    const { progressToken } = Object(params?._meta) as { progressToken?: unknown };
    for (let progress = 1; progress <= 3; progress += 1) {
      send({
        method: "notifications/progress",
        params: { progressToken, progress, total: 3, message: `step ${progress}` },
      });
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    return text("done");
  },
  ask: async ({ params }) => {
    const answer = await ask("elicitation/create", params?.arguments ?? {});
    const { mode, elicitationId } = Object(params?.arguments) as Record<string, unknown>;
    if (mode === "url") {
      setTimeout(() => send({ method: "notifications/elicitation/complete", params: { elicitationId } }), 100);
    }
    return text(JSON.stringify(answer.result ?? answer));
  },
  sample: async () => {
    const answer = await ask("sampling/createMessage", {
      messages: [{ role: "user", content: { type: "text", text: "Say hello" } }],
      maxTokens: 100,
    });
    return text(JSON.stringify(answer.result ?? answer));
  },
  roots: async () => text(JSON.stringify((await ask("roots/list", {})).result)),
  log: () => {
    send({ method: "notifications/message", params: { level: "error", data: "disk\u001b[31m full" } });
    return text("logged");
  },
  child: async ({ params }) => {
    const { spawn } = await import("node:child_process");
    const child = spawn("sleep", ["300"], { detached: true, stdio: "ignore" });
    writeFileSync(String(params?.arguments?.file), String(child.pid));
    return text(String(child.pid));
  },
};

let initialized: Message["params"];
const initializeResult = () => ({
    protocolVersion: "2025-06-18",
    capabilities: {
      tools: { listChanged: true },
      logging: {},
      ...(prompts.length > 0 ? { prompts: {} } : {}),
      ...(resources.length > 0 ? { resources: {} } : {}),
    },
    serverInfo: { name: "fixture", version: "1" },
    ...(behaviour.instructions === undefined ? {} : { instructions: behaviour.instructions }),
});

const answers: Record<string, (message: Message) => unknown> = {
  initialize: ({ params }) => {
    initialized = params;
    return initializeResult();
  },
  ping: () => ({}),
  "tools/list": () => ({ tools: offered }),
  "prompts/list": () => ({ prompts }),
  "prompts/get": ({ params }) => ({
    messages: [
      { role: "user", content: { type: "text", text: `${params?.name}: ${JSON.stringify(params?.arguments)}` } },
    ],
  }),
  "resources/list": () => ({ resources }),
  "resources/templates/list": () => ({ resourceTemplates: behaviour.templates ?? [] }),
  "resources/read": ({ params }) => ({
    contents: [{ uri: (params as { uri?: string }).uri, mimeType: "text/plain", text: "the content" }],
  }),
  "tools/call": (message) => actions[String(message.params?.name)]?.(message),
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const message = JSON.parse(line) as Message;
  const { id, method } = message;
  note(method ?? "answer");
  if (method === undefined) {
    pending.get(Number(id))?.(message);
    return;
  }
  if (id === undefined || silent.includes(method)) return;
  try {
    const result = await answers[method]?.(message);
    if (result === undefined) send({ id, error: { code: -32601, message: `no ${method}` } });
    else send({ id, result });
  } catch (error) {
    send({ id, error: { code: -32602, message: (error as Error).message } });
  }
});
process.stdin.on("end", () => process.exit(0));
