import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { defineTool } from "@tau-agent/agent";
import { type ScenarioFunction, toolCall, turn } from "@tau-agent/ai/testing";
import type { SessionEvent, SubagentInfo } from "@tau-agent/rpc-protocol";
import { contentText } from "@tau-agent/rpc-protocol/plain";
import { SettingsStore } from "@tau-agent/system";
import fc from "fast-check";
import { expect, it } from "vitest";
import { sliceSize } from "../../../../../scripts/testing/slice.ts";
import { takeRewrites } from "../../../../ai/test/stable-prefix.ts";
import {
  createTestSession,
  placesIn,
  temporaryFolder,
} from "../../create/__fixtures__/test-session.ts";
import type { AgentSession } from "../../session/agent-session.ts";

/** A subagent that starts its own subagents, waits at its gate, and ends. */
interface Planned {
  readonly below: readonly Planned[];
  /** How the root starts it; used only for those that the root starts. */
  readonly kind: "call" | "background" | "notify";
}

interface Act {
  readonly kind: "finish" | "abort" | "steer" | "resume" | "crash";
  readonly pick: number;
}

const leaf = fc.record({ below: fc.constant([]), kind: fc.constant("call" as const) });
const inner = fc.record({
  below: fc.array(leaf, { maxLength: 1 }),
  kind: fc.constant("call" as const),
});
const tree = fc.array(
  fc.record({
    below: fc.array(inner, { maxLength: 2 }),
    kind: fc.constantFrom("call" as const, "background" as const, "notify" as const),
  }),
  { minLength: 1, maxLength: 3 },
);
const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.record({
    kind: fc.constantFrom("finish", "finish", "abort", "steer", "resume", "crash"),
    pick: fc.nat(20),
  }),
  { maxLength: 7 },
);

/** Gives each subagent a name that is unique in its tree and shows its position. */
function named(planned: readonly Planned[], prefix = "n"): Map<string, Planned> {
  return new Map(
    planned.flatMap((one, index): [string, Planned][] => {
      const name = `${prefix}${index}`;
      return [[name, one], ...named(one.below, `${name}x`)];
    }),
  );
}

const taskOf = (name: string) => ({ id: name, task: `<${name}>` });

class World {
  readonly names: Map<string, Planned>;
  readonly #root: readonly string[];
  readonly #gates = new Map<string, () => void>();
  readonly places = placesIn(temporaryFolder());
  session!: AgentSession;
  events: SessionEvent[] = [];
  hasCrashed = false;

  constructor(planned: readonly Planned[]) {
    this.names = named(planned);
    this.#root = planned.map((_, index) => `n${index}`);
  }

  /** Whether a subagent waits at its gate. */
  isAtGate(path: string): boolean {
    return this.#gates.has(path.split("/").at(-1) ?? "");
  }

  release(path: string): void {
    this.#gates.get(path.split("/").at(-1) ?? "")?.();
  }

  async open(path?: string): Promise<void> {
    const gate = defineTool({
      name: "gate",
      description: "Waits.",
      parameters: { type: "object", properties: { name: { type: "string" } } },
      execute: async ({ name }, { signal }) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#gates.set(String(name), resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
        await promise;
        this.#gates.delete(String(name));
        return { content: [{ type: "text", text: "open" }] };
      },
    });
    const test = await createTestSession(this.#scenario(), {
      ...this.places,
      settings: SettingsStore.inMemory({ "task.maxConcurrency": 20, "task.maxRecursionDepth": 4 }),
      customTools: [gate as never],
      ...(path === undefined ? {} : { session: { kind: "file", path } as const }),
    });
    this.session = test.session;
    this.events = test.events;
  }

  #scenario(): ScenarioFunction {
    return ({ messages }) => {
      const [first] = messages.filter(({ role }) => role === "user");
      const name = /<(n[\dx]+)>/.exec(JSON.stringify(first))?.[1];
      const isPrompt = (message: unknown) =>
        /"(?:start|resume)|<n[\dx]+>/.test(JSON.stringify(message));
      const prompt = messages.findLastIndex((one) => one.role === "user" && isPrompt(one));
      const since = messages.slice(prompt + 1);
      const calls = since.flatMap((one) =>
        one.role === "assistant" ? one.content.filter(({ type }) => type === "toolCall") : [],
      );
      const isResumed = JSON.stringify(messages[prompt]).includes('"resume');
      const planned = this.#callsOf(name, isResumed);
      return planned[calls.length] ?? `end of ${name ?? "root"}`;
    };
  }

  #callsOf(name: string | undefined, isResumed: boolean) {
    if (name !== undefined) {
      const below = (this.names.get(name)?.below ?? []).map((_, index) => `${name}x${index}`);
      const start = turn(toolCall("task", { tasks: below.map(taskOf) }));
      return [
        ...(below.length === 0 || isResumed ? [] : [start]),
        turn(toolCall("gate", { name })),
      ];
    }
    const kindOf = (root: string) => this.names.get(root)?.kind;
    const called = this.#root.filter((root) => kindOf(root) === "call").map(taskOf);
    const background = this.#root.filter((root) => kindOf(root) !== "call");
    return [
      ...background.map((root) =>
        turn(
          toolCall("task", {
            tasks: [taskOf(root)],
            background: true,
            notify: kindOf(root) === "notify",
          }),
        ),
      ),
      ...(called.length === 0 ? [] : [turn(toolCall("task", { tasks: called }))]),
    ];
  }

  list(): Promise<SubagentInfo[]> {
    return this.session.subagents.list();
  }

  /** Waits until no subagent is in transit: each is at its gate, waits for its own subagents, or has ended. */
  async settle(): Promise<SubagentInfo[]> {
    for (;;) {
      const before = await this.list();
      const running = before.filter(({ status }) => status === "running");
      const isPlaced = running.every(
        ({ id }) => this.isAtGate(id) || running.some((other) => other.id.startsWith(`${id}/`)),
      );
      const isStarted = this.hasCrashed || this.#isRootStarted(before);
      if (isPlaced && isStarted) {
        await pause(5);
        const after = await this.list();
        if (JSON.stringify(statesOf(after)) === JSON.stringify(statesOf(before))) return after;
      }
      await pause(5);
    }
  }

  #isRootStarted(infos: readonly SubagentInfo[]): boolean {
    return this.#root.every((root) => infos.some(({ id }) => id === root));
  }

  /** Kills the host without warning, and opens its file in another host. */
  async crash(): Promise<void> {
    const path = this.session.log.path ?? "";
    const { agentDirectory = "" } = this.places;
    const kept = join(agentDirectory, "..", "kept");
    cpSync(agentDirectory, kept, { recursive: true });
    await this.session.dispose();
    rmSync(agentDirectory, { recursive: true, force: true });
    cpSync(kept, agentDirectory, { recursive: true, filter: (file) => !file.endsWith(".lock") });
    this.hasCrashed = true;
    await this.open(path);
  }
}

const statesOf = (infos: readonly SubagentInfo[]) =>
  Object.fromEntries(infos.map(({ id, status }) => [id, status]));

/** Performs one action on a suitable subagent, and checks that no other subagent is affected. */
async function act(world: World, { kind, pick }: Act): Promise<void> {
  const infos = await world.settle();
  const before = statesOf(infos);
  const fits = ({ id, status }: SubagentInfo) => {
    if (kind === "resume") return status !== "running";
    return status === "running" && (kind === "abort" || world.isAtGate(id));
  };
  const candidates = infos.filter(fits);
  if (kind === "crash") {
    if (world.hasCrashed) return;
    await world.crash();
    for (const [id, status] of Object.entries(statesOf(await world.list()))) {
      const expected = before[id] === "running" ? "interrupted" : before[id];
      expect([id, status]).toEqual([id, expected]);
    }
    return;
  }
  const chosen = candidates[pick % Math.max(1, candidates.length)]?.id;
  if (chosen === undefined) return;
  const { subagents } = world.session;
  if (kind === "finish") world.release(chosen);
  if (kind === "abort") await subagents.abort(chosen);
  if (kind === "steer") await subagents.steer(chosen, "steer");
  if (kind === "resume") await subagents.resume(chosen, "resume");
  const after = statesOf(await world.settle());
  const isMeant = (id: string) =>
    id === chosen || (kind === "abort" && id.startsWith(`${chosen}/`));
  for (const [id, status] of Object.entries(before)) {
    // The caller may continue, but nothing else may change.
    if (!isMeant(id)) expect([kind, chosen, id, after[id]]).toEqual([kind, chosen, id, status]);
  }
  const wanted = { finish: "completed", abort: "aborted", steer: "running", resume: "running" };
  expect([kind, chosen, after[chosen]]).toEqual([kind, chosen, wanted[kind]]);
}

function tellings(session: AgentSession, name: string): { called: number; noticed: number } {
  let called = 0;
  let noticed = 0;
  for (const message of session.messages) {
    if (message.role === "toolResult" && contentText(message.content).includes(`## ${name} (`)) {
      called += 1;
    }
    const { details } = message as { readonly details?: { readonly id?: unknown } };
    if (message.role === "custom" && details?.id === name) noticed += 1;
  }
  return { called, noticed };
}

async function play(planned: readonly Planned[], todo: readonly Act[]): Promise<void> {
  const world = new World(planned);
  await world.open();
  void world.session.prompt("start");
  for (const each of todo) await act(world, each);
  for (;;) {
    const running = (await world.settle()).filter(({ status }) => status === "running");
    if (running.length === 0) break;
    for (const { id } of running) world.release(id);
    await pause(5);
  }
  await world.session.waitForIdle();
  await expect
    .poll(() => planned.map((one, index) => told(world, one, `n${index}`)))
    .toEqual(planned.map((one) => expectedOf(world, one)));
  const count = (type: string, id: string) =>
    world.events.filter((event) => event.type === type && Reflect.get(event, "id") === id).length;
  for (const { id } of await world.list()) {
    expect([id, count("subagent_end", id)]).toEqual([id, count("subagent_start", id)]);
  }
  await world.session.dispose();
  // A nested subagent that the root resumes has other instructions (decision 45).
  takeRewrites();
}

function told(world: World, { kind }: Planned, name: string) {
  const { called, noticed } = tellings(world.session, name);
  // After a crash, a call has the single result that reports it, and some ends may not have been reported.
  if (world.hasCrashed) return { called: Math.min(called, 1) === called, noticed: noticed <= 1 };
  return { kind, called, noticed };
}

function expectedOf(world: World, { kind }: Planned) {
  if (world.hasCrashed) return { called: true, noticed: true };
  return { kind, called: kind === "call" ? 1 : 0, noticed: kind === "notify" ? 1 : 0 };
}

it("reports each end once to its waiting caller, and stops no other subagent's work", async () => {
  await fc.assert(fc.asyncProperty(tree, acts, play), { numRuns: sliceSize(6, 30) });
}, 600_000);
