import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createStream } from "@tau-agent/ai";
import {
  type Scenario,
  startLoopbackServer,
  thinking,
  toolCall,
  turn,
} from "@tau-agent/ai/testing";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { SettingsStore } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import { takeRewrites } from "../../../ai/test/stable-prefix.ts";
import {
  createTestSession,
  keyless,
  placesIn,
  temporaryFolder,
} from "../create/__fixtures__/test-session.ts";
import type { AgentSession } from "./agent-session.ts";

/** A change during a conversation that a vendor has cached. */
type Act = (session: AgentSession, folder: string) => unknown;

const say =
  (words: string): Act =>
  (session) =>
    session.prompt(words);
const level =
  (name: "low" | "high"): Act =>
  (session) =>
    session.setThinkingLevel(name);
const useModel =
  (id: string): Act =>
  (session) =>
    session.setModel(
      "loopback",
      `${session.models.model?.id.replace(/-(?:first|other)$/, "")}-${id}`,
    );
const compact: Act = (session) => session.compact();
const restart: Act = () => undefined;

let signatures = 0;

/** Does what the prompt says: `read x`, `job` or `raise`; each reply includes thinking. */
const obedient: Scenario = ({ lastUserText, messages, systemPrompt }) => {
  if (systemPrompt.includes("summaries")) return "SUMMARY";
  const thought = thinking("Hm.", { signature: `signature-${++signatures}` });
  const [word = "", path = ""] = lastUserText.split("\n", 1)[0]?.split(" ") ?? [];
  if (messages.at(-1)?.role !== "user") return turn([thought, "Done."]);
  if (word === "read") return turn([thought, toolCall("read", { path })]);
  if (word === "raise") return turn([thought, toolCall("raise", {})]);
  if (word === "job") {
    return turn([thought, toolCall("bash", { command: "true", background: true })]);
  }
  return turn([thought, "Hello."]);
};

const large = `${"some words of a text that goes on ".repeat(3)}\n`.repeat(1000);

interface Body {
  readonly model?: string;
  readonly messages?: unknown[];
  readonly input?: unknown[];
}

/** The parts of a request that a vendor's cache matches, in order. */
function partsOf(body: unknown): string[] {
  const { messages, input, ...head } = body as Body;
  const withoutMarks = (name: string, value: unknown) =>
    name === "cache_control" ? undefined : value;
  return [head, ...(messages ?? input ?? [])].map((part) => JSON.stringify(part, withoutMarks));
}

/** The requests to each model before and after the restart. */
async function play(models: readonly Partial<Model>[], acts: readonly Act[]) {
  const folder = temporaryFolder();
  const places = placesIn(folder);
  for (const name of ["a", "b", "c", "d"]) {
    writeFileSync(join(String(places.cwd), `${name}.txt`), `${name}\n${large}`);
  }
  await using server = await startLoopbackServer({ scenario: obedient });
  const known = models.map((model) => server.model(model.api as "anthropic-messages", model));
  let session: AgentSession | undefined;
  const raise = {
    ...{ name: "raise", description: "Thinks more.", parameters: { type: "object" } },
    execute: async () => {
      await session?.setThinkingLevel("high");
      return { content: [] };
    },
  };
  const open = async (path?: string) => {
    const test = await createTestSession([], {
      ...places,
      model: known[0],
      providers: [{ ...keyless("loopback"), models: () => known }],
      customTools: [raise],
      stream: createStream(),
      settings: SettingsStore.inMemory({
        "compaction.keepRecentTokens": 200,
        defaultThinkingLevel: "low",
      }),
      ...(path !== undefined && { session: { kind: "file" as const, path } }),
    });
    return test.session;
  };
  session = await open();
  let before = 0;
  for (const act of acts) {
    if (act === restart) {
      const path = session.log.path ?? "";
      await session.dispose();
      session = await open(path);
      before = server.requestCount;
    } else await act(session, folder);
  }
  expect(server.refusals).toEqual([]);
  // Compares bytes instead: the scenario's list of tools also includes appended ones.
  takeRewrites();
  const bodies = server.requests.map(({ body }) => body as Body);
  return { earlier: bodies.slice(0, before), later: bodies.slice(before) };
}

const wires: [string, Partial<Model>][] = [
  [
    "Anthropic's format",
    {
      api: "anthropic-messages",
      id: "claude-opus-5-5",
      reasoning: true,
      compat: {
        ...{ supportsMidConvoEffort: true, supportsMidConvoSystemMessages: true },
        ...{ supportsMidConvoToolChanges: true, forceAdaptiveThinking: true },
      },
    },
  ],
  [
    "OpenAI's format",
    {
      api: "openai-responses",
      id: "gpt-6-sol",
      reasoning: true,
      compat: {
        ...{ supportsMidConvoEffort: true, supportsMidConvoSystemMessages: true },
        supportsAdditionalTools: true,
      },
    },
  ],
];

const stories: Record<string, readonly Act[]> = {
  "another thinking level": [say("one"), level("high"), say("job"), restart, say("three")],
  "several thinking levels": [
    ...[say("one"), level("high"), say("two"), level("low"), say("job"), level("high")],
    ...[restart, say("three"), say("four")],
  ],
  "a thinking level that was set while a tool ran": [
    ...[say("one"), say("raise"), say("two"), restart, say("three")],
  ],
  "another model in between": [
    ...[say("one"), say("job"), useModel("other"), say("two"), level("high"), say("three")],
    ...[restart, useModel("other"), say("four"), useModel("first"), say("five")],
  ],
  "a compaction": [
    ...[say("one"), level("high"), say("job"), say(`two\n${large.slice(0, 1500)}`), compact],
    ...[say("three"), level("low"), say("four"), restart, say("five")],
  ],
  "two clearings": [
    ...[say("one"), level("high"), say("job"), say("read a.txt"), say("read b.txt"), say("two")],
    ...[say("three"), say("read c.txt"), level("low"), say("read d.txt"), say("four")],
    ...[say("five"), restart, say("six")],
  ],
};

describe.each(wires)("over %s, the next process", (_, model) => {
  it.each(Object.keys(stories))("repeats what was sent with %s", async (name) => {
    const named = ["first", "other"].map((id) => ({ ...model, id: `${model.id}-${id}` }));
    const acts = stories[name] ?? [];
    const { earlier, later } = await play(named, acts);
    const sent = JSON.stringify(later);
    expect(sent.includes("<summary>")).toBe(name === "a compaction");
    expect(sent.split("[Cleared:").length > 4).toBe(name === "two clearings");
    const ids = new Set(later.map((body) => body.model));
    for (const id of ids) {
      const last = partsOf(earlier.findLast((body) => body.model === id));
      const next = partsOf(later.find((body) => body.model === id));
      expect(next.slice(0, last.length)).toEqual(last);
    }
  });
});
