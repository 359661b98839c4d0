import { join } from "node:path";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { expect, it } from "vitest";
import {
  createTestSession,
  placesIn,
  temporaryFolder,
  userTexts,
} from "./__fixtures__/test-session.ts";
import { createAgentSession } from "./create-session.ts";
import type { SessionChoice } from "./options/session-start.ts";

it.each([
  [{ provider: "nobody" }, "Invalid option provider: "],
  [{ session: { kind: "new", id: "a/b" } }, "Invalid option session.id: "],
  [{ cwd: undefined }, "Invalid option cwd: expected a string, got nothing"],
  [{ cwd: "/no/such/folder" }, "Invalid option cwd: there is no folder "],
  [{ cwd: process.execPath }, "is not a folder"],
  [{ settings: { a: 1 } }, "Invalid option settings: expected a SettingsStore; "],
  [{ session: { kind: "lastest" } }, 'got "lastest"; the nearest is latest'],
  [{ session: { kind: "file" } }, "Invalid option session.path: expected a string, got nothing"],
  [
    { session: "memry" },
    'expected "memory", "continue", {path} or {kind}, got "memry"; the nearest is memory',
  ],
  [{ session: ["memory"] }, "Invalid option session: expected"],
  [{ session: { path: 1 } }, "Invalid option session.path: expected a string, got 1"],
  [{ session: { path: "a.jsonl", id: "b" } }, "Invalid option session.id: there is no such option"],
  [{ agentDir: "/x" }, "Invalid option agentDir: there is no such option"],
  [{ customTool: [] }, "there is no such option; the nearest is customTools"],
  [{ thinkinglevel: "high" }, "there is no such option; the nearest is thinkingLevel"],
  [{ thinkingLevel: "hi" }, 'Invalid option thinkingLevel: expected one of "off", '],
  [{ models: "sonnet" }, "Invalid option models: expected a list of strings"],
  [{ approve: true }, "Invalid option approve: expected a function, got true"],
] as const)("names the invalid option: %o", async (options, text) => {
  const places = placesIn(temporaryFolder());
  const refused = createAgentSession({
    ...{ ...places, provider: "scripted" },
    ...(options as object),
  });
  await expect(refused).rejects.toMatchObject({
    code: "invalid_option",
    message: expect.stringContaining(text),
  });
});

it("accepts the same words and paths for a session as the client does", async () => {
  const places = placesIn(temporaryFolder());
  const open = async (session: SessionChoice) => {
    const opened = await createAgentSession({ ...places, provider: "scripted", session });
    await opened.prompt("hi");
    const { sessionFile } = opened.state;
    await opened.dispose();
    return { sessionFile, asked: userTexts(opened.messages).length };
  };
  expect((await open("memory")).sessionFile).toBeUndefined();
  const path = join(places.cwd, "mine.jsonl");
  expect(await open({ path })).toEqual({ sessionFile: path, asked: 1 });
  expect(await open({ path })).toEqual({ sessionFile: path, asked: 2 });
  const { sessionFile } = await open({ kind: "new" });
  expect((await open("continue")).sessionFile).toBe(sessionFile);
});

it("accepts a folder that does not exist here if a client has its files", async () => {
  const { homeDirectory } = placesIn(temporaryFolder());
  const options = {
    homeDirectory,
    overlay: (local: Workspace) => local,
    cwd: "/no/such/folder",
    provider: "scripted",
  };
  const session = await createAgentSession({ ...options, session: { kind: "memory" } });
  await session.dispose();
});

it.each([
  [[undefined], "Invalid option text: expected a string, got nothing"],
  [[{ text: "hi" }], "Invalid option text: expected a string, got an object"],
  [["hi", { streamingBehavior: "stear" }], 'got "stear"; the nearest is steer'],
  [["hi", "steer"], 'Invalid option options: expected an object, got "steer"'],
])("names the problem of a prompt: %j", async (given, text) => {
  const { session } = await createTestSession(["one"]);
  const wrong = expect.objectContaining({
    code: "invalid_option",
    message: expect.stringContaining(text),
  });
  for (const name of ["prompt", "abortAndPrompt", "steer"] as const) {
    const call = session[name] as (...given: readonly unknown[]) => Promise<unknown>;
    await expect(call.apply(session, given)).rejects.toEqual(wrong);
  }
  expect(session.messages).toEqual([]);
});
