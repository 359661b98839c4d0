import {
  overloaded,
  rateLimited,
  type Scenario,
  text,
  toolCall,
  turn,
} from "@tau-agent/ai/testing";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import { describe, expect, it } from "vitest";
import { createTestSession, unpaired, userTexts } from "../create/__fixtures__/test-session.ts";

const isSummary = ({ systemPrompt }: { systemPrompt: string }) =>
  systemPrompt.includes("summaries");

const long = "word ".repeat(200);

/** Replies of some length, and summaries that say what they summarise. */
const talk: Scenario = (request) =>
  isSummary(request) ? `SUMMARY ${request.index}` : `reply ${request.index} ${long}`;

async function compactable(scenario: Scenario = talk) {
  const test = await createTestSession(scenario);
  test.session.settings.override("compaction.keepRecentTokens", 300);
  test.session.settings.override("retry.baseDelayMs", 1);
  return test;
}

const types = (events: readonly SessionEvent[]) => events.map(({ type }) => type);

describe("manual compaction", () => {
  it("replaces older messages by a summary and keeps the recent ones", async () => {
    const { session, written } = await compactable();
    for (const prompt of ["first", "second", "third"]) await session.prompt(prompt);
    const result = await session.compact("the names");
    expect(result.summary).toContain("SUMMARY");
    expect(result.tokensBefore).toBeGreaterThan(600);
    expect(session.messages[0]).toMatchObject({ role: "compactionSummary" });
    expect(userTexts(session.messages)).not.toContain("first");
    expect(written().at(-1)).toMatchObject({ type: "compaction", ...result });
    await session.prompt("fourth");
    expect(userTexts(session.messages)).toContain("fourth");
  });

  it("carries over the earlier summary and its files", async () => {
    const seen: string[] = [];
    const { session } = await compactable((request) => {
      if (isSummary(request)) {
        seen.push(request.lastUserText);
        return `SUMMARY ${seen.length}`;
      }
      return request.lastUserText.endsWith("read") && request.toolResults.length === 0
        ? turn([text(long), toolCall("read", { path: "a.txt" })])
        : `reply ${long}`;
    });
    for (const prompt of ["read", "second", "third"]) await session.prompt(prompt);
    const first = await session.compact("keep the names");
    expect(first.details).toEqual({ readFiles: ["a.txt"], modifiedFiles: [] });
    expect(seen[0]).toContain("Additional focus: keep the names");
    for (const prompt of ["fourth", "fifth"]) await session.prompt(prompt);
    const second = await session.compact();
    expect(seen.some((request) => request.includes("<previous-summary>"))).toBe(true);
    expect(second.details).toEqual({ readFiles: ["a.txt"], modifiedFiles: [] });
    expect(second.summary).toContain("<read-files>\na.txt\n</read-files>");
  });

  it("does nothing in a small session, or right after another compaction", async () => {
    const { session } = await compactable();
    await session.prompt("hello");
    session.settings.override("compaction.keepRecentTokens", 100_000);
    await expect(session.compact()).rejects.toThrow("Nothing to compact (session too small)");
    session.settings.override("compaction.keepRecentTokens", 300);
    for (const prompt of ["second", "third"]) await session.prompt(prompt);
    await session.compact();
    await expect(session.compact()).rejects.toThrow("Already compacted");
  });

  it.each([
    ["retrying is called off", overloaded(), true],
    ["the vendor asks for too long a wait", rateLimited(3600), false],
  ])("abandons the summary when %s", async (_, fault, isCalledOff) => {
    let requests = 0;
    const { session } = await compactable((request) => {
      if (!isSummary(request)) return `reply ${long}`;
      requests += 1;
      return turn("", { fault });
    });
    session.settings.override("retry.baseDelayMs", 60_000);
    for (const prompt of ["first", "second", "third"]) await session.prompt(prompt);
    const calling = setInterval(() => isCalledOff && session.retry.cancel(), 1);
    await expect(session.compact()).rejects.toMatchObject({ code: "summary_failed" });
    clearInterval(calling);
    expect(requests).toBe(1);
  });

  it("leaves the session unchanged and reports the reason when it fails", async () => {
    const { session, events } = await compactable((request) =>
      isSummary(request) ? turn("cut", { stopReason: "length" }) : `reply ${long}`,
    );
    for (const prompt of ["first", "second", "third"]) await session.prompt(prompt);
    const before = [...session.messages];
    await expect(session.compact()).rejects.toMatchObject({ code: "summary_failed" });
    expect(session.messages).toEqual(before);
    expect(events.at(-1)).toMatchObject({ type: "compaction_end", result: null, aborted: false });
    expect(session.state.isCompacting).toBe(false);
  });

  it("is stopped by an abort, and queued prompts run afterwards", async () => {
    const { session, events } = await compactable((request) =>
      isSummary(request) ? turn(text("slow", { delayMs: 200 })) : `reply ${long}`,
    );
    for (const prompt of ["first", "second", "third"]) await session.prompt(prompt);
    const compacting = session.compact();
    const failed = expect(compacting).rejects.toThrow("Compaction cancelled");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(session.state.isCompacting).toBe(true);
    const acceptance = await session.submit("fourth");
    expect(acceptance.disposition).toBe("queued");
    await session.abort();
    await failed;
    expect(await acceptance.result).toMatchObject({ status: "completed" });
    expect(userTexts(session.messages)).toEqual(["first", "second", "third", "fourth"]);
    expect(types(events)).toContain("compaction_end");
  });

  it("retries a summary after a transient failure", async () => {
    let failures = 0;
    const { session } = await compactable((request) => {
      if (!isSummary(request)) return `reply ${long}`;
      return failures++ === 0 ? turn("", { fault: overloaded() }) : "SUMMARY";
    });
    for (const prompt of ["first", "second", "third"]) await session.prompt(prompt);
    expect((await session.compact()).summary).toContain("SUMMARY");
  });
});

describe("automatic compaction", () => {
  it("runs at the threshold, after the reply that exceeded it", async () => {
    const { session, events } = await compactable((request) =>
      isSummary(request)
        ? "SUMMARY"
        : turn(`reply ${long}`, { usage: { input: 190_000, output: 10 } }),
    );
    for (const prompt of ["first", "second"]) await session.prompt(prompt);
    const names = types(events);
    expect(names).toContain("auto_compaction_start");
    expect(names.indexOf("auto_compaction_end")).toBeLessThan(names.lastIndexOf("agent_settled"));
    expect(events.find(({ type }) => type === "auto_compaction_start")).toEqual({
      type: "auto_compaction_start",
      reason: "threshold",
    });
    expect(session.messages[0]).toMatchObject({ role: "compactionSummary" });
  });

  it("runs between the turns of a run, and no call loses its result", async () => {
    const { session, events } = await compactable((request) => {
      if (isSummary(request)) return "SUMMARY";
      if (request.index < 4) {
        return turn([text(long), toolCall("ls", {})], { usage: { input: 190_000, output: 10 } });
      }
      return turn("done", { usage: { input: 1000, output: 10 } });
    });
    const result = await session.prompt("go on");
    expect(result.status).toBe("completed");
    const names = types(events);
    expect(names.indexOf("auto_compaction_end")).toBeLessThan(names.indexOf("agent_end"));
    expect(unpaired(session.messages)).toEqual([]);
  });

  it("responds to an overflow once, and the run continues automatically", async () => {
    const { session, events } = await compactable((request) => {
      if (isSummary(request)) return "SUMMARY";
      if (
        request.lastUserText.endsWith("third") &&
        !JSON.stringify(request.messages).includes("SUMMARY")
      ) {
        return turn("", { fault: { kind: "overflow" } });
      }
      return `reply ${long}`;
    });
    for (const prompt of ["first", "second"]) await session.prompt(prompt);
    expect(await session.prompt("third")).toMatchObject({ status: "completed" });
    expect(events.find(({ type }) => type === "auto_compaction_end")).toMatchObject({
      willRetry: true,
      aborted: false,
    });
    expect(session.messages.at(-1)).toMatchObject({ role: "assistant", stopReason: "stop" });
    expect(session.messages.some((m) => m.role === "assistant" && m.stopReason === "error")).toBe(
      false,
    );
  });

  it("shortens the conversation after an overflow even if it seems to fit the window", async () => {
    const { session } = await compactable((request) => {
      if (isSummary(request)) return "SUMMARY";
      const isTooLong = JSON.stringify(request.messages).includes("first");
      return isTooLong && request.lastUserText.endsWith("third")
        ? turn("", { fault: { kind: "overflow" } })
        : "short";
    });
    for (const prompt of ["first", "second"]) await session.prompt(prompt);
    expect(await session.prompt("third")).toMatchObject({ status: "completed" });
    expect(await session.prompt("fourth")).toMatchObject({ status: "completed" });
  });

  it("gives up after a second overflow in a row", async () => {
    const { session, events } = await compactable((request) => {
      if (isSummary(request)) return "SUMMARY";
      return request.lastUserText.endsWith("third")
        ? turn("", { fault: { kind: "overflow" } })
        : `reply ${long}`;
    });
    for (const prompt of ["first", "second"]) await session.prompt(prompt);
    expect(await session.prompt("third")).toMatchObject({ status: "error" });
    expect(types(events).filter((type) => type === "auto_compaction_start")).toHaveLength(1);
  });

  it("does not run when it is switched off", async () => {
    const { session, events } = await compactable((request) =>
      isSummary(request)
        ? "SUMMARY"
        : turn(`reply ${long}`, { usage: { input: 190_000, output: 1 } }),
    );
    session.settings.override("compaction.enabled", false);
    for (const prompt of ["first", "second"]) await session.prompt(prompt);
    expect(types(events)).not.toContain("auto_compaction_start");
  });
});
