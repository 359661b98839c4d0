import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RpcClient } from "@tau-agent/rpc-client";
import { expect, it, onTestFinished } from "vitest";
import { projectOfPage } from "./project-of-page.ts";
import { commandFolder, runProgram } from "./run-program.ts";

const node = process.execPath;

/** The files of the page, in a folder as its reader has it, and a home of its own. */
function readersProject() {
  const cwd = projectOfPage("first-extension.md");
  const home = mkdtempSync(join(tmpdir(), "tau-page-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return { cwd, env: { HOME: home, PI_CODING_AGENT_DIR: join(home, "agent") } };
}

it("has at most 40 lines, and types that fit", () => {
  const { cwd } = readersProject();
  const path = join(cwd, "first-extension.ts");
  expect(readFileSync(path, "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(40);
  const types = fileURLToPath(new URL("../../node_modules/@types", import.meta.url));
  const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
  const words = [
    "--noEmit",
    "--strict",
    "--noUnusedLocals",
    "--skipLibCheck",
    "--typeRoots",
    types,
  ];
  const target = ["--module", "nodenext", "--target", "es2024", "--types", "node"];
  const done = spawnSync(node, [tsc, ...words, ...target, path], { cwd, encoding: "utf8" });
  expect(done).toMatchObject({ status: 0, stdout: "" });
});

it("answers as the page says: the guard blocks, the tool writes", async () => {
  const { cwd, env } = readersProject();
  const page = readFileSync(new URL("../first-extension.md", import.meta.url), "utf8");
  const [, line = ""] = /^tau (-e .*first-extension\.json .*)$/m.exec(page) ?? [];
  const words = line.split(/ (?=(?:[^"]*"[^"]*")*[^"]*$)/).map((word) => word.replaceAll('"', ""));
  const tau = join(commandFolder, "tau");
  const done = await runProgram([tau, ...words], { cwd, env });
  expect(done).toMatchObject({ exitCode: 0, stdout: "It is in the notes.\n" });
  expect(readFileSync(join(cwd, "NOTES.md"), "utf8")).toBe("- The tests are slow\n");
});

it("shows the notes to a client, and asks no model", async () => {
  const { cwd, env } = readersProject();
  const shown: string[] = [];
  const client = new RpcClient({
    command: [join(commandFolder, "tau")],
    cwd,
    env,
    args: ["--no-session", "-e", "./first-extension.ts", "--provider", "scripted"],
    ui: { notify: ({ message }) => void shown.push(message) },
  });
  await client.start();
  onTestFinished(async () => void (await client.stop()));
  const { commands } = await client.getCommands();
  expect(commands.map(({ name }) => name)).toContain("notes");
  await client.promptAndWait("/notes");
  await expect.poll(() => shown).toEqual(["No notes yet"]);
  expect(existsSync(join(cwd, "NOTES.md"))).toBe(false);
});
