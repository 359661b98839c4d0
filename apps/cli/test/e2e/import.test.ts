import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makePlace } from "../support/place.ts";
import { runCommand } from "../support/run-command.ts";
import { startHost } from "../support/start-host.ts";

const line = (type: string, uuid: string, parentUuid: string | null, message: object) =>
  `${JSON.stringify({ type, uuid, parentUuid, sessionId: "s", cwd: "/elsewhere\u001b[2J", timestamp: "2026-01-02T03:04:05Z", message })}\n`;
const transcript = [
  line("user", "u", null, { role: "user", content: "which file?" }),
  line("assistant", "a", "u", {
    id: "m",
    model: "claude-opus-4-5",
    content: [{ type: "tool_use", id: "t", name: "LS", input: {} }],
  }),
  line("user", "r", "a", {
    content: [{ type: "tool_result", tool_use_id: "t", content: "a.txt" }],
  }),
];

it("a transcript of Claude Code is continued with --continue", async () => {
  const when = { lastUserMatches: "^and now\\?$" };
  const place = makePlace({
    scenario: [{ when, content: "Still a.txt." }],
    arguments: ["--mode", "json", "--continue", "and now?"],
  });
  writeFileSync(join(place.folder, "claude.jsonl"), transcript.join(""));
  const done = await runCommand(place, ["import", "../claude.jsonl"]);
  expect(done.code).toBe(0);
  const [path = "", ...said] = done.stdout.split("\n");
  expect(said).toContain("2 messages, 1 call and 1 result of Claude Code");
  // Control characters of the transcript never reach a terminal unescaped.
  expect(done.stdout).toContain("it worked in /elsewhere\ufffd[2J; the session is for");
  const host = startHost({}, { place });
  host.child.stdin.end();
  expect((await host.ended).code).toBe(0);
  expect(host.stdout).toContain("Still a.txt.");
  const exported = await runCommand(place, ["export", path, "--format", "markdown", "-o", "-s.md"]);
  expect(exported).toMatchObject({ code: 0, stderr: "" });
});

it("importing a file that is not a transcript creates nothing", async () => {
  const place = makePlace();
  writeFileSync(join(place.cwd, "notes.jsonl"), '{"type":"user","uuid":"u","sessionId":"s"}\n');
  const refusal = async (...words: string[]) =>
    (await runCommand(place, ["import", ...words])).stderr;
  expect(await refusal("notes.jsonl")).toMatch(
    /Could not import .*notes\.jsonl: it has no messages/,
  );
  expect(await refusal()).toContain("name the transcript");
  expect(await refusal("gone.jsonl")).toContain("gone.jsonl: no such file");
  expect(await refusal("notes.jsonl", "--from", "cursor")).toContain("claude-code, codex");
  const sessions = join(place.folder, "agent", "sessions");
  const left = readdirSync(sessions, { recursive: true }).map(String);
  expect(left.filter((name) => /\.(jsonl|tmp)$/.test(name))).toEqual([]);
});
