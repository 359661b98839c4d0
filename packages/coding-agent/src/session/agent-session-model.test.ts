import { existsSync } from "node:fs";
import { text, toolCall, turn } from "@tau-agent/ai/testing";
import type { AgentMessage, PromptResult } from "@tau-agent/rpc-protocol/messages";
import { buildSessionContext, SessionLog } from "@tau-agent/sessions/log";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createTestSession,
  isType,
  unpaired,
  userTexts,
} from "../create/__fixtures__/test-session.ts";

const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom("prompt", "steer", "followUp", "anyPrompt") },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        "abort",
        "bash",
        "newSession",
        "modes",
        "compact",
        "clone",
        "fork",
      ),
    },
    { weight: 4, arbitrary: fc.constantFrom("tick", "ticks", "idle") },
  ),
  { minLength: 3, maxLength: 14 },
);

/** Replies of various lengths, with and without calls, and occasional failures. */
const scenario = ({ index }: { index: number }) => {
  const kind = index % 7;
  // From here on, the agent is reminded whenever it stops.
  if (kind === 5) return turn(toolCall("todo_write", { todos: ["never done"] }));
  if (kind === 1) return turn([toolCall("ls", { path: "." }), toolCall("todo", {})]);
  if (kind === 2) return turn(text("a paced answer", { chunkSize: 5, delayMs: 1 }));
  if (kind === 4) {
    // A failure that is not retried.
    const code = "invalid_request_error";
    return turn("x", { fault: { kind: "error_event", message: "no", code, afterDeltas: 1 } });
  }
  if (kind === 3 || kind === 0) {
    // A failure that is retried, with a call that had already begun.
    const fault = {
      kind: "error_event",
      message: "busy",
      code: "overloaded_error",
      afterDeltas: 2,
    };
    return turn([toolCall("ls", { path: "." }), text("abc")], { fault: fault as never });
  }
  return `reply ${index}`;
};

/** The conversation as read by a host that opens the file later. */
async function messagesIn(path: string): Promise<readonly AgentMessage[]> {
  const { log } = await SessionLog.load(path, { cwd: "/" });
  log.close();
  return buildSessionContext(log.tree.branch()).messages;
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("any sequence of commands", () => {
  it("gives each accepted prompt one result, loses no message and settles", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const test = await createTestSession(scenario);
        const { session, events } = test;
        session.settings.override("retry.baseDelayMs", 1);
        session.settings.override("compaction.keepRecentTokens", 1);
        session.settings.override("todoCompletion.enabled", true);
        const results: Promise<PromptResult>[] = [];
        const accepted: string[] = [];
        const pending: Promise<unknown>[] = [];
        const delivered: string[] = [];
        session.subscribe((event) => {
          if (event.type === "message_end") delivered.push(...userTexts([event.message]));
        });
        let count = 0;
        const submit = async (behavior: "steer" | "followUp" | undefined) => {
          const id = String(++count);
          try {
            const options = { id, streamingBehavior: behavior };
            const acceptance = await session.submit(`prompt ${id}`, options);
            accepted.push(id);
            results.push(acceptance.result);
          } catch (error) {
            expect(error).toMatchObject({ code: "busy" });
          }
        };
        const commands: Record<string, () => Promise<unknown>> = {
          prompt: () => submit(undefined),
          anyPrompt: () => submit("followUp"),
          steer: () => submit("steer"),
          followUp: async () => {
            const { result } = await session.followUp(`extra ${++count}`);
            results.push(result);
          },
          abort: () => session.abort(),
          bash: () => session.bash.run("true"),
          newSession: () => session.newSession(),
          // Chance decides whether there is anything to summarise, and whether the scripted model can.
          compact: () => session.compact().catch(() => undefined),
          clone: () => session.navigation.clone(),
          fork: async () => {
            const first = session.navigation.forkMessages().at(-1);
            if (first !== undefined) await session.navigation.fork(first.entryId);
          },
          modes: async () => session.setQueueModes({ steering: "all", interrupt: "wait" }),
        };
        for (const step of list) {
          if (step === "tick") await new Promise((resolve) => setImmediate(resolve));
          else if (step === "ticks") await wait(4);
          else if (step === "idle") await session.waitForIdle();
          else pending.push(commands[step]?.() ?? Promise.resolve());
        }
        await Promise.all(pending);
        await session.waitForIdle();
        await Promise.all(results);
        expect(session.isStreaming).toBe(false);
        expect(session.state).toMatchObject({ pendingMessageCount: 0, isStreaming: false });
        const ends = events.flatMap((event) => (event.type === "prompt_result" ? [event.id] : []));
        expect(ends.toSorted()).toEqual(accepted.toSorted());
        expect(new Set(delivered).size).toBe(delivered.length);
        expect(unpaired(session.messages)).toEqual([]);
        expect(events.filter(isType("agent_start"))).toHaveLength(
          events.filter(isType("agent_end")).length,
        );
        const live = structuredClone(session.messages);
        const { path } = session.log;
        await session.dispose();
        if (path !== undefined && existsSync(path)) {
          expect(await messagesIn(path)).toEqual(live);
        }
        // Without a session switch, every accepted prompt is in the conversation.
        const wasSwitched = list.some((step) => ["newSession", "clone", "fork"].includes(step));
        const said = new Set(delivered);
        if (!wasSwitched) for (const id of accepted) expect(said).toContain(`prompt ${id}`);
      }),
      { numRuns: 60 },
    );
  });
});
