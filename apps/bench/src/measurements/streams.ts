import { fileURLToPath } from "node:url";
import type { Child } from "../child.ts";
import { type BenchOptions, comparedRow, type Measurement, type Row } from "../measurement.ts";
import { ModelServer, type Reply } from "../model-server.ts";
import { runPrompt, settled } from "../runs.ts";
import { Workspace } from "../workspace.ts";

const LINEAR = 1.3;
const floorClient = fileURLToPath(new URL("../floors/sse-client.mjs", import.meta.url));

export const textStream: Measurement = {
  name: "text-stream",
  run: (options) =>
    measureStream(options, {
      unitName: "text delta",
      sizes: options.isQuick ? [500, 4_000] : [1_000, 4_000, 16_000],
      reply: (count) => ({ text: Array<string>(count).fill("twelve chars") }),
    }),
};

/** CPU and bytes per streamed delta of a tool call's arguments. */
export const argumentStream: Measurement = {
  name: "argument-stream",
  run: (options) =>
    measureStream(options, {
      unitName: "argument delta",
      sizes: options.isQuick ? [500, 2_000] : [500, 2_000, 8_000],
      reply: (count) => ({ tool: "write", argumentDeltas: writeArguments(count) }),
    }),
};

interface StreamCase {
  readonly unitName: string;
  readonly sizes: readonly number[];
  readonly reply: (count: number) => Reply;
}

interface Cost {
  readonly cpu: number;
  readonly bytes: number;
}

type Run = (count: number) => Promise<Cost>;

async function measureStream(options: BenchOptions, stream: StreamCase): Promise<Row[]> {
  await using server = await ModelServer.start();
  using workspace = new Workspace(server.baseUrl);
  const floor = workspace.spawn([process.execPath, floorClient]);
  const hosts = {
    delta: await workspace.startHost(options.hostCommand, { stream: "delta" }),
    full: await workspace.startHost(options.hostCommand, { stream: "full" }),
  };
  const runs: Record<string, Run> = {
    floor: (count) => runFloor(floor, server, stream.reply(count), count),
    delta: (count) => runHost(hosts.delta, server, stream.reply(count), count),
    full: (count) => runHost(hosts.full, server, stream.reply(count), count),
  };
  const costs = await interleave(runs, stream.sizes, options.isQuick ? 3 : 7);
  await Promise.all([floor, hosts.delta, hosts.full].map((child) => child.stop()));
  return ["delta", "full"].flatMap((form) => rows(stream, form, costs));
}

type Costs = Map<string, Cost[]>;

async function interleave(
  runs: Record<string, Run>,
  sizes: readonly number[],
  rounds: number,
): Promise<Costs> {
  const costs: Costs = new Map();
  // The first runs compile code, whose cost must not count for any size.
  for (let warmUp = 0; warmUp < 3; warmUp++) {
    for (const run of Object.values(runs)) await run(2_000);
  }
  for (let round = 0; round < rounds; round++) {
    for (const size of sizes) {
      for (const [name, run] of Object.entries(runs)) {
        const key = `${name} ${size}`;
        costs.set(key, [...(costs.get(key) ?? []), await run(size)]);
      }
    }
  }
  return costs;
}

function rows(stream: StreamCase, form: string, costs: Costs): Row[] {
  const { sizes, unitName } = stream;
  const [smallest = 0] = sizes;
  const largest = sizes.at(-1) ?? 0;
  return (["cpu", "bytes"] as const).flatMap((kind) => {
    const unit = kind === "cpu" ? "µs/delta" : "bytes/delta";
    const of = (name: string, size: number): number[] =>
      (costs.get(`${name} ${size}`) ?? []).map((cost) => cost[kind]);
    const perSize = sizes.map((size) =>
      comparedRow(
        { what: `${unitName} ×${size}, ${form}`, unit, ratioOf: "host / minimal client" },
        { host: of(form, size), floor: of("floor", size) },
      ),
    );
    const least = (size: number) => Math.min(...of(form, size));
    const cheapest = sizes
      .filter((size) => size !== largest)
      .reduce((best, size) => (least(size) < least(best) ? size : best), smallest);
    // Compared with the smaller size that costs least per delta, because the smallest size also bears the
    // fixed costs of a run.
    const ratioOf = `×${largest} / ×${cheapest}`;
    const linear = comparedRow(
      { what: `${unitName}, ${form}: growth`, unit, ratioOf, target: LINEAR },
      { host: of(form, largest), floor: of(form, cheapest) },
    );
    return [...perSize, linear];
  });
}

async function runHost(
  host: Child,
  server: ModelServer,
  reply: Reply,
  count: number,
): Promise<Cost> {
  await host.request("new_session");
  server.replies = [reply];
  return cost(host, count, () => runPrompt(host));
}

async function runFloor(
  floor: Child,
  server: ModelServer,
  reply: Reply,
  count: number,
): Promise<Cost> {
  server.replies = [reply];
  return cost(floor, count, async () => {
    const end = settled(floor);
    floor.send({ url: server.baseUrl });
    await end;
  });
}

async function cost(child: Child, count: number, action: () => Promise<void>): Promise<Cost> {
  const [cpu, bytes] = [child.cpuMicroseconds(), child.stdoutBytes];
  await action();
  return {
    cpu: (child.cpuMicroseconds() - cpu) / count,
    bytes: (child.stdoutBytes - bytes) / count,
  };
}

function* writeArguments(count: number): Generator<string> {
  yield '{"path":"out.txt","content":"';
  yield* Array<string>(count - 2).fill("twelve chars");
  yield '"}';
}
