import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createHostModules } from "../pi-modules/host-modules.ts";
import type { ToolContext } from "./api/context.ts";
import { fakePort, systemIn } from "./port/__fixtures__/session-port.ts";

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-extensions-"));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

function put(path: string, text: string): string {
  const file = join(dir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function host() {
  return createHostModules({
    cwd: dir,
    agentDirectory: dir,
    homeDirectory: dir,
    temporaryDirectory: dir,
    environment: {},
    version: "0.0.0",
  });
}

describe("loading", () => {
  it("runs TypeScript with enums and parameter properties, including the extension's own imports", async () => {
    put("extensions/one/helper.ts", "export enum Colour { Red = 'red' }\n");
    put(
      "extensions/one/index.ts",
      `import { Colour } from "./helper.js";
       class Box { constructor(readonly colour: Colour) {} }
       export default (pi: any) => pi.registerCommand(new Box(Colour.Red).colour, { handler() {} });`,
    );
    const { system } = systemIn(dir);
    await system.load("own");
    expect(system.diagnostics).toEqual([]);
    expect(system.runner.commands.map(({ name }) => name)).toEqual(["red"]);
  });

  it("resolves pi's packages and TypeBox to the host", async () => {
    put(
      "extensions/tool.ts",
      `import { Type } from "@sinclair/typebox";
       import { Type as Newer } from "typebox";
       import { StringEnum } from "@mariozechner/pi-ai";
       import { truncateHead, DEFAULT_MAX_LINES, CustomEditor } from "@earendil-works/pi-coding-agent";
       import { Text, visibleWidth, matchesKey, Key } from "@mariozechner/pi-tui";
       class MyEditor extends CustomEditor {}
       export default (pi) => {
         new MyEditor(); new Text("x");
         pi.registerTool({
           name: "count", label: "Count", description: "Counts",
           parameters: Type.Object({ what: StringEnum(["a", "b"]), n: Type.Optional(Newer.Number()) }),
           async execute() {
             const text = [truncateHead("one").content, DEFAULT_MAX_LINES, visibleWidth("ab"), matchesKey("\\x1b", Key.escape)].join();
             return { content: [{ type: "text", text }], details: {} };
           },
         });
       };`,
    );
    const { system } = systemIn(dir, { hostModules: host() });
    await system.load("own");
    expect(system.diagnostics).toEqual([]);
    const [owned] = system.runner.tools;
    expect(JSON.parse(JSON.stringify(owned?.tool.parameters))).toEqual({
      type: "object",
      required: ["what"],
      properties: { what: { type: "string", enum: ["a", "b"] }, n: { type: "number" } },
    });
    const context = system.runner.context as ToolContext;
    const result = await owned?.tool.execute("1", {}, undefined, undefined, context);
    expect(result?.content).toEqual([{ type: "text", text: "one,2000,2,true" }]);
  });

  it("finds dependencies in the extension's own node_modules, even through a link", async () => {
    put("elsewhere/node_modules/dep/package.json", `{"name":"dep","main":"index.js"}`);
    put("elsewhere/node_modules/dep/index.js", `module.exports = { name: "from-dep" };`);
    put(
      "elsewhere/main.ts",
      `import { name } from "dep"; export default (pi) => pi.registerFlag(name, { type: "boolean" });`,
    );
    mkdirSync(join(dir, "extensions"));
    symlinkSync(join(dir, "elsewhere/main.ts"), join(dir, "extensions/linked.ts"));
    const { system } = systemIn(dir);
    await system.load("own");
    expect([...system.runner.flagTypes.keys()]).toEqual(["from-dep"]);
  });

  it("waits for an asynchronous factory", async () => {
    put(
      "extensions/later.js",
      `export default async (pi) => {
         await new Promise((resolve) => setTimeout(resolve, 5));
         pi.registerCommand("later", { handler() {} });
       };`,
    );
    const { system } = systemIn(dir);
    await system.load("own");
    expect(system.runner.commands.map(({ name }) => name)).toEqual(["later"]);
  });

  it("reports a broken extension and loads the others", async () => {
    put("extensions/a.ts", "export default (pi) => {");
    put("extensions/b.ts", "export const name = 1;");
    put("extensions/c.ts", `throw new Error("at import");`);
    put("extensions/d.ts", `export default (pi) => pi.registerCommand("d", { handler() {} });`);
    const { system } = systemIn(dir);
    await system.load("own");
    expect(system.runner.commands.map(({ name }) => name)).toEqual(["d"]);
    const messages = system.diagnostics.map(({ message }) => message);
    expect(messages).toHaveLength(3);
    expect(messages[1]).toContain("its default export is not a function");
    expect(messages[2]).toContain("at import");
  });

  it("removes everything that a factory registered before it failed", async () => {
    put(
      "extensions/half.ts",
      `export default (pi) => {
         pi.on("agent_start", () => {});
         pi.registerCommand("half", { handler() {} });
         pi.registerProvider("half", { baseUrl: "http://x", api: "openai-completions", apiKey: "k", models: [] });
         pi.events.on("news", () => { throw new Error("heard"); });
         throw new Error("half-way");
       };`,
    );
    put("extensions/whole.ts", `export default (pi) => { pi.events.emit("news", 1); };`);
    const { system, failures } = systemIn(dir);
    await system.load("own");
    expect(system.runner.commands).toEqual([]);
    expect(system.runner.has("agent_start")).toBe(false);
    expect(failures).toEqual([]);
    expect(system.diagnostics.map(({ message }) => message)).toEqual([
      expect.stringContaining("half-way"),
    ]);
  });

  it("refuses actions while loading, and invalid registrations", async () => {
    put(
      "extensions/early.ts",
      `export default (pi) => pi.sendMessage({ customType: "x", content: "y" });`,
    );
    put(
      "extensions/tool.ts",
      `export default (pi) => pi.registerTool({ name: "x", parameters: {} });`,
    );
    put("extensions/flag.ts", `export default (pi) => pi.registerFlag("x");`);
    const { system } = systemIn(dir);
    await system.load("own");
    expect(system.diagnostics.map(({ message }) => message)).toEqual([
      expect.stringContaining("pi.sendMessage cannot be used while the extension is being loaded"),
      expect.stringContaining("registerFlag: x has no options"),
      expect.stringContaining("x has no execute function"),
    ]);
  });

  it("keeps an extension with incomplete registrations: a tool without a schema, a command without a handler", async () => {
    put(
      "extensions/odd.ts",
      `export default (pi) => {
         pi.registerTool({ name: "bare", description: "", execute() {} });
         pi.registerCommand("/typed-with-slash", { handler() {} });
         pi.registerCommand("empty", { description: "does nothing" });
         pi.registerFlag("level", { type: "number", default: 3 });
         pi.registerCommand("level-" + pi.getFlag("level"), { handler() {} });
       };`,
    );
    const { system, failures } = systemIn(dir);
    await system.load("own");
    expect(system.diagnostics).toEqual([]);
    expect(system.runner.tools.map(({ tool }) => tool.parameters)).toEqual([
      { type: "object", properties: {} },
    ]);
    expect(system.runner.commands.map(({ name }) => name)).toEqual([
      "/typed-with-slash",
      "empty",
      "level-3",
    ]);
    const found = system.runner.findCommand("/empty");
    if (found !== undefined) await system.runner.runCommand(found.command, found.args);
    expect(failures).toMatchObject([{ event: "command:empty", error: "/empty has no handler" }]);
  });
});

describe("conflicts", () => {
  it("keeps the first tool, numbers the second command, and reports both", async () => {
    const text = (label: string) =>
      `export default (pi) => {
         pi.registerTool({ name: "t", label: "${label}", description: "", parameters: {}, execute() {} });
         pi.registerCommand("c", { description: "${label}", handler() {} });
         pi.registerFlag("f", { type: "string", default: "${label}" });
       };`;
    put("extensions/a.ts", text("first"));
    put("extensions/b.ts", text("second"));
    const { system } = systemIn(dir);
    await system.load("own");
    expect(system.runner.tools.map(({ tool }) => tool.label)).toEqual(["first"]);
    expect(system.runner.commandInfos).toMatchObject([
      { name: "c", description: "first" },
      { name: "c:1", description: "second" },
    ]);
    expect(system.diagnostics).toHaveLength(2);
  });

  it("gives extensions from the command line precedence over discovered ones", async () => {
    put(
      "extensions/a.ts",
      `export default (pi) => pi.registerCommand("x", { description: "found", handler() {} });`,
    );
    const named = put(
      "named.ts",
      `export default (pi) => pi.registerCommand("x", { description: "named", handler() {} });`,
    );
    const { system } = systemIn(dir, { paths: [named] });
    await system.load("own");
    expect(system.runner.findCommand("/x a b")).toMatchObject({
      command: { command: { description: "named" } },
      args: "a b",
    });
  });
});

describe("flags", () => {
  it("have the command line's value or the default, and unknown flags are reported", async () => {
    put(
      "extensions/flags.ts",
      `export default (pi) => {
         pi.registerFlag("plan", { type: "boolean", default: false });
         pi.registerFlag("depth", { type: "string", default: "3" });
         pi.registerCommand(pi.getFlag("plan") + "-" + pi.getFlag("depth"), { handler() {} });
       };`,
    );
    const { system } = systemIn(dir, {
      flagValues: new Map<string, string | true>([
        ["plan", true],
        ["nobody", "x"],
      ]),
    });
    await system.load("own");
    expect(system.runner.commands.map(({ name }) => name)).toEqual(["true-3"]);
    expect(system.diagnostics.map(({ message }) => message)).toEqual([
      expect.stringContaining("--nobody"),
    ]);
  });
});

describe("a session that ends", () => {
  const remembers = `export default (pi) => {
    let context;
    pi.on("session_start", (_event, ctx) => { context = ctx; });
    pi.on("session_shutdown", (event) => pi.events.emit("down", event.reason));
    pi.registerCommand("use", { handler: () => pi.setSessionName("x") });
    globalThis.tauTest = { pi, context: () => context };
  };`;

  it("leaves stale objects that refuse to act on the next session", async () => {
    put("extensions/a.ts", remembers);
    const { system } = systemIn(dir);
    await system.load("own");
    await system.bind(fakePort(dir));
    await system.runner.emit({ type: "session_start", reason: "startup" });
    const old = (
      globalThis as unknown as {
        tauTest: { pi: { setSessionName(name: string): void }; context(): { model: unknown } };
      }
    ).tauTest;
    const next = fakePort(dir);
    await system.renew("a new session", next);
    expect(() => old.pi.setSessionName("x")).toThrow(/stale after a new session/);
    expect(() => old.context().model).toThrow(/stale/);
    expect(next.calls).toEqual([]);
  });

  it("is announced once, with its reason", async () => {
    put(
      "extensions/a.ts",
      `export default (pi) => pi.on("session_shutdown", (event) => pi.setSessionName(event.reason));`,
    );
    const { system } = systemIn(dir);
    await system.load("own");
    const port = fakePort(dir);
    await system.bind(port);
    await system.shutdown({ reason: "quit" });
    await system.shutdown({ reason: "quit" });
    expect(port.calls).toEqual([["setName", "quit"]]);
  });

  it("loads changed code on reload", async () => {
    const file = put(
      "extensions/a.ts",
      `export default (pi) => pi.registerCommand("one", { handler() {} });`,
    );
    const { system } = systemIn(dir);
    await system.load("own");
    await system.bind(fakePort(dir));
    writeFileSync(file, `export default (pi) => pi.registerCommand("two", { handler() {} });`);
    await system.reload(fakePort(dir));
    expect(system.runner.commands.map(({ name }) => name)).toEqual(["two"]);
  });
});

it("asks the user's extensions whether to trust a project; the first answer wins", async () => {
  put(
    "extensions/a.ts",
    `export default (pi) => pi.on("project_trust", () => ({ trusted: "undecided" }));`,
  );
  put(
    "extensions/b.ts",
    `export default (pi) => pi.on("project_trust", () => ({ trusted: "yes", remember: true }));`,
  );
  put(
    "extensions/c.ts",
    `export default (pi) => pi.on("project_trust", () => ({ trusted: "no" }));`,
  );
  const { system } = systemIn(dir);
  await system.load("own");
  expect(await system.askTrust()).toEqual({ isTrusted: true, remember: true });
});
