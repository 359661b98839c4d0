import { RpcClient } from "@tau-agent/rpc-client";
import { describe, expect, it, onTestFinished } from "vitest";
import { makePlace } from "../support/place.ts";
import { binPath, runHost } from "../support/start-host.ts";

const broken = `export default () => { throw new Error("the guard is broken"); };`;
const settings = (entry: string) => JSON.stringify({ extensions: [entry] });

describe("a named extension that cannot be loaded", () => {
  const modes = [["--mode", "rpc"], ["--mode", "json", "hi"], ["-p", "hi"], ["--list-models"]];

  it.each(modes)("prevents the start of %s %s", async (...mode) => {
    const files = { "guard.ts": broken };
    const result = await runHost({ files, arguments: ["-e", "../guard.ts", ...mode] });
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toMatch(/^tau: error: .*guard\.ts.*the guard is broken/);
    expect(result.stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(4);
    expect(result.stderr).not.toMatch(/^ {4}at /m);
  });

  it.each([
    ["that is missing", {}, "none.ts", "There is no extension at"],
    ["that is no module", { "agent/bad.ts": "export default 7 7" }, "bad.ts", "bad.ts"],
    ["without a function", { "agent/bad.ts": "export const a = 1" }, "bad.ts", "not a function"],
  ])("prevents the start if the settings name one %s", async (_, files, entry, reason) => {
    const given = { ...files, "agent/settings.json": settings(entry) };
    const result = await runHost({ files: given, scenario: ["hi"], arguments: ["-p", "hi"] });
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toContain("tau: error:");
    expect(result.stderr).toContain(reason);
  });

  it("prevents the start if -e names a package that is not installed", async () => {
    const result = await runHost({ arguments: ["-e", "npm:gone", "-p", "hi"] });
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toContain("npm:gone is not installed");
  });

  describe("that is a package installed only in the project", () => {
    const code = `export default (pi) => pi.registerCommand("guard", { handler: async () => {} });`;
    const start = (...given: string[]) =>
      runHost(
        {
          files: { "project/.pi/npm/node_modules/guard/index.js": code },
          arguments: ["--mode", "rpc", "-e", "npm:guard", ...given],
        },
        '{"id":"1","type":"get_commands"}\n',
      );

    it.each([[[]], [["--no-approve"]]])("prevents the start without trust (%j)", async (given) => {
      const result = await start(...given);
      expect(result).toMatchObject({ code: 1, stdout: "" });
      expect(result.stderr).toMatch(/^tau: error: .*npm:guard is only installed in the project/);
      expect(result.stderr).toContain("--approve");
      expect(result.stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(4);
    });

    it("loads with trust", async () => {
      const result = await start("--approve");
      expect(result.code).toBe(0);
      expect(result.stdout).toContain('"name":"guard"');
    });
  });

  it("rejects the start of an RpcClient with the reason", async () => {
    const place = makePlace({ files: { "guard.ts": broken }, arguments: ["-e", "../guard.ts"] });
    const client = new RpcClient({
      cliPath: binPath,
      cwd: place.cwd,
      env: place.variables,
      args: place.arguments.slice(2),
    });
    onTestFinished(async () => {
      await client.stop();
      place.remove();
    });
    await expect(client.start()).rejects.toThrow("the guard is broken");
  });
});

it("an extension that is discovered but cannot be loaded causes a diagnostic", async () => {
  const files = { "agent/extensions/guard.ts": broken };
  const result = await runHost({ files, scenario: ["Hello."], arguments: ["-p", "hi"] });
  expect(result).toMatchObject({ code: 0, stdout: "Hello.\n" });
  expect(result.stderr).toContain("the guard is broken");
});

it("a named extension that loads takes part in the session", async () => {
  const code = `export default (pi) => pi.registerCommand("guard", { handler: async () => {} });`;
  const host = { files: { "guard.ts": code }, arguments: ["--mode", "rpc", "-e", "../guard.ts"] };
  const result = await runHost(host, '{"id":"1","type":"get_commands"}\n');
  expect(result.code).toBe(0);
  expect(result.stdout).toContain('"name":"guard"');
});
