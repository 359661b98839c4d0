import { type Summary, summarize } from "../measurement.ts";
import { RemoteModelServer } from "../remote-model-server.ts";
import { Workspace } from "../workspace.ts";
import type { Comparison } from "./comparison.ts";
import { addSearchPrograms } from "./contestants.ts";
import type { Contestant, Scenario, Stage, Turn } from "./scenario.ts";

const FLOOR = "floor";

/** The contestants, Tau first, and how thorough the comparison is. */
export interface CompareOptions {
  readonly tau: Contestant;
  readonly peers: readonly Contestant[];
  readonly isQuick: boolean;
}

/** Runs a scenario with all contestants and the floor in turns. */
export async function compare(
  scenario: Scenario,
  { tau, peers, isQuick }: CompareOptions,
): Promise<Comparison[]> {
  const results = new Results();
  await using stack = new AsyncDisposableStack();
  const stage = async (): Promise<Stage> => {
    // A separate server, so that no contestant waits for another's unread reply.
    const server = stack.use(await RemoteModelServer.start());
    const workspace = stack.use(new Workspace(server.baseUrl));
    addSearchPrograms(workspace);
    return { server, workspace, isQuick };
  };
  const turns = new Map<string, Turn<string>>();
  for (const contestant of [tau, ...peers]) {
    await results.try(contestant.name, async () => {
      turns.set(contestant.name, await scenario.host(await stage(), contestant));
    });
  }
  if (scenario.floor) turns.set(FLOOR, await scenario.floor(await stage()));
  for (let warmUp = 0; warmUp < (scenario.warmUps ?? 1); warmUp++) {
    for (const [name, turn] of turns) await results.try(name, turn);
  }
  for (let round = 0; round < (isQuick ? 2 : scenario.rounds); round++) {
    for (const [name, turn] of inOrder([...turns], round)) {
      if (results.hasFailed(name)) continue;
      await results.try(name, async () => results.add(name, await turn()));
    }
  }
  return Object.entries(scenario.rows).map(([name, spec]) => {
    const floorResult = results.of(FLOOR, name);
    const tauResult = results.of(tau.name, name);
    return {
      unit: "ms",
      ...spec,
      name,
      ...(tauResult && { tau: tauResult }),
      ...(floorResult && { floorResult }),
      peers: peers.flatMap((peer) => {
        const result = results.of(peer.name, name);
        return result ? [{ name: peer.name, result }] : [];
      }),
      failures: results.failures,
    };
  });
}

/**
 * The order of a round, such that over the rounds none follows the same one more often than others: what ran before
 * changes a short turn by several percent (Williams, "Experimental designs balanced for residual effects", 1949).
 */
function inOrder<Entry>(entries: readonly Entry[], round: number): Entry[] {
  const zigzag = entries.map((_, at) => (at % 2 === 1 ? (at + 1) / 2 : -at / 2));
  const order = zigzag.map((place) => entries.at((place + round) % entries.length));
  return order.filter((entry) => entry !== undefined);
}

/** The values of all contestants, and which of them failed. */
class Results {
  readonly #values = new Map<string, number[]>();
  readonly #failures = new Map<string, string>();

  get failures(): string[] {
    return [...this.#failures].map(([name, text]) => `${name}: ${text}`);
  }

  hasFailed(contestant: string): boolean {
    return this.#failures.has(contestant);
  }

  /** A failed contestant is excluded, and the others continue. */
  async try(contestant: string, action: () => Promise<unknown>): Promise<void> {
    try {
      if (!this.hasFailed(contestant)) await action();
    } catch (error) {
      this.#failures.set(contestant, error instanceof Error ? error.message : String(error));
    }
  }

  add(contestant: string, values: Readonly<Partial<Record<string, number>>>): void {
    for (const [row, value] of Object.entries(values)) {
      if (value === undefined) continue;
      const key = `${contestant} ${row}`;
      this.#values.set(key, [...(this.#values.get(key) ?? []), value]);
    }
  }

  of(contestant: string, row: string): Summary | undefined {
    const values = this.#values.get(`${contestant} ${row}`);
    return values && summarize(values);
  }
}
