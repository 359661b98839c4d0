import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Editor } from "../support/acp-editor.ts";

const key = { type: "api_key", key: "stays" };
const login = { type: "oauth", access: "a", refresh: "r", expires: 9_999_999_999_999 };

it("logging out removes logins and keeps keys; new sessions wait until the editor authenticates", async () => {
  const auth = { anthropic: key, "openai-codex": login, "github-copilot": login };
  const editor = await Editor.start({
    isBuilt: true,
    scenario: ["one", "two"],
    files: { "agent/auth.json": JSON.stringify(auth) },
  });
  const { sessionId } = await editor.open();
  expect(await editor.agent.request("logout", {})).toEqual({});
  const stored = readFileSync(join(editor.place.folder, "agent", "auth.json"), "utf8");
  expect(JSON.parse(stored)).toEqual({ anthropic: key });
  const refused = { code: -32000, message: expect.stringContaining("authenticate first") };
  await expect(editor.open()).rejects.toMatchObject(refused);
  expect(await editor.prompt(sessionId, "go on")).toEqual({ stopReason: "end_turn" });
  await editor.agent.request("session/close", { sessionId });
  await expect(editor.prompt(sessionId, "from the disk")).rejects.toMatchObject(refused);
  expect(await editor.agent.request("authenticate", { methodId: "keys" })).toEqual({});
  expect(await editor.prompt(sessionId, "from the disk")).toEqual({ stopReason: "end_turn" });
});

it("logging out fails with the path of an auth.json that does not parse", async () => {
  const editor = await Editor.start({
    isBuilt: true,
    scenario: ["one"],
    files: { "agent/auth.json": "{oops" },
  });
  await expect(editor.agent.request("logout", {})).rejects.toMatchObject({
    code: -32603,
    message: expect.stringContaining("auth.json"),
  });
});
