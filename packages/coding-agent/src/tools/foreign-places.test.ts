import { existsSync } from "node:fs";
import type { FileAccess, ForeignCommand, ToolEnvironment } from "@tau-agent/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  textOf,
  toolCall,
  Workspace,
} from "../../../system/src/processes/__fixtures__/workspace.ts";
import { runBashTool } from "./bash/bash.ts";
import { ReadLedger } from "./common/read-ledger.ts";
import { runEditTool } from "./edit/edit.ts";
import { changeOf, previewChange } from "./preview-change.ts";
import { runReadTool } from "./read/read.ts";
import { runWriteTool } from "./write/write.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace[Symbol.dispose]());

/** An editor with buffers that are not on the disk. */
function editor(buffers: Record<string, string>): FileAccess {
  return {
    readText: async (path) => {
      const text = buffers[path.slice(workspace.directory.length + 1)];
      if (text === undefined) throw Object.assign(new Error("no such file"), { code: "ENOENT" });
      return text;
    },
    writeText: async (path, text) => {
      buffers[path.slice(workspace.directory.length + 1)] = text;
    },
  };
}

const environment = (overrides: Partial<ToolEnvironment>) => ({
  ...workspace.environment(overrides),
  readLedger: new ReadLedger(),
});

describe("with the files of an editor", () => {
  it("read shows what is in the buffer, not what is on the disk", async () => {
    workspace.write({ "a.txt": "saved\n" });
    const files = editor({ "a.txt": "one\ntwo\nthree\n" });
    const read = (args: { path: string; offset?: number; limit?: number }) =>
      runReadTool(args, environment({ files }), toolCall());
    expect(textOf(await read({ path: "a.txt" }))).toBe("one\ntwo\nthree\n");
    expect(textOf(await read({ path: "a.txt", offset: 2, limit: 1 }))).toContain("two\n\n[1 more");
    await expect(read({ path: "none.txt" })).rejects.toThrow("File not found: none.txt.");
  });

  it("read shows an image from the disk", async () => {
    const pixel =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    workspace.write({ "a.png": Buffer.from(pixel, "base64") });
    const result = await runReadTool(
      { path: "a.png" },
      environment({ files: editor({}) }),
      toolCall(),
    );
    expect(result.content.map(({ type }) => type)).toEqual(["text", "image"]);
  });

  it("edit and write change the buffer and leave the disk alone", async () => {
    workspace.write({ "a.txt": "saved\n" });
    const buffers: Record<string, string> = { "a.txt": "one\ntwo\n" };
    const place = environment({ files: editor(buffers) });
    await runEditTool({ path: "a.txt", oldText: "two", newText: "2" }, place, toolCall());
    await runWriteTool({ path: "deep/new.txt", content: "fresh" }, place, toolCall());
    expect(buffers).toEqual({ "a.txt": "one\n2\n", "deep/new.txt": "fresh" });
    expect(workspace.read("a.txt")).toBe("saved\n");
    expect(existsSync(workspace.path("deep"))).toBe(false);
  });

  it("a change is shown against the buffer", async () => {
    workspace.write({ "a.txt": "saved\n" });
    const place = environment({ files: editor({ "a.txt": "one\ntwo\n" }) });
    const edit = { path: "a.txt", oldText: "two", newText: "2" };
    expect(await changeOf("edit", edit, place)).toEqual({
      file: workspace.path("a.txt"),
      before: "one\ntwo\n",
      after: "one\n2\n",
    });
    expect(await previewChange("edit", edit, place)).toContain("-two\n+2\n");
  });
});

it("a change of a file that is not there has no text before it", async () => {
  const place = environment({});
  const write = { path: "new.txt", content: "fresh\n" };
  expect(await changeOf("write", write, place)).toEqual({
    file: workspace.path("new.txt"),
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

it("bash runs where its commands are run, without keys and with its own variables", async () => {
  const asked: ForeignCommand[] = [];
  const place = workspace.environment({
    environment: { PATH: process.env.PATH, OPENAI_API_KEY: "secret", HOME: "/home/me" },
    keyVariables: ["OPENAI_API_KEY"],
    shellPath: "/bin/sh",
    shellCommandPrefix: "set -u",
    sessionVariables: () => ({ PI_SESSION_ID: "s1" }),
    runCommand: async (command) => {
      asked.push(command);
      await command.onOutput(Buffer.from("from afar\n"), "stdout");
      return { kind: "exited", exitCode: 0 };
    },
  });
  const call = toolCall();
  const result = await runBashTool({ command: "echo here", timeout: 7 }, place, call);
  expect(textOf(result)).toBe("from afar\n");
  expect(asked[0]).toMatchObject({
    toolCallId: call.toolCallId,
    file: "/bin/sh",
    args: ["-c", "set -u\necho here"],
    cwd: workspace.directory,
    timeoutMs: 7_000,
    signal: call.signal,
  });
  expect(asked[0]?.variables).toMatchObject({ OPENAI_API_KEY: "", PI_SESSION_ID: "s1" });
  expect(asked[0]?.variables).not.toHaveProperty("HOME");
});

it("bash says how a command elsewhere ended", async () => {
  const ending = (outcome: Awaited<ReturnType<NonNullable<ToolEnvironment["runCommand"]>>>) =>
    runBashTool(
      { command: "x" },
      workspace.environment({ runCommand: async () => outcome }),
      toolCall(),
    );
  await expect(ending({ kind: "exited", exitCode: 3 })).rejects.toThrow("exited with code 3");
  await expect(ending({ kind: "unknown" })).rejects.toThrow("without an exit code");
  await expect(ending({ kind: "aborted" })).rejects.toThrow("Command aborted");
});
