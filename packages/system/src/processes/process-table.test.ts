import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { createProcessFinder, type ProcessMoment, processMoment } from "./process-table.ts";

describe.runIf(process.platform === "linux")("processes with a mark", () => {
  const parent = process.ppid;
  // The mark that the parent of this process was started with.
  const [mark = ""] = readFileSync(`/proc/${parent}/environ`, "utf8").split("\0", 1);
  const [, name = "", value] = /^([^=]+)=(.*)$/s.exec(mark) ?? [];

  it("are found whenever they were started if another process may have made the mark", () => {
    const found = [...createProcessFinder({ mark, leaders: new Set() }).findNew()];
    expect(found).toContain(parent);
  });

  const now = processMoment() as ProcessMoment;
  const find = (since: ProcessMoment) => [
    ...createProcessFinder({ mark, leaders: new Set(), since }).findNew(),
  ];

  it("are not looked for among processes older than the mark", () => {
    const start = (): { readonly since: ProcessMoment; readonly child: ChildProcess } => {
      const since = processMoment() as ProcessMoment;
      const child = spawn("sleep", ["60"], { env: { [name]: value } });
      onTestFinished(() => void child.kill("SIGKILL"));
      // If process ids have just begun again, every process may be younger than the mark.
      return (child.pid ?? 0) > since.lastPid ? { since, child } : start();
    };
    const { since, child } = start();
    const found = find(since);
    expect(found).toContain(child.pid);
    expect(found).not.toContain(parent);
  });

  it.each([
    ["have begun again", { ...now, lastPid: now.lastPid + 100_000_000 }],
    ["may all have been given since", { ...now, started: now.started - 100_000_000 }],
  ])("are found whenever they were started if process ids %s", (_, since) => {
    expect(find(since)).toContain(parent);
  });
});
