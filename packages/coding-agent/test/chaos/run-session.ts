import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import {
  type LoopbackApi,
  type LoopbackServer,
  loopbackApis,
  startLoopbackServer,
} from "@tau-agent/ai/testing";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { buildSessionContext, SessionLog } from "@tau-agent/sessions/log";
import { recordFrames } from "../../../../apps/cli/test/recording/record-host.ts";
import { Random } from "../../../ai/test/chaos/random.ts";
import { randomTurn } from "../../../ai/test/chaos/valid-reply.ts";
import { keyless, placesIn, unpaired } from "../../src/create/__fixtures__/test-session.ts";
import { createSession } from "../../src/create/create-session.ts";
import type { AgentSession } from "../../src/session/agent-session.ts";
import { createChaosStream } from "./chaos-stream.ts";
import { chaosTools } from "./chaos-tools.ts";

/** The limit for a session to settle; nothing in it takes a tenth of that. */
const settlesWithinMs = 20_000;

/** The outcome of one session. */
export interface ChaosOutcome {
  /** How many replies the session received. */
  readonly streams: number;
  readonly faults: readonly string[];
}

/** Runs a session over broken replies, opens its file again, and returns what went wrong. */
export async function runChaosSession(seed: number, folder: string): Promise<ChaosOutcome> {
  const random = new Random(seed);
  const script = new Random(seed + 1);
  await using server = await startLoopbackServer({ scenario: () => randomTurn(script) });
  const chaos = createChaosStream(new Random(seed + 2));
  const { session } = await createSession({
    ...placesIn(folder),
    model: modelOf(server, loopbackApis[seed % loopbackApis.length]),
    thinkingLevel: "medium",
    providers: [keyless("loopback")],
    tools: { noBuiltIn: true },
    customTools: chaosTools,
    stream: chaos.stream,
  });
  setLimits(session);
  const events: SessionEvent[] = [];
  session.subscribe((event) => {
    events.push(event);
    // Each update contains the whole message so far, so the record would grow quadratically.
    if (event.type !== "message_update") recordFrames([event]);
  });
  const faults: string[] = [];
  const prompts = 3 + random.below(4);
  for (let count = 0; count < prompts; count++) {
    await between(session, server, random);
    const isSettled = await promptOnce(session, random, `prompt ${count}`);
    if (!isSettled) faults.push(`prompt ${count} does not settle`);
  }
  faults.push(...check(session, events, prompts));
  const live = structuredClone(session.messages);
  const { path } = session.log;
  await session.dispose();
  faults.push(...server.refusals.map(({ api, message }) => `${api} refuses: ${message}`));
  if (path === undefined || !existsSync(path)) faults.push("no session file");
  else faults.push(...difference(live, await messagesIn(path)));
  return { streams: chaos.count(), faults: faults.map((fault) => `seed ${seed}: ${fault}`) };
}

function setLimits({ settings }: AgentSession): void {
  settings.override("retry.baseDelayMs", 1);
  settings.override("retry.provider.timeoutMs", 150);
  settings.override("httpIdleTimeoutMs", 150);
  settings.override("compaction.keepRecentTokens", 50);
}

/** A model that accepts changes of instructions and tools in mid-conversation. The Claude model binds its thinking. */
function modelOf(server: LoopbackServer, api: LoopbackApi = "anthropic-messages"): Model {
  const changes = {
    supportsMidConvoSystemMessages: true,
    supportsMidConvoToolChanges: true,
    supportsMidConvoToolAdditions: true,
    supportsAdditionalTools: true,
    supportsMidConvoEffort: true,
  };
  return server.model(api, {
    id: api === "anthropic-messages" ? "claude-sonnet-5-5" : `chaos-${api}`,
    reasoning: true,
    input: ["text", "image"],
    contextWindow: 1_000_000,
    maxTokens: 32_000,
    compat: api === "google-generative-ai" ? {} : changes,
  });
}

/** What a user occasionally does before a prompt. */
async function between(
  session: AgentSession,
  server: LoopbackServer,
  random: Random,
): Promise<void> {
  if (random.chance(0.2)) await session.setModel(modelOf(server, random.pick(apis)));
  if (random.chance(0.2)) session.setThinkingLevel(random.pick(["off", "low", "high"]));
  if (random.chance(0.1)) session.tools.activate(random.pick([["read"], ["read", "bash", "edit"]]));
  if (random.chance(0.05)) await session.bash.run("echo from the client");
  // Chance decides whether there is anything to summarise, and whether the summary succeeds.
  if (random.chance(0.08)) await session.compact().catch(() => undefined);
}

const apis = loopbackApis as readonly [LoopbackApi, ...LoopbackApi[]];

/** @returns whether the session was idle afterwards */
async function promptOnce(session: AgentSession, random: Random, text: string): Promise<boolean> {
  const disturb = disturbance(session, random);
  let disturbed: Promise<unknown> = Promise.resolve();
  // Measured in events, so that a seed is as repeatable as possible.
  let left = 1 + random.below(25);
  const unsubscribe = session.subscribe(() => {
    if (--left === 0) disturbed = disturb();
  });
  const { result } = await session.submit(text, { id: text });
  const settle = async (): Promise<boolean> => {
    await result;
    await session.waitForIdle();
    unsubscribe();
    // The action at the last event may have started another run.
    await disturbed;
    await session.waitForIdle();
    return true;
  };
  const late = new Promise<boolean>((resolve) => {
    setTimeout(resolve, settlesWithinMs, false).unref();
  });
  return (await Promise.race([settle(), late])) && !session.isStreaming;
}

/** What a user or client may do while a prompt runs. */
function disturbance(session: AgentSession, random: Random): () => Promise<unknown> {
  return random.pick([
    async () => {},
    async () => {},
    async () => {},
    async () => (await session.steer("steering")).result,
    async () => (await session.followUp("a follow-up")).result,
    () => session.abort(),
    async () => session.retry.cancel(),
  ]);
}

function check(session: AgentSession, events: readonly SessionEvent[], prompts: number): string[] {
  const faults: string[] = [];
  const ends = events.flatMap((event) => (event.type === "prompt_result" ? [event.id] : []));
  const asked = Array.from({ length: prompts }, (_, count) => `prompt ${count}`);
  if (!isDeepStrictEqual(ends, asked)) faults.push(`results: ${ends.join()}`);
  const count = (type: SessionEvent["type"]) =>
    events.filter((event) => event.type === type).length;
  for (const part of ["agent", "turn", "message", "tool_execution"] as const) {
    const [begun, ended] = [count(`${part}_start`), count(`${part}_end`)];
    if (begun !== ended) faults.push(`${begun} ${part}_start, ${ended} ${part}_end`);
  }
  const alone = unpaired(session.messages);
  if (alone.length > 0) faults.push(`unpaired calls or results: ${alone.join().slice(0, 200)}`);
  const { isStreaming, pendingMessageCount } = session.state;
  if (isStreaming || pendingMessageCount > 0) faults.push("still busy");
  return faults;
}

async function messagesIn(path: string): Promise<readonly AgentMessage[]> {
  const { log } = await SessionLog.load(path, { cwd: "/" });
  log.close();
  return buildSessionContext(log.tree.branch()).messages;
}

function difference(live: readonly AgentMessage[], reopened: readonly AgentMessage[]): string[] {
  const length = Math.max(live.length, reopened.length);
  for (let at = 0; at < length; at++) {
    if (isDeepStrictEqual(live[at], reopened[at])) continue;
    const [was, is] = [live[at], reopened[at]].map((message) => shorten(message));
    return [`message ${at} of ${live.length} was ${was}, reopened (${reopened.length}): ${is}`];
  }
  return [];
}

function shorten(message: AgentMessage | undefined): string {
  return (JSON.stringify(message) ?? "missing").slice(0, 600);
}
