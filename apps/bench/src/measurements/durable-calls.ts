import { join } from "node:path";
import type { Child } from "../child.ts";
import { type BenchOptions, type Measurement, type Row, summarize } from "../measurement.ts";
import { ModelServer, type ToolCall } from "../model-server.ts";
import { makeRepository } from "../repository.ts";
import { Workspace } from "../workspace.ts";

/** The acceptable slowdown of a turn in a small project. */
const SMALL_RATIO = 1.5;
/** How many ms longer a turn with a command may take in a large project. */
const LARGE_MORE_MS = 200;

interface Turn {
  readonly what: string;
  readonly call: (round: number) => ToolCall;
  readonly isCommand: boolean;
}

const turns: readonly Turn[] = [
  {
    what: "read",
    isCommand: false,
    call: () => ({ tool: "read", arguments: { path: "note.txt" } }),
  },
  {
    what: "edit",
    isCommand: false,
    call: (round) => ({
      tool: "edit",
      arguments: { path: "edited.txt", oldText: `round ${round}`, newText: `round ${round + 1}` },
    }),
  },
  {
    what: "bash true",
    isCommand: true,
    call: () => ({ tool: "bash", arguments: { command: "true" } }),
  },
  {
    what: "bash, a line that changes a file",
    isCommand: true,
    call: (round) => ({ tool: "bash", arguments: { command: `echo ${round} >> log` } }),
  },
];

/** The cost of a turn whose calls survive the host, compared with one whose entries are only flushed. */
export const durableCalls: Measurement = {
  name: "durable-calls",
  async run(options: BenchOptions): Promise<Row[]> {
    const large = options.isQuick ? 1_000 : 20_000;
    return [...(await rowsOf(20, options)), ...(await rowsOf(large, options))];
  },
};

async function rowsOf(files: number, { isQuick, hostCommand }: BenchOptions): Promise<Row[]> {
  await using server = await ModelServer.start();
  using plain = new Workspace(server.baseUrl);
  using durable = new Workspace(server.baseUrl);
  const hosts = [
    await open(plain, files, hostCommand, { "session.fsync": "entry" }),
    await open(durable, files, hostCommand, { durability: "effects" }),
  ];
  const rows: Row[] = [];
  for (const { what, call, isCommand } of turns) {
    const times: number[][] = hosts.map(() => []);
    const count = isQuick ? 4 : 30;
    for (let round = 0; round < count; round += 1) {
      for (const [at, host] of hosts.entries()) {
        const took = await time(host, server, call(round));
        // The first round loads code that all contestants use.
        if (round > 0) times[at]?.push(took);
      }
    }
    const [floor, host] = times.map((of) => summarize(of));
    if (floor === undefined || host === undefined) continue;
    const isLarge = files > 20;
    const more = host.min - floor.min;
    rows.push({
      what: `${what}, in ${files} files`,
      unit: "ms",
      ...{ host, floor },
      ...(isLarge && isCommand
        ? { ratioOf: `more / ${LARGE_MORE_MS} ms`, ratio: more / LARGE_MORE_MS, target: 1 }
        : { ratioOf: "effects / log", ratio: host.min / floor.min, target: SMALL_RATIO }),
    });
  }
  for (const host of hosts) await host.stop();
  return rows;
}

async function open(
  workspace: Workspace,
  files: number,
  hostCommand: BenchOptions["hostCommand"],
  settings: object,
): Promise<Child> {
  await makeRepository(workspace.cwd, files, (index) => `${index}: a file\n`.repeat(20));
  workspace.write("edited.txt", "round 0\n");
  workspace.configure(settings);
  const session = join(workspace.agentDirectory, "session.jsonl");
  return workspace.startHost(hostCommand, { args: ["--session", session] });
}

async function time(host: Child, server: ModelServer, call: ToolCall): Promise<number> {
  server.replies = [{ calls: [call] }];
  const settled = host.next(({ type }) => type === "agent_settled");
  const startedAt = performance.now();
  await host.request("prompt", { message: "go" });
  await settled;
  return performance.now() - startedAt;
}
