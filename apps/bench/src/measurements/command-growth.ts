import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Child } from "../child.ts";
import type { Frame } from "../frame-receiver.ts";
import { type BenchOptions, comparedRow, type Measurement, type Row } from "../measurement.ts";
import { sessionLines } from "../session-lines.ts";
import { Workspace } from "../workspace.ts";

/** The acceptable cost ratio of a response of the same size when the session is 20 times as long. */
const SAME_SIZE = 4;
/** The acceptable cost ratio of a byte in a longer list. */
const PER_BYTE = 3;
const [SMALL, LARGE] = [1_000, 20_000];

/** Commands whose responses do not grow with the session. */
const short: Readonly<Record<string, Frame>> = {
  get_state: {},
  get_session_stats: {},
  get_last_assistant_text: {},
  set_session_name: { name: "bench" },
  set_label: { entryId: "00000001", label: "here" },
  cycle_thinking_level: {},
  clear_queue: {},
  get_commands: {},
};

const lists: readonly string[] = ["get_messages", "get_entries", "get_tree", "get_fork_messages"];

interface Cost {
  readonly elapsed: number;
  readonly bytes: number;
}

type Costs = Readonly<Record<string, readonly Cost[]>>;

/** How the time of commands grows with the session, beyond the growth of their responses. */
export const commandGrowth: Measurement = {
  name: "command-growth",
  async run({ isQuick, hostCommand }: BenchOptions): Promise<Row[]> {
    using workspace = new Workspace();
    const rounds = isQuick ? 10 : 40;
    const measure = async (count: number): Promise<Costs> => {
      const path = join(workspace.cwd, `session-${count}.jsonl`);
      await pipeline(sessionLines(count, workspace.cwd), createWriteStream(path));
      const host = await workspace.startHost(hostCommand, { args: ["--session", path] });
      await measureAll(host, 5);
      const costs = await measureAll(host, rounds);
      await host.stop();
      return costs;
    };
    const small = await measure(SMALL);
    const large = await measure(LARGE);
    return [
      ...Object.keys(short).map((name) => growthOf(name, shortGrowth, { small, large })),
      ...lists.map((name) => growthOf(name, listGrowth, { small, large })),
    ];
  },
};

/** The lists come last, so that their garbage is not collected during another command. */
async function measureAll(host: Child, rounds: number): Promise<Costs> {
  const costs: Record<string, Cost[]> = {};
  for (const names of [Object.keys(short), lists]) {
    for (let round = 0; round < rounds; round++) {
      for (const name of names) costs[name] = [...(costs[name] ?? []), await cost(host, name)];
    }
  }
  return costs;
}

async function cost(host: Child, name: string): Promise<Cost> {
  const bytes = host.stdoutBytes;
  const start = performance.now();
  await host.request(name, short[name]);
  return { elapsed: performance.now() - start, bytes: host.stdoutBytes - bytes };
}

interface Growth {
  readonly what: string;
  readonly unit: string;
  readonly target: number;
  of(cost: Cost): number;
}

const shortGrowth: Growth = {
  what: "growth",
  unit: "ms",
  target: SAME_SIZE,
  of: ({ elapsed }) => elapsed,
};
const listGrowth: Growth = {
  what: "growth per byte",
  unit: "ns/byte",
  target: PER_BYTE,
  of: ({ elapsed, bytes }) => (elapsed * 1e6) / bytes,
};

function growthOf(
  name: string,
  { what, unit, target, of }: Growth,
  { small, large }: { readonly small: Costs; readonly large: Costs },
): Row {
  const ratioOf = `${LARGE} / ${SMALL} entries`;
  return comparedRow(
    { what: `${name}: ${what}`, unit, ratioOf, by: "median", target },
    { host: (large[name] ?? []).map(of), floor: (small[name] ?? []).map(of) },
  );
}
