import { expect, it } from "vitest";
import { createTestSession, placesIn, temporaryFolder } from "./__fixtures__/test-session.ts";
import { createAgentSession } from "./create-agent-session.ts";

it.each([
  [{ provider: "nobody" }, "Invalid option provider: "],
  [{ session: { kind: "new", id: "a/b" } }, "Invalid option session.id: "],
  [{ cwd: undefined }, "Invalid option cwd: expected a string, got nothing"],
  [{ cwd: "/no/such/folder" }, "Invalid option cwd: there is no folder "],
  [{ cwd: process.execPath }, "is not a folder"],
  [{ settings: { a: 1 } }, "Invalid option settings: expected a SettingsStore; "],
  [{ session: { kind: "lastest" } }, 'got "lastest"; the nearest is latest'],
  [{ session: { kind: "file" } }, "Invalid option session.path: expected a string, got nothing"],
  [{ session: "latest" }, 'Invalid option session: expected an object, got "latest"'],
  [{ thinkingLevel: "hi" }, 'Invalid option thinkingLevel: expected one of "off", '],
  [{ models: "sonnet" }, "Invalid option models: expected a list of strings"],
  [{ approve: true }, "Invalid option approve: expected a function, got true"],
] as const)("names the option of the library that is wrong: %o", async (options, text) => {
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

it("takes a folder that is elsewhere, with files and commands that are there", async () => {
  const { homeDirectory } = placesIn(temporaryFolder());
  const files = { readText: async () => "", writeText: async () => {} } as never;
  const options = { homeDirectory, files, cwd: "/no/such/folder", provider: "scripted" };
  const session = await createAgentSession({ ...options, session: { kind: "memory" } });
  await session.dispose();
});

it.each([
  [[undefined], "Invalid option text: expected a string, got nothing"],
  [[{ text: "hi" }], "Invalid option text: expected a string, got an object"],
  [["hi", { streamingBehavior: "stear" }], 'got "stear"; the nearest is steer'],
  [["hi", "steer"], 'Invalid option options: expected an object, got "steer"'],
])("names what is wrong with a prompt: %j", async (given, text) => {
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
