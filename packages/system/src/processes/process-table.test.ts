import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createProcessFinder } from "./process-table.ts";

describe.runIf(process.platform === "linux")("processes with a mark", () => {
  const parent = process.ppid;
  // The mark that the parent of this process was started with.
  const [mark = ""] = readFileSync(`/proc/${parent}/environ`, "utf8").split("\0", 1);

  it("are found whenever they were started if another process may have made the mark", () => {
    const found = [...createProcessFinder({ mark, leaders: new Set() }).findNew()];
    expect(found).toContain(parent);
  });

  it("are not looked for among processes older than the one that made the mark", () => {
    const search = { mark, leaders: new Set<number>(), isOwnMark: true };
    expect([...createProcessFinder(search).findNew()]).not.toContain(parent);
  });
});
