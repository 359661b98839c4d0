import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { LocalWorkspace } from "@tau-agent/system";
import { expect, it } from "vitest";
import { git, project, run, verified, write } from "./__fixtures__/task-call.ts";

/** A project in a workspace on this machine that the host treats as remote. */
function elsewhere(files?: Record<string, string>) {
  const places = project(files);
  const cwd = String(places.cwd);
  const home = join(dirname(cwd), `home-${basename(cwd)}`);
  const workspace = new LocalWorkspace({ cwd, homeDirectory: home });
  Object.defineProperty(workspace, "id", { value: "box" });
  return { places: { ...places, workspace }, cwd, home };
}

const check = { name: "has it", command: "grep -q right a.txt || { echo wrong; exit 4; }" };

it("runs, verifies, repairs and merges isolated tasks in the remote workspace", async () => {
  const { places, cwd, home } = elsewhere();
  const { results } = await run(
    {
      task: "<a>",
      isolated: true,
      verify: { commands: [check], onFailure: "retry_once" },
    },
    {
      a: (step) => {
        if (step === 0) return write("a.txt", "bad\n");
        return step === 2 ? write("a.txt", "right\n") : `step ${step}`;
      },
    },
    { settings: verified, places },
  );
  expect(results).toMatchObject([
    {
      exitCode: 0,
      patch: { status: "applied", files: ["a.txt"], insertions: 1, deletions: 1 },
      verification: { status: "passed", retriesUsed: 1 },
    },
  ]);
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("right\n");
  expect(readFileSync(results[0]?.patch?.path ?? "", "utf8")).toContain("+right");
  expect(git(cwd, "status", "--porcelain")).toBe(" M a.txt\n");
  expect(readdirSync(join(home, ".cache/tau/worktrees"))).toEqual([]);
  expect(existsSync(join(String(places.agentDirectory), "worktrees"))).toBe(false);
});

it("limits file tools of an isolated subagent to its remote tree", async () => {
  const { places, cwd } = elsewhere();
  const outside = join(cwd, "..", `outside-${basename(cwd)}.txt`);
  writeFileSync(outside, "mine\n");
  symlinkSync(outside, join(cwd, "link"));
  const steps = [
    write("link", "theirs\n"),
    write(join(cwd, "a.txt"), "theirs\n"),
    write("made.txt", "made\n"),
  ];
  const { results } = await run(
    { task: "<one>", isolated: true },
    { one: (step) => steps[step] ?? "done" },
    { places },
  );
  expect(results).toMatchObject([{ status: "completed", patch: { files: ["made.txt"] } }]);
  expect(readFileSync(outside, "utf8")).toBe("mine\n");
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\n");
  expect(readFileSync(join(cwd, "made.txt"), "utf8")).toBe("made\n");
});
