import type { StreamFunction, StreamOptions } from "@tau-agent/ai";
import type { AgentMessage, UserMessage } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import type { CommandContext, ExtensionContext } from "./api/context.ts";
import type { ExtensionEventName } from "./api/events.ts";
import { customMessageOf } from "./extension-hooks.ts";
import {
  askBeforeStart,
  askContext,
  askInput,
  askMessageEnd,
  askProviderHeaders,
  askProviderRequest,
  askUserBash,
} from "./hooks/prompt-events.ts";
import { withRequestEvents } from "./hooks/request-events.ts";
import { type ExtensionFailure, ExtensionRunner } from "./hooks/runner.ts";
import { askBeforeSession, askResources } from "./hooks/session-events.ts";
import { systemPromptOptionsOf } from "./hooks/system-prompt-options.ts";
import { toolHooks } from "./hooks/tool-events.ts";
import { type AnyHandler, Extension } from "./load/registration.ts";

type Handler = (event: never) => unknown;

/** A runner with one extension per handler, in order, and the failures that it reported. */
function runnerOf(name: ExtensionEventName, ...handlers: Handler[]) {
  const failures: ExtensionFailure[] = [];
  const extensions = handlers.map((handler, index) => {
    const path = `/${index}.ts`;
    const extension = new Extension({ path, realPath: path, scope: "user" });
    extension.addHandler(name, handler as unknown as AnyHandler);
    return extension;
  });
  const runner = new ExtensionRunner({
    isAsking: () => false,
    extensions,
    context: {} as ExtensionContext,
    commandContext: {} as CommandContext,
    onFailure: (failure) => failures.push(failure),
  });
  return { runner, failures };
}

const fails = () => {
  throw new Error("broken");
};
const user = (content: string): UserMessage => ({ role: "user", content, timestamp: 1 });

it("a flag needs a name", () => {
  const extension = new Extension({ path: "/a.ts", realPath: "/a.ts", scope: "user" });
  for (const name of [Symbol.iterator, "", undefined]) {
    expect(() => extension.addFlag(name as never, { type: "boolean" })).toThrow("has no name");
  }
});

describe("handlers", () => {
  it("are called in order, even after one has failed", async () => {
    const heard: number[] = [];
    const { runner, failures } = runnerOf(
      "agent_start",
      () => heard.push(1),
      fails,
      async () => heard.push(3),
    );
    await runner.emit({ type: "agent_start" });
    expect(heard).toEqual([1, 3]);
    expect(failures).toEqual([{ extensionPath: "/1.ts", event: "agent_start", error: "broken" }]);
  });

  it("receive forks under the older name of branches, too", async () => {
    const name = "session_before_branch" as ExtensionEventName;
    const { runner } = runnerOf(name, () => ({ cancel: true }));
    const event = { type: "session_before_fork", entryId: "a", position: "before" } as const;
    expect(await askBeforeSession(runner, event)).toMatchObject({ cancel: true });
  });

  it("can be removed", async () => {
    const { runner } = runnerOf("agent_start");
    const extension = new Extension({ path: "/x", realPath: "/x", scope: "user" });
    const remove = extension.addHandler("agent_start", fails as unknown as AnyHandler);
    remove();
    expect(extension.handlers.get("agent_start")).toEqual([]);
    expect(runner.has("agent_start")).toBe(false);
  });
});

describe("tool_call", () => {
  const call = { type: "toolCall" as const, id: "1", name: "bash", arguments: { command: "ls" } };
  const before = (...handlers: Handler[]) => {
    const { runner, failures } = runnerOf("tool_call", ...handlers);
    return { decision: toolHooks(() => runner).beforeToolCall?.(call, {} as never), failures };
  };

  it("can have its arguments changed, which the next handler sees", async () => {
    const seen: string[] = [];
    const { decision } = before(
      ({ input }: { input: { command: string } }) => {
        input.command = "ls -l";
      },
      ({ input }: { input: { command: string } }) => {
        seen.push(input.command);
        return { input: { command: `${input.command} -a` } };
      },
    );
    expect(await decision).toEqual({ arguments: { command: "ls -l -a" } });
    expect(seen).toEqual(["ls -l"]);
    expect(call.arguments).toEqual({ command: "ls" });
  });

  it("is blocked by the first handler that blocks", async () => {
    const { decision } = before(() => ({ block: true, reason: "no" }), fails);
    expect(await decision).toEqual({ block: true, reason: "no" });
  });

  it("is blocked when a handler fails", async () => {
    const { decision, failures } = before(fails);
    expect(await decision).toMatchObject({ block: true });
    expect(failures).toMatchObject([{ event: "tool_call" }]);
  });
});

it("tool_result patches accumulate", async () => {
  const seen: unknown[] = [];
  const { runner } = runnerOf(
    "tool_result",
    () => ({ content: [{ type: "text", text: "changed" }] }),
    fails,
    (event: { content: unknown; isError: boolean }) => {
      seen.push(event.content, event.isError);
      return { details: { by: "third" }, isError: false };
    },
  );
  const call = { type: "toolCall" as const, id: "1", name: "x", arguments: {} };
  const result = { content: [{ type: "text" as const, text: "first" }], isError: true };
  expect(await toolHooks(() => runner).afterToolCall?.(call, result)).toEqual({
    content: [{ type: "text", text: "changed" }],
    details: { by: "third" },
    isError: false,
  });
  expect(seen).toEqual([[{ type: "text", text: "changed" }], true]);
});

describe("an input", () => {
  const ask = (...handlers: Handler[]) =>
    askInput(runnerOf("input", ...handlers).runner, { text: "a" }, { source: "rpc" });

  it("is unchanged if handlers continue or fail", async () => {
    expect(await ask(() => ({ action: "continue" }), fails)).toEqual({ text: "a" });
  });

  it("is transformed by each handler in order", async () => {
    const add = ({ text }: { text: string }) => ({ action: "transform", text: `${text}b` });
    expect(await ask(add, add)).toEqual({ text: "abb" });
  });

  it("is not passed on once a handler has handled it", async () => {
    let isAsked = false;
    const result = await ask(
      () => ({ action: "handled" }),
      () => {
        isAsked = true;
      },
    );
    expect(result).toBeUndefined();
    expect(isAsked).toBe(false);
  });
});

/** The parts of a system prompt with one rule, and of added rules. */
function promptParts(systemPrompt: string) {
  const options = systemPromptOptionsOf({ tools: [], cwd: "/" });
  const render = ({ promptGuidelines }: typeof options) =>
    [systemPrompt, ...promptGuidelines].join("|");
  return { systemPrompt, options, render };
}

it("before_agent_start handlers change the parts of the system prompt, unless one replaces it", async () => {
  type Event = { systemPrompt: string; systemPromptOptions: { promptGuidelines: string[] } };
  const add = (rule: string) => (event: Event) => {
    event.systemPromptOptions.promptGuidelines.push(rule);
  };
  const seen: string[] = [];
  const see = ({ systemPrompt }: Event) => void seen.push(systemPrompt);
  const prompt = { text: "go", messageType: "user" as const };
  const { runner } = runnerOf("before_agent_start", add("a"), see, add("b"));
  expect((await askBeforeStart(runner, prompt, promptParts("base"))).systemPrompt).toBe("base|a|b");
  expect(seen).toEqual(["base|a"]);
  const replace = () => ({ systemPrompt: "mine" });
  const replacing = runnerOf("before_agent_start", add("a"), replace, add("b")).runner;
  expect((await askBeforeStart(replacing, prompt, promptParts("base"))).systemPrompt).toBe("mine");
});

it("before_agent_start collects messages and chains the system prompt", async () => {
  const { runner } = runnerOf(
    "before_agent_start",
    ({ systemPrompt }: { systemPrompt: string }) => ({ systemPrompt: `${systemPrompt}+1` }),
    ({ systemPrompt }: { systemPrompt: string }) => ({
      systemPrompt: `${systemPrompt}+2`,
      message: { customType: "x", content: "hi" },
    }),
  );
  const prompt = { text: "go", messageType: "user" as const };
  expect(await askBeforeStart(runner, prompt, promptParts("base"))).toEqual({
    systemPrompt: "base+1+2",
    messages: [{ customType: "x", content: "hi" }],
  });
});

it("context handlers work on a copy, and each sees the changes of earlier ones", async () => {
  const messages: AgentMessage[] = [user("one"), user("two")];
  const { runner } = runnerOf(
    "context",
    ({ messages: [first] }: { messages: UserMessage[] }) => {
      if (first !== undefined) first.content = "changed";
    },
    (event: { messages: AgentMessage[] }) => ({ messages: event.messages.slice(0, 1) }),
  );
  expect(await askContext(runner, { messages, systemPrompt: "base" })).toEqual({
    messages: [user("changed")],
    systemPrompt: "base",
  });
  expect(messages).toEqual([user("one"), user("two")]);
});

it("context_with_system handlers control the system prompt, which is the first message", async () => {
  const { runner } = runnerOf(
    "context_with_system",
    (event: { messages: { content: string }[] }) => {
      const [head, ...rest] = event.messages;
      return { messages: [{ ...head, content: `${head?.content}, changed` }, ...rest] };
    },
  );
  const context = { messages: [user("one")], systemPrompt: "base" };
  expect(await askContext(runner, context)).toEqual({ ...context, systemPrompt: "base, changed" });
  const dropping = runnerOf("context_with_system", () => ({ messages: [user("alone")] })).runner;
  const alone = { messages: [user("alone")], systemPrompt: "" };
  expect(await askContext(dropping, context)).toEqual(alone);
});

it("message_end may replace a message, but only by one of the same role", async () => {
  const { runner } = runnerOf(
    "message_end",
    () => ({ message: user("replaced") }),
    () => ({ message: { ...user("x"), role: "custom" } }),
  );
  expect(await askMessageEnd(runner, user("original"))).toEqual(user("replaced"));
});

it("a message that no context handler changes keeps its identity for request caching", async () => {
  for (const name of ["context", "context_with_system"] as const) {
    const { runner } = runnerOf(name, ({ messages }: { messages: AgentMessage[] }) => {
      const changed = messages.find(({ timestamp }) => timestamp === 2);
      Object.assign(changed ?? {}, { content: "changed" });
      return { messages: messages.toReversed().toReversed() };
    });
    const given = [user("one"), { ...user("two"), timestamp: 2 }, user("three")];
    const { messages } = await askContext(runner, { messages: given, systemPrompt: "base" });
    expect(messages.map((message, at) => message === given[at])).toEqual([true, false, true]);
    expect(messages[1]).toEqual({ ...user("changed"), timestamp: 2 });
    expect(given[1]?.content).toBe("two");
  }
});

it("only a handler that can change requests prevents their reuse", () => {
  const asks = (name: ExtensionEventName): boolean => {
    let seen: StreamOptions | undefined;
    const stream: StreamFunction = (_model, _context, options) => {
      seen = options;
      return (async function* () {})() as never;
    };
    const { runner } = runnerOf(name, () => undefined);
    withRequestEvents(stream, () => runner)({} as never, { messages: [] }, {});
    return seen?.onPayload !== undefined;
  };
  expect(asks("before_provider_request")).toBe(true);
  expect(asks("after_provider_response")).toBe(false);
  expect(asks("provider_stream_event")).toBe(false);
});

it("context handlers cannot add a malformed message", async () => {
  const wrong = [
    null,
    "text",
    7,
    {},
    { role: 7 },
    { role: "user", content: { a: 1 }, timestamp: 1 },
  ];
  for (const name of ["context", "context_with_system"] as const) {
    const { runner } = runnerOf(
      name,
      () => ({ messages: [{ role: "system", content: {} }, user("kept"), ...wrong] }),
      (event: { messages: { content?: unknown }[] }) => {
        for (const message of event.messages)
          if (message?.content === "kept") message.content = [null];
      },
    );
    const changed = await askContext(runner, { messages: [user("one")], systemPrompt: "base" });
    const own = changed.messages.filter(({ role }) => role === "user");
    expect(own).toEqual([{ ...user(""), content: [] }, user("")]);
    expect(changed.messages.length).toBeLessThan(4);
  }
});

it("messages from handlers are repaired like those from files", async () => {
  const content = [{ type: "text" }, { type: "text", text: "kept" }];
  const { runner } = runnerOf("message_end", () => ({ message: { role: "user", content } }));
  expect(await askMessageEnd(runner, user("original"))).toEqual({
    role: "user",
    content: [{ type: "text", text: "kept" }],
    timestamp: 0,
  });
  const before = runnerOf(
    "before_agent_start",
    ...["x", 7, null].map((message) => () => ({ message })),
  );
  const prompt = { text: "go", messageType: "user" as const };
  expect((await askBeforeStart(before.runner, prompt, promptParts("base"))).messages).toEqual([]);
  const custom = { customType: 7, content: { a: 1 } } as never;
  expect(customMessageOf(custom)).toMatchObject({ customType: "", content: "", display: true });
});

it("requests are replaced and headers changed before they are sent", async () => {
  const { runner } = runnerOf(
    "before_provider_request",
    ({ payload }: { payload: object }) => ({ ...payload, a: 1 }),
    ({ payload }: { payload: object }) => ({ ...payload, b: 2 }),
  );
  expect(await askProviderRequest(runner, {})).toEqual({ a: 1, b: 2 });
  const headers = runnerOf(
    "before_provider_headers",
    (event: { headers: Record<string, unknown> }) => {
      event.headers["x-one"] = "1";
      event.headers.drop = null;
    },
  );
  expect(await askProviderHeaders(headers.runner, { drop: "me" })).toEqual({
    "x-one": "1",
    drop: null,
  });
});

describe("user_bash", () => {
  const command = { command: "ls", excludeFromContext: false, cwd: "/" };

  it("is answered by the first handler with an answer", async () => {
    const result = { output: "mine", cancelled: false, truncated: false };
    const { runner } = runnerOf(
      "user_bash",
      () => undefined,
      () => ({ result }),
      fails,
    );
    expect(await askUserBash(runner, command)).toEqual({ result });
  });

  it("does not run if a handler fails or returns an invalid answer", async () => {
    await expect(askUserBash(runnerOf("user_bash", fails).runner, command)).rejects.toThrow(
      /broken/,
    );
    const nonsense = runnerOf("user_bash", () => ({ result: 1 }));
    await expect(askUserBash(nonsense.runner, command)).rejects.toThrow(/neither/);
  });
});

it("session changes are cancelled by the first handler that cancels", async () => {
  const { runner } = runnerOf(
    "session_before_tree",
    () => ({ label: "kept" }),
    () => ({ cancel: true }),
    fails,
  );
  const preparation = {
    targetId: "a",
    oldLeafId: "b",
    commonAncestorId: null,
    entriesToSummarize: [],
    userWantsSummary: false,
  };
  const { signal } = new AbortController();
  const event = { type: "session_before_tree", preparation, signal } as const;
  expect(await askBeforeSession(runner, event)).toEqual({ label: "kept", cancel: true });
});

it("incomplete summaries are reported and left out", async () => {
  const own = { summary: "mine", firstKeptEntryId: "a", tokensBefore: 1 };
  const given = [{ ...own, summary: 5 }, { summary: "x" }, "text", own];
  const compact = runnerOf(
    "session_before_compact",
    ...given.map((compaction) => () => ({ compaction })),
  );
  const event = { type: "session_before_compact" } as never;
  expect(await askBeforeSession(compact.runner, event)).toEqual({ compaction: own });
  expect(compact.failures).toHaveLength(3);
  const move = runnerOf("session_before_tree", () => ({ summary: { summary: null } }));
  expect(await askBeforeSession(move.runner, { type: "session_before_tree" } as never)).toEqual({});
  expect(move.failures).toHaveLength(1);
});

it("folders of skills and templates accumulate, without malformed paths", async () => {
  const { runner } = runnerOf(
    "resources_discover",
    () => ({ skillPaths: ["/a", ["/x"], 7], promptPaths: "/y" }),
    () => ({ skillPaths: ["/b"], promptPaths: ["/c"] }),
  );
  expect(await askResources(runner, { cwd: "/", reason: "startup" })).toEqual({
    skillPaths: ["/a", "/b"],
    promptPaths: ["/c"],
  });
});
