import { type Scenario, toolCall, turn } from "@tau-agent/ai/testing";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { SettingsStore } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import { createTestSession } from "../create/__fixtures__/test-session.ts";

const codesOf = (events: readonly SessionEvent[]) =>
  events.flatMap((event) => (event.type === "prompt_result" ? [[event.status, event.code]] : []));

const failure = (status: number) => turn("", { fault: { kind: "status", status, message: "no" } });

describe("the code in a prompt's result", () => {
  it.each([
    [401, "auth"],
    [429, "rate_limited"],
    [529, "overloaded"],
    [400, "invalid_request"],
  ])("gives the reason when the vendor answers with %i", async (status, code) => {
    const settings = SettingsStore.inMemory({ "retry.enabled": false });
    const { session, events } = await createTestSession([failure(status)], { settings });
    expect(await session.prompt("hi", { id: 1 })).toMatchObject({ status: "error", code });
    expect(codesOf(events)).toEqual([["error", code]]);
  });

  it("reports a missing key that the next request needs", async () => {
    const scenario: Scenario = [turn([toolCall("ls", {})]), "never"];
    const { session, parts, events } = await createTestSession(scenario);
    session.subscribe((event) => {
      if (event.type !== "tool_execution_end") return;
      parts.models.registry.requestAuth = async () => {
        throw new SessionError("no_key", { provider: "nobody", hint: "a key" });
      };
    });
    await session.prompt("hi", { id: 1 });
    expect(codesOf(events)).toEqual([["error", "no_key"]]);
  });

  it("is internal for any other exception", async () => {
    const stream = () => {
      throw new RangeError("out of memory");
    };
    const { session, events } = await createTestSession([], { stream });
    await session.prompt("hi", { id: 1 });
    expect(codesOf(events)).toEqual([["error", "internal"]]);
  });

  it("is absent if the prompt did not fail", async () => {
    const { session, events } = await createTestSession(["fine"]);
    await session.prompt("hi", { id: 1 });
    expect(codesOf(events)).toEqual([["completed", undefined]]);
  });

  it("is unknown for a prompt that failed in an earlier host, because entries have no codes", async () => {
    const { session } = await createTestSession([failure(401), "fine"]);
    const { promptId = "" } = await session.prompt("hi");
    // Otherwise the latest prompt would continue.
    await session.prompt("next");
    await session.dispose();
    const path = session.log.path ?? "";
    const next = await createTestSession([], { session: { path } });
    const { result } = await next.session.submit("hi", { promptId, id: 1, resume: true });
    expect(await result).toMatchObject({ status: "error", code: "unknown" });
  });
});
