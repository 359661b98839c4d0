import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sliceSize } from "../../../../scripts/testing/slice.ts";
import { call, git, hostsOf, repositoryPlace, worker } from "../support/repository-place.ts";
import { startHost } from "../support/start-host.ts";

const TASKS = sliceSize(5, 20);
const FILES = 500;

describe(`${TASKS} isolated tasks at once`, () => {
  it("run separately, are merged together and leave nothing behind", async () => {
    const ids = Array.from({ length: TASKS }, (_, index) => `t${String(index).padStart(2, "0")}`);
    // Each task writes its own file and its own line of a file that all of them change.
    const work = (id: string) => `echo ${id} > mine-${id}; sed -i 's/^${id}$/${id} done/' list.txt`;
    // A task's tree must not show changes of the others.
    const command =
      'test "$(ls mine-*)" = "$(git ls-files -o)" && test $(grep -c done list.txt) = 1 && test $(ls many | wc -l) = 500';
    const place = repositoryPlace(
      [
        ...ids.flatMap((id) => worker(`<${id}>`, call("bash", { command: work(id) }))),
        ...worker(
          "start",
          call("task", {
            tasks: ids.map((id) => ({ id, task: `<${id}>` })),
            isolated: true,
            verify: { commands: [{ name: "alone", command }] },
          }),
        ),
      ],
      { "task.verification.enabled": true, "task.maxConcurrency": TASKS },
    );
    mkdirSync(join(place.cwd, "many"));
    for (let index = 0; index < FILES; index++) {
      writeFileSync(join(place.cwd, "many", `${index}.txt`), `file ${index}\n`);
    }
    // The lines are far enough apart for independent changes.
    const list = (mark: string) => ids.map((id) => `${id}${mark}\n${"-\n".repeat(8)}`).join("");
    writeFileSync(join(place.cwd, "list.txt"), list(""));
    git(place.cwd, "add", "-A");
    git(place.cwd, "commit", "-qm", "many files");
    const host = startHost({}, { place });
    host.send({ type: "prompt", message: "start" });
    const { result } = await host.until({ "...": true, type: "tool_execution_end" }, 150_000);
    const results: Record<string, unknown>[] = Reflect.get(Object(result), "details").results;
    expect(results).toMatchObject(
      ids.map((id) => ({
        id,
        exitCode: 0,
        verification: { status: "passed" },
        patch: { status: "applied", files: ["list.txt", `mine-${id}`] },
      })),
    );
    await host.until({ "...": true, type: "prompt_result", status: "completed" });
    expect(readFileSync(join(place.cwd, "list.txt"), "utf8")).toBe(list(" done"));
    const changes = [" M list.txt", ...ids.map((id) => `?? mine-${id}`)];
    expect(git(place.cwd, "status", "--porcelain").trimEnd().split("\n")).toEqual(changes);
    expect(readdirSync(join(place.folder, "agent", "worktrees"))).toEqual([]);
    const registered = join(place.cwd, ".git", "worktrees");
    expect(existsSync(registered) ? readdirSync(registered) : []).toEqual([]);
    expect(hostsOf(place)).toEqual([host.child.pid]);
  });
});
