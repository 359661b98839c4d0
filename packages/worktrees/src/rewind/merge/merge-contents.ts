import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Git } from "../../git/git.ts";
import type { ObjectStore } from "../store/object-store.ts";
import type { MergeContents } from "./merge-state.ts";

/** Larger files are not merged line by line. */
const maxBytes = 16 * 1024 * 1024;

/** Merges stored contents line by line with git, and stores the result. */
export function createMergeContents(git: Git, store: ObjectStore): MergeContents {
  const { temporaryDirectory } = store.place;
  return async (base, ours, theirs) => {
    const contents = new Map<string, Buffer>();
    await store.read([base, ours, theirs], (id, content) => {
      if (content !== undefined) contents.set(id, content);
    });
    mkdirSync(temporaryDirectory, { recursive: true, mode: 0o700 });
    const folder = mkdtempSync(join(temporaryDirectory, "merge-"));
    try {
      const files = ["ours", "base", "theirs"].map((name) => join(folder, name));
      for (const [index, id] of [ours, base, theirs].entries()) {
        const content = contents.get(id);
        if (content === undefined || content.length > maxBytes) return undefined;
        writeFileSync(files[index] ?? "", content, { mode: 0o600 });
      }
      const chunks: Buffer[] = [];
      await git.feed(["merge-file", "-p", "--quiet", ...files], { cwd: folder }, (chunk) =>
        chunks.push(chunk),
      );
      return store.write("blob", Buffer.concat(chunks));
    } catch {
      // Both changed the same lines, or the content is not text.
      return undefined;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}
