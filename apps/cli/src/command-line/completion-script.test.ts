import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { subcommands } from "../commands/index.ts";
import { completionScript } from "./completion-script.ts";

/** What bash offers to complete the last word of a command line. */
function completed(...words: string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), "tau-completion-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "here.jsonl"), "");
  // biome-ignore lint/suspicious/noTemplateCurlyInString: bash expands it
  const ask = 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tau; printf "%s\\n" "${COMPREPLY[@]}"';
  const script = `${completionScript("bash", subcommands)}\n${ask}`;
  const run = spawnSync("bash", ["-euc", script, "bash", "tau", ...words], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(run.stderr).toBe("");
  return run.stdout.split("\n").filter((line) => line !== "");
}

describe("in bash", () => {
  it.each([
    [["ins"], ["install"]],
    [["--mod"], ["--mode", "--model", "--models"]],
    [
      ["--mode", ""],
      ["text", "json", "rpc"],
    ],
    [["-p", "--thinking", "h"], ["high"]],
    [
      ["mcp", "l"],
      ["list", "login", "logout"],
    ],
    [
      ["mcp", "add", "--he"],
      ["--header", "--help"],
    ],
    [["completion", "f"], ["fish"]],
    [["--session", "he"], ["here.jsonl"]],
    [["--provider", ""], []],
    [["rewind", "--d"], ["--dry-run"]],
  ])("completes %j to %j", (words, found) => expect(completed(...words)).toEqual(found));

  it("offers every command", () => {
    expect(completed("")).toEqual(expect.arrayContaining(subcommands.map(({ name }) => name)));
  });
});

const shells = ["zsh", "fish"] as const;
const isThere = (shell: string) => spawnSync(shell, ["-c", "exit 0"]).status === 0;

it.each(shells.filter(isThere))("completes the script argument of %s", (shell) => {
  const folder = mkdtempSync(join(tmpdir(), "tau-completion-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "tau"), completionScript(shell, subcommands));
  const words = shell === "fish" ? ["--no-execute"] : ["-n"];
  const { status, stderr } = spawnSync(shell, [...words, join(folder, "tau")], {
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});

it("gives fish one line for each option and command", () => {
  const script = completionScript("fish", subcommands);
  expect(script).toContain("-l model -x -d ");
  expect(script).toContain("-l mode -x -a 'text json rpc'");
  for (const { name } of subcommands) expect(script).toContain(`-a ${name} -d '`);
});
