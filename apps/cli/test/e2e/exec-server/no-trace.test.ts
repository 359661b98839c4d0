import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { toolCall } from "@tau-agent/ai/testing";
import { expect, it, onTestFinished } from "vitest";
import { nextLike } from "../../support/next-like.ts";
import { makePlace } from "../../support/place.ts";
import { git, worker } from "../../support/repository-place.ts";
import { startHost } from "../../support/start-host.ts";

// So many processes take a while on a busy machine.

const file = fileURLToPath(new URL("../../../dist/exec-server.js", import.meta.url));

/** The files below a folder that contain a text. */
function filesWith(text: string, folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text));
}

const calls = [
  ["read", { path: "secret.txt" }],
  ["grep", { pattern: "trace" }],
  ["bash", { command: "cat secret.txt; while read -r line; do echo $line; done <many.txt" }],
  ["edit", { path: "secret.txt", oldText: "old\n", newText: "new\n" }],
  ["write", { path: "made.txt", content: "made\n" }],
  ["bash", { command: "cp secret.txt copied.txt; cat many.txt", background: true, notify: true }],
  [
    "task",
    {
      task: "<w1>",
      isolated: true,
      verify: { commands: [{ name: "v", command: "cat copy.txt" }] },
    },
  ],
] as const;

it.each(["exec", "shell"] as const)(
  "a project behind the workspace form %s leaves only its session on the host's disk",
  async (form) => {
    const folder = mkdtempSync(join(tmpdir(), "tau-there-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    const at = (...names: string[]) => join(folder, ...names);
    for (const name of ["home", "tmp", "project"]) mkdirSync(at(name));
    const trace = `trace-${randomBytes(8).toString("hex")}`;
    writeFileSync(at("project/secret.txt"), `old\n${trace}\n`);
    writeFileSync(at("project/AGENTS.md"), `Context of ${trace}.\n`);
    writeFileSync(at("project/many.txt"), `${trace}\n`.repeat(20_000));
    for (const words of [
      ["init", "-q"],
      ["add", "-A"],
      ["commit", "-qm", "first"],
    ]) {
      git(at("project"), ...words);
    }
    const variables = ["env", `HOME=${at("home")}`, `TMPDIR=${at("tmp")}`];
    const forms = {
      exec: { command: [...variables, process.execPath, file], cwd: at("project") },
      shell: { shell: [...variables, "sh", "-c"], cwd: at("project") },
    };
    const content = calls.map(([name, args]) => toolCall(name, args as Record<string, unknown>));
    const copying = toolCall("bash", { command: "cp secret.txt copy.txt; cat many.txt" });
    const scenario = [...worker("<w1>", [copying]), ...worker("Go", content)];
    const settings = { "task.verification.enabled": true, "rewind.enabled": true };
    const place = makePlace({
      scenario,
      arguments: ["--workspace", JSON.stringify(forms[form])],
      files: { "agent/settings.json": JSON.stringify(settings), "tmp/.keep": "" },
    });
    const TMPDIR = join(place.folder, "tmp");
    const host = startHost({}, { place: { ...place, variables: { ...place.variables, TMPDIR } } });
    host.send({ id: "p", type: "prompt", message: "Go" });
    await nextLike(host, { type: "prompt_result", id: "p" });
    expect(host.stdout).toContain(trace);
    expect((await host.finish()).code).toBe(0);
    // The workspace was used: long outputs are kept on the other machine.
    expect(readFileSync(at("project/copied.txt"), "utf8")).toContain(trace);
    const outputs = filesWith(trace, at("home/.cache/tau"));
    expect(outputs.some((path) => path.includes("/outputs/"))).toBe(true);
    expect(outputs.some((path) => path.includes("/jobs/"))).toBe(true);
    const { folder: here } = host.place;
    const found = filesWith(trace, here).map((path) => relative(here, path));
    expect(found.filter((path) => !path.startsWith("agent/sessions/"))).toEqual([]);
    expect(found.length).toBeGreaterThan(0);
    expect(existsSync(join(here, "agent", "jobs"))).toBe(false);
  },
);
