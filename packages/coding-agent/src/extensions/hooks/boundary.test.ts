import type { AgentMessage, UserMessage } from "@tau-agent/rpc-protocol/messages";
import { SessionLog } from "@tau-agent/sessions/log";
import { describe, expect, it } from "vitest";
import type { CommandContext, ExtensionContext } from "../api/context.ts";
import type { Boundary, BoundaryDraft, BoundaryResult } from "../api/events.ts";
import { type AnyHandler, Extension } from "../load/registration.ts";
import { askBoundary, entryIds } from "./boundary.ts";
import { type ExtensionFailure, ExtensionRunner } from "./runner.ts";

type Handler = (event: Boundary) => BoundaryResult | undefined | Promise<BoundaryResult>;

const user = (content: string): UserMessage => ({ role: "user", content, timestamp: 1 });
const note: BoundaryDraft = { type: "custom_message", customType: "note", content: "hi" };
const end = { type: "agent_before_settle", outcome: "completed" } as const;

/** Calls these handlers at the end of a run with the conversation `messages`. */
async function ask(messages: readonly AgentMessage[], ...handlers: Handler[]) {
  const extension = new Extension({ path: "/x.ts", realPath: "/x.ts", scope: "user" });
  for (const handler of handlers) {
    extension.addHandler("agent_before_settle", handler as unknown as AnyHandler);
  }
  const failures: ExtensionFailure[] = [];
  const runner = new ExtensionRunner({
    isAsking: () => false,
    extensions: [extension],
    context: {} as ExtensionContext,
    commandContext: {} as CommandContext,
    onFailure: (failure) => failures.push(failure),
  });
  let current = messages;
  const withDrafts = (drafts: readonly BoundaryDraft[]): readonly AgentMessage[] => [
    ...current,
    ...drafts.flatMap((draft) => (draft.type === "custom_message" ? [user("added")] : [])),
  ];
  const isContinued = await askBoundary(
    runner,
    {
      messagesWith: withDrafts,
      pendingMessages: [],
      addEntries: async (drafts) => {
        current = withDrafts(drafts);
      },
    },
    end,
  );
  return { isContinued, failures, messages: current };
}

describe("a boundary", () => {
  it("changes nothing without requests", async () => {
    expect(await ask([user("one")], () => undefined)).toMatchObject({
      isContinued: false,
      failures: [],
      messages: [user("one")],
    });
  });

  it("shows each handler the earlier requests, and applies the last one", async () => {
    const seen: unknown[] = [];
    const { isContinued, messages } = await ask(
      [],
      () => ({ entries: [note], continue: true }),
      ({ entries, continue: goesOn, context }) => {
        seen.push(entries, goesOn, context.canContinue, context.contextMessages.length);
        return undefined;
      },
    );
    expect(seen).toEqual([[note], true, true, 1]);
    expect(isContinued).toBe(true);
    expect(messages).toHaveLength(1);
  });

  it("refuses another turn if there is nothing to answer, and reports that", async () => {
    const { isContinued, failures } = await ask([], () => ({ continue: true }));
    expect(isContinued).toBe(false);
    expect(failures).toMatchObject([{ event: end.type, error: expect.stringContaining("turn") }]);
  });

  it("writes nothing if a handler returns invalid entries", async () => {
    const wrong = [{ type: "message" }] as unknown as BoundaryDraft[];
    const { failures, messages } = await ask(
      [],
      () => ({ entries: wrong }),
      () => ({ entries: [note] }),
    );
    expect(failures).toMatchObject([{ error: expect.stringContaining("custom_message") }]);
    expect(messages).toHaveLength(1);
  });
});

it("finds the ids of recorded messages, starting at the leaf", () => {
  const log = SessionLog.create({ cwd: "/" });
  const messages = [user("one"), user("two")];
  const ids = messages.map((message) => log.append({ type: "message", message }).id);
  log.append({ type: "custom", customType: "x" });
  expect(entryIds(log, messages)).toEqual(ids);
  expect(entryIds(log, [user("one")])).toEqual([""]);
});
