import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createAgentSession } from "../create-session.ts";
import type { ExtensionOptions } from "../options/extension-options.ts";

function start(factories: ExtensionOptions["factories"]) {
  const folder = mkdtempSync(join(tmpdir(), "tau-factories-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return createAgentSession({
    cwd: folder,
    homeDirectory: folder,
    agentDirectory: join(folder, "agent"),
    environment: {},
    session: { kind: "memory" },
    extensions: { hostModules: async () => ({}), factories },
  });
}

it("accepts a bare function as an extension", async () => {
  const session = await start([
    (pi) => pi.registerCommand("greet", { handler: async () => {} }),
    { name: "named", factory: (pi) => pi.registerCommand("part", { handler: async () => {} }) },
  ]);
  const names = (await session.listCommands()).map(({ name }) => name);
  expect(names).toEqual(["greet", "part"]);
  await session.dispose();
});

it("rejects when such a function throws", async () => {
  const failing = () => {
    throw new RangeError("no guard");
  };
  await expect(start([failing])).rejects.toMatchObject({
    code: "extension_unusable",
    message: expect.stringContaining("no guard"),
  });
});
