import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Child, Frame } from "../child.ts";
import {
  type BenchOptions,
  type Measurement,
  type Row,
  type Summary,
  summarize,
} from "../measurement.ts";
import { sessionLines } from "../session-lines.ts";
import { Workspace } from "../workspace.ts";

/** How much more a response of the same size may cost in a session that is 20 times as long. */
const SAME_SIZE = 4;
/** How much more a byte of a longer list may cost. */
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

/** How the time of commands grows with the session, beyond the bytes they return. */
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
      ...Object.keys(short).map((name) => shortRow(name, small, large)),
      ...lists.map((name) => listRow(name, small, large)),
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

function shortRow(name: string, small: Costs, large: Costs): Row {
  const of = (costs: Costs): Summary =>
    summarize((costs[name] ?? []).map(({ elapsed }) => elapsed));
  return {
    what: `${name}: growth`,
    unit: "ms",
    host: of(large),
    floor: of(small),
    ratioOf: `${LARGE} / ${SMALL} entries`,
    ratio: of(large).median / of(small).median,
    target: SAME_SIZE,
  };
}

function listRow(name: string, small: Costs, large: Costs): Row {
  const of = (costs: Costs): Summary =>
    summarize((costs[name] ?? []).map(({ elapsed, bytes }) => (elapsed * 1e6) / bytes));
  return {
    what: `${name}: growth per byte`,
    unit: "ns/byte",
    host: of(large),
    floor: of(small),
    ratioOf: `${LARGE} / ${SMALL} entries`,
    ratio: of(large).median / of(small).median,
    target: PER_BYTE,
  };
}
