import { ToolError } from "@tau-agent/agent";
import { describe, expect, it } from "vitest";
import { repository } from "../isolation/__fixtures__/isolated.ts";
import { listReplacements } from "../isolation/merge/apply-patch.ts";
import { openRepository } from "../isolation/repository/repository.ts";
import { Git } from "./git.ts";

/** A git that holds at most eight bytes of output in memory. */
function smallGit() {
  const workspace = repository({ "a-file-with-a-long-name.txt": "text\n" });
  return { workspace, cwd: workspace.directory, git: new Git(workspace.environment(), 8) };
}

const tooMuch = (command: string) =>
  new RegExp(`^git ${command} gave more than 8 bytes in /.*ignore`);

describe("output of git that is too large to hold", () => {
  it.each(["names", "run", "try"] as const)(
    "is an error that names the command (%s)",
    async (how) => {
      const { git, cwd } = smallGit();
      const listing = git[how](["ls-files", "-z"], { cwd });
      await expect(listing).rejects.toThrow(ToolError);
      await expect(listing).rejects.toThrow(tooMuch("ls-files"));
      expect(await git.run(["ls-files", "a.txt"], { cwd })).toBe("a.txt\n");
    },
  );

  it("applies no change that is only partly known", async () => {
    const { git, cwd, workspace } = smallGit();
    const whole = new Git(workspace.environment());
    const repositoryOf = await openRepository(whole, cwd, {
      folder: cwd,
      isTrusted: false,
      maxCopyBytes: 1,
      signal: undefined,
    });
    const to = (await whole.run(["rev-parse", "HEAD"], { cwd })).trim();
    const empty = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
    const trees = { from: empty, to, prefix: "" };
    await expect(listReplacements(git, repositoryOf, trees)).rejects.toThrow(tooMuch("diff-tree"));
  });

  it("is passed on piece by piece; of long error messages the beginning is kept", async () => {
    const { git, cwd } = smallGit();
    let read = "";
    await git.feed(["cat-file", "blob", "HEAD:a.txt"], { cwd }, (chunk) => {
      read += chunk.toString();
    });
    expect(read).toBe("one\ntwo\nthree\n");
    await expect(git.run(["rev-parse", "--verify", "nothing"], { cwd })).rejects.toThrow(
      /failed in .*: fatal: N$/,
    );
  });
});
