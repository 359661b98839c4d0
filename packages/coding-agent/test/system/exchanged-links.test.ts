import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { SessionSandbox, ToolEnvironment } from "@tau-agent/system";
import { expect, it } from "vitest";
import { describeWith } from "../../../../scripts/testing/describe-with.ts";
import { toolCall } from "../../../system/src/processes/__fixtures__/workspace.ts";
import { bubblewrapIsMissing } from "../../../system/src/sandbox/__fixtures__/has-bubblewrap.ts";
import { SandboxedPlace } from "../../../system/src/sandbox/__fixtures__/sandboxed-place.ts";
import { ReadLedger } from "../../src/tools/common/read-ledger.ts";
import { runEditTool } from "../../src/tools/edit/edit.ts";
import { runReadTool } from "../../src/tools/read/read.ts";
import { runWriteTool } from "../../src/tools/write/write.ts";

/** A tool environment in which a folder is replaced by a link right after its path was approved. */
function exchanging(
  place: SandboxedPlace,
  after: "refuseRead" | "refuseWrite",
): ToolEnvironment & { readonly readLedger: ReadLedger } {
  const { project, outside, sandbox } = place;
  let isDone = false;
  const exchange = (): void => {
    if (isDone) return;
    isDone = true;
    renameSync(join(project, "folder"), join(project, "moved"));
    symlinkSync(outside, join(project, "folder"));
  };
  const proxy = new Proxy(sandbox as SessionSandbox, {
    get(target, name) {
      const member = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        const result = Reflect.apply(member, target, args);
        if (name === after) exchange();
        return result;
      };
    },
  });
  return { ...place.tools, sandbox: proxy, readLedger: new ReadLedger() };
}

function prepare(place: SandboxedPlace): void {
  mkdirSync(join(place.project, "folder"));
  writeFileSync(join(place.project, "folder", "file"), "inside");
}

describeWith(bubblewrapIsMissing)("a link that is exchanged between check and opening", () => {
  it("cannot redirect a write outside", async () => {
    await using place = new SandboxedPlace();
    prepare(place);
    await place.enter();
    const environment = exchanging(place, "refuseWrite");
    const write = runWriteTool({ path: "folder/file", content: "evil" }, environment, toolCall());
    await expect(write).rejects.toThrow(/sandbox/);
    expect(readFileSync(join(place.outside, "file"), "utf8")).toBe("untouched");
  });

  it("cannot redirect a new file outside", async () => {
    await using place = new SandboxedPlace();
    prepare(place);
    await place.enter();
    const environment = exchanging(place, "refuseWrite");
    const write = runWriteTool({ path: "folder/new", content: "evil" }, environment, toolCall());
    await expect(write).rejects.toThrow(/sandbox/);
    expect(existsSync(join(place.outside, "new"))).toBe(false);
  });

  it("cannot redirect an edit outside", async () => {
    await using place = new SandboxedPlace();
    prepare(place);
    await place.enter();
    const environment = exchanging(place, "refuseWrite");
    const edit = { path: "folder/file", oldText: "untouched", newText: "evil" };
    await expect(runEditTool(edit, environment, toolCall())).rejects.toThrow(/sandbox/);
    expect(readFileSync(join(place.outside, "file"), "utf8")).toBe("untouched");
  });

  it.each([10, 400_000])("cannot redirect a read of %i bytes to a closed file", async (size) => {
    await using place = new SandboxedPlace();
    prepare(place);
    writeFileSync(join(place.outside, "file"), `the-secret${" ".repeat(size)}`);
    await place.enter({ denyRead: [place.outside] });
    const environment = exchanging(place, "refuseRead");
    const read = runReadTool({ path: "folder/file" }, environment, toolCall());
    await expect(read).rejects.toThrow(/sandbox/);
  });
});
