import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import type { ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { expect, it } from "vitest";
import { MemoryWorkspace } from "../resources/__fixtures__/memory-workspace.ts";
import { createTestSession, placesIn, temporaryFolder } from "./__fixtures__/test-session.ts";

it("reads the user's own skills on this machine, and no other local file", async () => {
  const places = placesIn(temporaryFolder());
  const { cwd, agentDirectory = "" } = places;
  const there = new MemoryWorkspace({ cwd });
  const folder = join(agentDirectory, "skills", "sew");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "SKILL.md"), "---\ndescription: Sews\n---\nHow to sew.\n");
  writeFileSync(join(folder, "more.md"), "More of it.\n");
  const secret = join(agentDirectory, "secret.txt");
  writeFileSync(secret, "secret\n");
  symlinkSync(secret, join(folder, "link.md"));
  const paths = [
    join(folder, "SKILL.md"),
    join(folder, "more.md"),
    join(folder, "link.md"),
    join(folder, "../../secret.txt"),
    secret,
  ];
  let prompt = "";
  const { session } = await createTestSession(
    ({ systemPrompt, messages }) => {
      prompt = JSON.stringify(systemPrompt);
      const isFirst = !messages.some(({ role }) => role === "toolResult");
      return isFirst ? turn(paths.map((path) => toolCall("read", { path }))) : "done";
    },
    { ...places, workspace: there },
  );
  await session.prompt("Go");
  expect(prompt).toContain(join(folder, "SKILL.md"));
  const results = session.messages.filter(
    (message): message is ToolResultMessage => message.role === "toolResult",
  );
  const texts = results.map(({ content }) => JSON.stringify(content));
  expect(texts[0]).toContain("How to sew.");
  expect(texts[1]).toContain("More of it.");
  expect(results.map(({ isError }) => isError)).toEqual([false, false, true, true, true]);
});
