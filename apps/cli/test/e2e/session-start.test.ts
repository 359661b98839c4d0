import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startMemoryHost } from "../support/memory-host.ts";
import { makePlace, type Place } from "../support/place.ts";

const sessionsOf = (place: Place): string[] =>
  readdirSync(place.folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".jsonl"),
  );

/** Sends a prompt in a session; returns the session's id and all messages so far. */
async function say(place: Place, text: string, ...words: string[]) {
  const own = { ...place, arguments: [...place.arguments, ...words] };
  const host = await startMemoryHost({}, own);
  host.send({ type: "prompt", message: text });
  await host.until({ "...": true, type: "agent_settled" });
  host.send({ type: "get_state" });
  const { data } = await host.until({ "...": true, command: "get_state" });
  const { sessionId } = data as { sessionId: string };
  host.send({ type: "get_messages" });
  const answer = await host.until({ "...": true, command: "get_messages" });
  await host.finish();
  const { messages } = answer.data as { messages: { role: string; content: unknown }[] };
  const said = messages.flatMap(({ role, content }) => (role === "user" ? [content] : []));
  return { sessionId, said: JSON.stringify(said) };
}

const keptPlace = (): Place => {
  const place = makePlace({ scenario: ["one"] });
  onTestFinished(place.remove);
  // The hosts of one test share it.
  return { ...place, remove: () => {} };
};

it("--session-id creates the session at first and opens it from then on", async () => {
  const place = keptPlace();
  const first = await say(place, "first words", "--session-id", "job-1");
  expect(first.sessionId).toBe("job-1");
  await say(place, "other words", "--session-id", "job");
  const again = await say(place, "more", "--session-id", "job-1");
  expect(again.sessionId).toBe("job-1");
  expect(again.said).toContain("first words");
  expect(again.said).not.toContain("other words");
  expect(sessionsOf(place)).toHaveLength(2);
});

it.each(["--continue", "--resume"])(
  "%s=FILE opens that file instead of the latest",
  async (flag) => {
    const place = keptPlace();
    await say(place, "in the file", "--session", "../a.jsonl");
    await say(place, "in the latest");
    const { said } = await say(place, "more", `${flag}=${join(place.folder, "a.jsonl")}`);
    expect(said).toContain("in the file");
    expect(said).not.toContain("in the latest");
  },
);
