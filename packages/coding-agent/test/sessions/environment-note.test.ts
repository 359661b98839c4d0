import type { ScenarioRequest } from "@tau-agent/ai/testing";
import { describe, expect, it, vi } from "vitest";
import { createTestSession } from "../../src/create/__fixtures__/test-session.ts";

const firstText = ({ messages }: ScenarioRequest): string => String(messages[0]?.content);

async function recording() {
  const requests: ScenarioRequest[] = [];
  const test = await createTestSession((request) => {
    requests.push(request);
    return "ok";
  });
  return { ...test, requests };
}

describe("date and platform", () => {
  it("are added to the first user message in requests, and nowhere else", async () => {
    const { session, requests, written } = await recording();
    await session.prompt("hello");
    const now = new Date();
    const year = String(now.getFullYear());
    expect(firstText(requests[0] as ScenarioRequest)).toMatch(
      new RegExp(`Date: ${year}-\\d\\d-\\d\\d\\nPlatform: ${process.platform} ${process.arch}`),
    );
    expect(firstText(requests[0] as ScenarioRequest)).toMatch(/^hello\n\n/);
    expect(requests[0]?.systemPrompt).not.toContain(year);
    expect(session.messages[0]).toMatchObject({ content: "hello" });
    expect(session.navigation.forkMessages()).toMatchObject([{ text: "hello" }]);
    expect(written().find(({ message }) => message?.role === "user")?.message).toMatchObject({
      content: "hello",
    });
  });

  it("keep the bytes of earlier messages, even after a resume", async () => {
    const first = await recording();
    await first.session.prompt("one");
    await first.session.prompt("two");
    const { path = "" } = first.session.log;
    await first.session.dispose();
    expect(firstText(first.requests[1] as ScenarioRequest)).toBe(
      firstText(first.requests[0] as ScenarioRequest),
    );
    const second = await createTestSession(
      (request) => {
        expect(firstText(request)).toBe(firstText(first.requests[0] as ScenarioRequest));
        expect(request.messages.at(-1)?.content).toBe("three");
        return "ok";
      },
      { session: { kind: "file", path } },
    );
    expect(await second.session.prompt("three")).toMatchObject({ status: "completed" });
  });

  it("are repeated with the next prompt once the date has changed", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date(2026, 10, 22, 12) });
    try {
      const { session, requests } = await recording();
      await session.prompt("one");
      vi.setSystemTime(new Date(2026, 10, 23, 12));
      await session.prompt("two");
      expect(firstText(requests[1] as ScenarioRequest)).toContain("Date: 2026-11-22");
      expect(String(requests[1]?.messages.at(-1)?.content)).toContain("Date: 2026-11-23");
    } finally {
      vi.useRealTimers();
    }
  });

  it("are kept in a conversation whose first message was summarised", async () => {
    const { session, requests } = await recording();
    session.settings.override("compaction.keepRecentTokens", 1);
    for (const prompt of ["one", "two"]) await session.prompt(prompt);
    await session.compact();
    await session.prompt("three");
    expect(firstText(requests.at(-1) as ScenarioRequest)).toContain("Platform: ");
  });
});
