import { existsSync } from "node:fs";
import { type Workspace as Place, WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  textOf,
  toolCall,
  Workspace,
} from "../../../system/src/processes/__fixtures__/workspace.ts";
import {
  type MemoryCommand,
  MemoryWorkspace,
} from "../../../system/src/workspaces/__fixtures__/memory-workspace.ts";
import { runBash } from "./bash/run-bash.ts";
import { createTools } from "./index.ts";
import { changeOf, previewChange } from "./preview-change.ts";

const cwd = "/nowhere-on-this-host/project";

let host: Workspace;
beforeEach(() => {
  host = new Workspace();
});
afterEach(() => host[Symbol.dispose]());

/** The tools of a session whose files exist only in memory, so that access to the disk finds nothing. */
function toolsIn(files: Record<string, string | Uint8Array>, run?: MemoryCommand) {
  const place = new MemoryWorkspace(cwd, run);
  place.put(files);
  const environment = host.environment({
    cwd,
    homeDirectory: "/home/nobody-here",
    workspace: place,
    isWindows: false,
  });
  const tools = createTools(environment);
  const call = async (name: string, args: Record<string, unknown>) => {
    place.calls.length = 0;
    const tool = tools.find((each) => each.name === name);
    return textOf((await tool?.execute(args, toolCall())) ?? { content: [] });
  };
  return { place, environment, call };
}

describe("tools in a workspace without files on the disk", () => {
  it("read files and ranges in one round trip", async () => {
    const { place, call } = toolsIn({ "a.txt": "one\ntwo\nthree\n" });
    expect(await call("read", { path: "a.txt" })).toBe("one\ntwo\nthree\n");
    expect(place.calls).toEqual([`read ${cwd}/a.txt`]);
    expect(await call("read", { path: "a.txt", offset: 2, limit: 1 })).toContain("two\n\n[1 more");
    await expect(call("read", { path: "none" })).rejects.toThrow("File not found: none.");
    await expect(call("read", { path: "." })).rejects.toThrow(". is a directory, not a file.");
    await expect(call("read", { path: "a.txt/x" })).rejects.toThrow("A part of the path a.txt/x");
  });

  it("take one more round trip to read each 4 MiB", async () => {
    const line = `${"x".repeat(1023)}\n`;
    const { place, call } = toolsIn({ "big.txt": line.repeat(9 * 1024) });
    expect(await call("read", { path: "big.txt", offset: 9216 })).toBe(line);
    expect(place.calls).toHaveLength(3);
  });

  it("find other spellings, the home directory and images in the workspace", async () => {
    const pixel =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const { call } = toolsIn({
      "it\u2019s.txt": "found",
      "@notes": "literal",
      "/home/nobody-here/x": "home",
      "a.png": Buffer.from(pixel, "base64"),
    });
    expect(await call("read", { path: "it's.txt" })).toBe("found");
    expect(await call("read", { path: "@notes" })).toBe("literal");
    expect(await call("read", { path: "~/x" })).toBe("home");
    expect(await call("read", { path: "a.png" })).toContain("Read image file [image/png]");
  });

  it("edit and write files in the workspace, in at most two round trips", async () => {
    const { place, call } = toolsIn({ "a.txt": "one\ntwo\n" });
    await call("edit", { path: "a.txt", oldText: "two", newText: "2" });
    expect(place.calls).toEqual([`read ${cwd}/a.txt`, `write ${cwd}/a.txt`]);
    expect(place.text("a.txt")).toBe("one\n2\n");
    await call("write", { path: "deep/new.txt", content: "fresh" });
    expect(place.calls).toEqual([`write ${cwd}/deep/new.txt`]);
    expect(place.text("deep/new.txt")).toBe("fresh");
    await expect(call("write", { path: "deep", content: "x" })).rejects.toThrow("Add a file name");
    await expect(call("write", { path: "a.txt/b", content: "x" })).rejects.toThrow(
      "Cannot write a.txt/b: a part of the path is a file",
    );
    expect(existsSync(cwd)).toBe(false);
  });

  it("list, grep and find in the workspace even if it has no search", async () => {
    const { call } = toolsIn({
      ".gitignore": "ignored\n",
      ".git/HEAD": "",
      "src/a.ts": "first\nneedle 1\nlast\n",
      "src/b.md": "needle 2\n",
      ignored: "needle 3\n",
    });
    expect(await call("ls", {})).toBe(".git/\n.gitignore\nignored\nsrc/");
    expect(await call("ls", { path: "src" })).toBe("a.ts\nb.md");
    await expect(call("ls", { path: "src/a.ts" })).rejects.toThrow("Not a directory: src/a.ts.");
    expect(await call("grep", { pattern: "needle" })).toBe(
      "src/a.ts:2: needle 1\nsrc/b.md:1: needle 2",
    );
    expect(await call("grep", { pattern: "needle", path: "src/a.ts", context: 1 })).toBe(
      "a.ts-1- first\na.ts:2: needle 1\na.ts-3- last",
    );
    expect(await call("grep", { pattern: "needle", limit: 1 })).toContain(
      "[1 matches limit reached",
    );
    expect(await call("find", { pattern: "**/*.ts" })).toBe("src/a.ts");
    expect(await call("find", { pattern: "src" })).toBe("src/");
    await expect(call("find", { pattern: "*", path: "none" })).rejects.toThrow(
      "Path not found: none",
    );
  });

  it("compare a change with the file in the workspace", async () => {
    const { environment } = toolsIn({ "a.txt": "one\ntwo\n" });
    const edit = { path: "a.txt", oldText: "two", newText: "2" };
    const file = `${cwd}/a.txt`;
    const [before, after] = ["one\ntwo\n", "one\n2\n"];
    expect(await changeOf("edit", edit, environment)).toEqual({ file, before, after });
    expect(await previewChange("edit", edit, environment)).toContain("-two\n+2\n");
  });
});

it("use the workspace's search, and drop lines that it repeats", async () => {
  const { place, call } = toolsIn({ f: "" });
  const match = { path: `${cwd}/f`, line: 2, text: "hit", before: ["a"], after: ["hit too"] };
  const next = { path: `${cwd}/f`, line: 3, text: "hit too", before: ["hit"], after: ["z"] };
  (place as Place).search = async () => ({ matches: [match, next], truncated: false });
  expect(await call("grep", { pattern: "hit", context: 1 })).toBe(
    "f-1- a\nf:2: hit\nf:3: hit too\nf-4- z",
  );
});

it("show no earlier text for a change of a missing file", async () => {
  const place = host.environment();
  const write = { path: "new.txt", content: "fresh\n" };
  expect(await changeOf("write", write, place)).toEqual({
    file: host.path("new.txt"),
    before: undefined,
    after: "fresh\n",
  });
  expect(await previewChange("write", write, place)).toContain("+fresh");
  expect(await changeOf("write", { path: ".", content: "x" }, place)).toBeUndefined();
  expect(await changeOf("edit", { path: "none", oldText: "a", newText: "b" }, place)).toBe(
    undefined,
  );
  expect(await changeOf("bash", { command: "rm -r ." }, place)).toBeUndefined();
});

describe("commands in a remote workspace", () => {
  it("run there, without keys and with the variables of the session", async () => {
    const asked: Parameters<MemoryCommand>[0][] = [];
    const { environment } = toolsIn({}, async (options) => {
      asked.push(options);
      await options.onOutput(Buffer.from("from afar\n"), "stdout");
      return { exitCode: 0 };
    });
    const place = {
      ...environment,
      environment: { PATH: process.env.PATH, OPENAI_API_KEY: "secret", HOME: "/home/me" },
      keyVariables: ["OPENAI_API_KEY"],
      shellCommandPrefix: "set -u",
      sessionVariables: () => ({ PI_SESSION_ID: "s1" }),
    };
    const bash = createTools(place).find(({ name }) => name === "bash");
    const result = await bash?.execute({ command: "echo here", timeout: 7 }, toolCall());
    expect(result && textOf(result)).toBe("from afar\n");
    expect(asked[0]).toMatchObject({ command: "set -u\necho here", cwd, timeoutMs: 7_000 });
    expect(asked[0]?.environment).toMatchObject({ OPENAI_API_KEY: null, PI_SESSION_ID: "s1" });
    expect(asked[0]?.environment).not.toHaveProperty("HOME");
    const result2 = await runBash("echo here", { environment: place });
    expect(result2).toMatchObject({ output: "from afar\n", exitCode: 0 });
  });

  it.each([
    ["an exit code", { exitCode: 3 }, "Command exited with code 3"],
    ["no exit code", { exitCode: null }, "Command ended without an exit code"],
    ["a signal", { exitCode: null, signal: "SIGSEGV" }, "Command was killed by signal SIGSEGV"],
    ["a limit", { exitCode: null, signal: "SIGTERM", timedOut: true }, "Command timed out"],
  ])("end with %s", async (_, exit, text) => {
    const { call } = toolsIn({}, async () => exit);
    await expect(call("bash", { command: "x" })).rejects.toThrow(text);
  });
});

it("a lost workspace leads to a clear error, and nothing runs here instead", async () => {
  const { place, call } = toolsIn({ "a.txt": "one\n" });
  const lost = () => Promise.reject(new WorkspaceError("lost"));
  Object.assign(place, { stat: lost, list: lost, read: lost, write: lost, spawn: lost });
  for (const [name, args] of [
    ["read", { path: "a.txt" }],
    ["edit", { path: "a.txt", oldText: "one", newText: "1" }],
    ["write", { path: "a.txt", content: "x" }],
    ["ls", {}],
    ["grep", { pattern: "x" }],
    ["find", { pattern: "x" }],
    ["bash", { command: "true" }],
  ] as const) {
    await expect(call(name, args)).rejects.toThrow("workspace lost");
  }
});
