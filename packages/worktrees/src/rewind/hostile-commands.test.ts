import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { ProtectedFiles } from "@tau-agent/system";
import { expect, it } from "vitest";
import { describeWith } from "../../../../scripts/testing/describe-with.ts";
import {
  exchangeInLoop,
  exchangeIsMissing,
  fillFolders,
  loopFiles,
} from "../../../system/src/sandbox/__fixtures__/exchange-loop.ts";
import { bubblewrapIsMissing } from "../../../system/src/sandbox/__fixtures__/has-bubblewrap.ts";
import { SandboxedPlace } from "../../../system/src/sandbox/__fixtures__/sandboxed-place.ts";
import { createFolder } from "./__fixtures__/folders.ts";
import { RewindEngine } from "./rewind-engine.ts";
import { ObjectStore } from "./store/object-store.ts";
import { treeContent } from "./store/tree-objects.ts";

function open(place: SandboxedPlace): Promise<RewindEngine> {
  return RewindEngine.open({
    environment: {
      ...place.tools,
      protectedFiles: new ProtectedFiles(place.agentDirectory, ["auth.json"]),
    },
    folder: place.project,
    directory: join(place.agentDirectory, "rewind"),
    ownFolders: [place.agentDirectory],
    sessionId: "s1",
    keep: 100,
    limits: { maxFileBytes: 1e8, maxTotalBytes: 1e9 },
  });
}

async function prompt(engine: RewindEngine, entryId: string, work: () => unknown): Promise<void> {
  await engine.begin(entryId);
  await work();
  await engine.end();
}

function takeBack(engine: RewindEngine, entryId: string) {
  const request = { entryId, isSince: () => true, position: 0, length: 1, leafId: null };
  return engine.takeBack({ ...request, dryRun: false });
}

/** The content of every object in git and in the agent directory. */
function objectsOf({ project, agentDirectory }: SandboxedPlace): string {
  const stores = join(agentDirectory, "rewind", "stores");
  const own = existsSync(stores) ? readdirSync(stores).map((name) => join(stores, name)) : [];
  return [join(project, ".git"), ...own].filter(existsSync).map(contents).join("");
}

function contents(gitDir: string): string {
  const args = ["--git-dir", gitDir, "cat-file", "--batch-all-objects", "--batch"];
  return execFileSync("git", args, { encoding: "latin1", maxBuffer: 1e9 });
}

it("creates neither hooks nor extensions from a forged tree", async () => {
  const test = createFolder("git");
  const engine = await test.engine();
  test.write("a", "1");
  await prompt(engine, "m1", () => test.write("a", "2"));
  const objects = join(test.folder, ".git/objects");
  const refs = test.git("for-each-ref", "--format=%(refname)", "refs/tau").trim().split("\n");
  const before = `${refs.find((ref) => /cp-/.test(ref))}~1`;
  const tree = test.git("rev-parse", `${before}:files`).trim();
  const forge = new ObjectStore(undefined as never, {
    ...{ gitDir: join(test.folder, ".git"), algorithm: "sha1", temporaryDirectory: test.root },
  });
  const blob = forge.write("blob", Buffer.from("#!/bin/sh\n"));
  const folderWith = (name: string, mode: string, id: string) =>
    forge.write("tree", treeContent([{ name, mode, id }]));
  const hooks = folderWith("hooks", "40000", folderWith("post-commit", "100755", blob));
  const extensions = folderWith("extensions", "40000", folderWith("x.ts", "100644", blob));
  const content = treeContent([
    { name: ".git", mode: "40000", id: hooks },
    { name: ".pi", mode: "40000", id: extensions },
    { name: ".mcp.json", mode: "100644", id: blob },
    { name: "new", mode: "100644", id: blob },
  ]);
  const file = join(objects, tree.slice(0, 2), tree.slice(2));
  chmodSync(file, 0o600);
  writeFileSync(
    file,
    deflateSync(Buffer.concat([Buffer.from(`tree ${content.length}\0`), content])),
  );
  const { files } = await takeBack(engine, "m1");
  expect(files.conflicts.map(({ path }) => path)).toEqual(
    expect.arrayContaining([".git/hooks/post-commit", ".mcp.json", ".pi/extensions/x.ts"]),
  );
  expect(readdirSync(join(test.folder, ".git/hooks"))).not.toContain("post-commit");
  expect(existsSync(join(test.folder, ".pi"))).toBe(false);
  expect(existsSync(join(test.folder, ".mcp.json"))).toBe(false);
  expect(existsSync(join(test.folder, "new"))).toBe(true);
});

describeWith(bubblewrapIsMissing)("snapshots with a sandbox", () => {
  it("cannot be reached by commands", async () => {
    await using place = await new SandboxedPlace().enter();
    const engine = await open(place);
    await prompt(engine, "m1", () => place.run("echo changed > file.txt"));
    expect(place.git("for-each-ref", "refs/tau")).toBe("");
    const store = join(place.agentDirectory, "rewind");
    expect(readdirSync(store)).toContain("stores");
    const { output } = await place.run(`find ${store}; cat ${store}/journals/*; touch ${store}/x`);
    expect(output).not.toMatch(/stores|journals\/\w+\.jsonl\n|begin/);
    expect(readdirSync(store)).not.toContain("x");
    const { files } = await takeBack(engine, "m1");
    expect(files.changed).toEqual([{ path: "file.txt", change: "restored" }]);
    expect(readFileSync(join(place.project, "file.txt"), "utf8")).toBe("one\n");
  });

  it.each(["git", "plain"])("contain no closed files (%s)", async (kind) => {
    await using place = new SandboxedPlace();
    const { project, agentDirectory } = place;
    if (kind === "plain") rmSync(join(project, ".git"), { recursive: true });
    writeFileSync(join(project, ".env"), "TOKEN=the-closed-one");
    mkdirSync(join(project, "secrets"));
    writeFileSync(join(project, "secrets", "deep"), "the-closed-one");
    linkSync(join(project, ".env"), join(project, "other-name"));
    linkSync(join(agentDirectory, "auth.json"), join(project, "keys"));
    await place.enter({ denyRead: [".env", join(project, "secrets")] });
    const engine = await open(place);
    await prompt(engine, "m1", () => place.run("echo changed > file.txt"));
    expect(objectsOf(place)).toContain("changed");
    expect(objectsOf(place)).not.toMatch(/the-closed-one|the-secret/);
    const [checkpoint] = await engine.list(() => "text");
    expect(checkpoint?.notCovered).toEqual([".env", "keys", "other-name", "secrets"]);
    const { files } = await takeBack(engine, "m1");
    expect(files.changed).toEqual([{ path: "file.txt", change: "restored" }]);
    expect(readFileSync(join(project, ".env"), "utf8")).toBe("TOKEN=the-closed-one");
  });

  it("restore nothing in the hooks folder named in git's settings", async () => {
    await using place = new SandboxedPlace();
    place.git("config", "core.hooksPath", "my-hooks");
    await place.enter();
    const engine = await open(place);
    const hooks = join(place.project, "my-hooks");
    mkdirSync(hooks);
    // A change by a person during the run counts as a change by the prompt.
    writeFileSync(join(hooks, "pre-commit"), "old");
    await prompt(engine, "m1", () => writeFileSync(join(hooks, "pre-commit"), "new"));
    const { files } = await takeBack(engine, "m1");
    expect(files.conflicts.map(({ path }) => path)).toEqual(["my-hooks/pre-commit"]);
    expect(readFileSync(join(hooks, "pre-commit"), "utf8")).toBe("new");
  });
});

describeWith(exchangeIsMissing)("a job that keeps swapping a folder for a link", () => {
  it("gets no outside file into a snapshot", async () => {
    await using place = new SandboxedPlace();
    fillFolders(place);
    await place.enter({ denyRead: [place.outside] });
    const stop = await exchangeInLoop(place);
    for (let count = 0; count < 6; count++) {
      rmSync(join(place.agentDirectory, "rewind", "known"), { recursive: true, force: true });
      const engine = await open(place);
      await prompt(engine, `m${count}`, () => writeFileSync(join(place.project, "x"), `${count}`));
    }
    await stop();
    expect(objectsOf(place)).toContain("inside");
    expect(objectsOf(place)).not.toContain("the-secret");
  });

  it("makes no rewind write or delete files outside", async () => {
    await using place = new SandboxedPlace();
    const { project, outside } = place;
    fillFolders(place);
    await place.enter();
    const outsideNow = () =>
      readdirSync(outside).map((name) => [name, readFileSync(join(outside, name), "utf8")]);
    const before = outsideNow();
    expect(before).toHaveLength(loopFiles + 1);
    // If the link is in place at a rewind's first check, the rewind changes nothing, which proves nothing here.
    for (let round = 0, rewinds = 0; rewinds < 3 && round < 8; round++) {
      const engine = await open(place);
      await prompt(engine, `m${round}`, () => {
        for (let number = 0; number < loopFiles; number++) {
          writeFileSync(join(project, "folder", `file-${number}`), `round ${round}`);
          writeFileSync(join(project, "folder", `new-${round}-${number}`), "new");
          writeFileSync(join(outside, `new-${round}-${number}`), "new");
        }
      });
      const stop = await exchangeInLoop(place);
      const { files } = await takeBack(engine, `m${round}`);
      if (files.changed.length > 0) rewinds += 1;
      await stop();
      for (let number = 0; number < loopFiles; number++) {
        const path = join(outside, `new-${round}-${number}`);
        expect(existsSync(path), path).toBe(true);
        rmSync(path);
      }
    }
    expect(outsideNow()).toEqual(before);
  });
});
