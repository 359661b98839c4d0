import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { NewSessionRequest, RequestPermissionRequest } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { Editor } from "../support/acp-editor.ts";

/** A model that writes a file in a folder next to the project at each prompt. */
async function start() {
  const asked: RequestPermissionRequest[] = [];
  const write = (path: string) => [
    {
      content: [{ type: "toolCall" as const, name: "write", arguments: { path, content: "x" } }],
    },
    "Done.",
  ];
  const editor = await Editor.start({
    isBuilt: true,
    scenario: [1, 2, 3].flatMap((number) => write(`../library/${number}.txt`)),
    arguments: ["--permission-mode", "acceptEdits"],
    answers: (app) =>
      app.onRequest("session/request_permission", ({ params }) => {
        asked.push(params);
        return { outcome: { outcome: "selected", optionId: "reject_once" } };
      }),
  });
  const { cwd } = editor.place;
  const library = join(cwd, "../library");
  mkdirSync(library);
  const isWritten = (number: number) => existsSync(join(library, `${number}.txt`));
  return { editor, cwd, library, asked, isWritten };
}

describe("the additional folders of a session", () => {
  it("allow accepted edits until a load omits them", async () => {
    const { editor, cwd, library, asked, isWritten } = await start();
    const { agent } = editor;
    const wanted: NewSessionRequest = {
      cwd,
      mcpServers: [],
      additionalDirectories: [cwd, library, library],
    };
    const { sessionId } = await agent.request("session/new", wanted);
    await editor.prompt(sessionId, "one");
    expect(asked).toEqual([]);
    expect(isWritten(1)).toBe(true);
    const { sessions } = await agent.request("session/list", {});
    expect(sessions).toMatchObject([{ sessionId, cwd, additionalDirectories: [library] }]);

    await agent.request("session/resume", { ...wanted, sessionId });
    await editor.prompt(sessionId, "two");
    expect(asked).toEqual([]);
    expect(isWritten(2)).toBe(true);

    await agent.request("session/load", { sessionId, cwd, mcpServers: [] });
    await editor.prompt(sessionId, "three");
    expect(asked).toMatchObject([{ sessionId, toolCall: { kind: "edit" } }]);
    expect(isWritten(3)).toBe(false);
    const [listed] = (await agent.request("session/list", {})).sessions;
    expect(listed).not.toHaveProperty("additionalDirectories");
  });

  it("must exist and have absolute paths", async () => {
    const { editor, cwd } = await start();
    for (const wrong of ["library", join(cwd, "missing")]) {
      const order = { cwd, mcpServers: [], additionalDirectories: [cwd, wrong] };
      await expect(editor.agent.request("session/new", order)).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining("additionalDirectories[1]"),
      });
    }
  });
});
