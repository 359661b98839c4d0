import { subscribe } from "node:diagnostics_channel";
import type { Context, LlmMessage } from "@tau-agent/ai";
import { afterEach, beforeEach, expect } from "vitest";

/**
 * Fails every test in which a model (scripted, or behind a loopback server of the test's process) reads a
 * request that does not begin with an earlier request of the same conversation. Some causes are visible in
 * the request and allowed: a compaction starts another conversation, a rewind or a fork continues with
 * another prompt, and clearing leaves placeholder lines. A test with another legitimate cause, such as tools
 * that a client replaces, declares it with {@link takeRewrites}.
 */
const rewrites: string[] = [];
let known = new WeakMap<object, Map<string, Seen[]>>();

/** What a model has read, with messages as text. */
interface Seen {
  readonly system: string;
  readonly tools: string;
  readonly messages: readonly string[];
}

interface Published {
  readonly player: object;
  readonly request: Context & { readonly model: string };
}

subscribe("@tau-agent/ai/testing/request", (message) => {
  const { player, request } = message as Published;
  const conversations = known.get(player) ?? new Map<string, Seen[]>();
  known.set(player, conversations);
  const seen = {
    system: request.systemPrompt ?? "",
    tools: JSON.stringify(request.tools ?? []),
    messages: request.messages.map(textOf),
  };
  const key = `${request.model}\n${seen.messages[0]}`;
  const earlier = conversations.get(key) ?? [];
  conversations.set(key, [...earlier, seen]);
  const problem = rewriteOf(seen, earlier);
  if (problem !== undefined) rewrites.push(problem);
});

function textOf(message: LlmMessage): string {
  const { role, content } = message;
  return JSON.stringify({ role, content });
}

/** What a request has changed compared with earlier ones; undefined if it only extends them. */
function rewriteOf(request: Seen, earlier: readonly Seen[]): string | undefined {
  const common = (other: Seen) => {
    const at = other.messages.findIndex((text, index) => text !== request.messages[index]);
    return at === -1 ? other.messages.length : at;
  };
  const lengths = earlier.map(common);
  const length = Math.max(...lengths);
  const before = earlier[lengths.lastIndexOf(length)];
  if (before === undefined) return undefined;
  const countCleared = ({ messages }: Seen) => messages.join().split("[Cleared: entry").length;
  if (countCleared(request) > countCleared(before)) return undefined;
  if (before.system !== request.system) return "the instructions";
  if (before.tools !== request.tools) return "the tools";
  const [was, is] = [before.messages[length], request.messages[length]];
  if (was === undefined || is === undefined || is.startsWith('{"role":"user"')) return undefined;
  // The other branch started between the calls of a reply.
  if (is.includes("the conversation goes on from before this call had one")) return undefined;
  return `message ${length}, from ${was.slice(0, 200)} to ${is.slice(0, 200)}`;
}

/** Returns and clears the changes by requests of this test so far, which the test expected. */
export function takeRewrites(): string[] {
  return rewrites.splice(0);
}

beforeEach(() => {
  rewrites.length = 0;
  known = new WeakMap();
});

afterEach(() => {
  const found = rewrites.splice(0);
  // The wire formats and the loopback server have their own tests, with requests that no session makes.
  if (expect.getState().testPath?.includes("/packages/ai/")) return;
  expect(found, "requests that do not begin as the one before").toEqual([]);
});
