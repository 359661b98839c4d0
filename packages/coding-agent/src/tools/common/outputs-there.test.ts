import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join, posix } from "node:path";
import { type Workspace, WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Workspace as Place } from "../../../../system/src/processes/__fixtures__/workspace.ts";
import { justBashWorkspace } from "../../../../system/src/workspaces/sandbox-session/__fixtures__/just-bash.ts";
import { OutputsThere } from "./outputs-there.ts";

let place: Place;
let calls: string[];
/** Called before and after each call; an exception here becomes the call's error. */
let meet: (call: string, when: "before" | "after") => void;
beforeEach(() => {
  place = new Place();
  calls = [];
  meet = () => {};
});
afterEach(() => place[Symbol.dispose]());

function outputs(): OutputsThere {
  const { workspace } = place.environment();
  const observed = new Proxy(workspace, {
    get(target, name: keyof Workspace) {
      const value = target[name];
      if (typeof value !== "function") return value;
      if (name === "describe") return value.bind(target);
      return async (...args: unknown[]) => {
        calls.push(name);
        meet(name, "before");
        const result = await (value as (...args: unknown[]) => unknown).apply(target, args);
        meet(name, "after");
        return result;
      };
    },
  });
  return new OutputsThere(observed, { homeDirectory: place.directory, path: posix });
}

const folder = () => place.path(".cache", "tau", "outputs");

async function write(opened: OutputsThere, name: string, pieces: readonly string[]) {
  const file = opened.open(name);
  for (const piece of pieces) await file.write(Buffer.from(piece));
  await file.close();
  return file;
}

it("writes a typical output in one call, readable only by the user", async () => {
  const opened = outputs();
  await write(opened, "first.log", ["a"]);
  calls.length = 0;
  const { path, failure } = await write(opened, "second.log", ["one\n", "two\n"]);
  expect(calls).toEqual(["write"]);
  expect(failure).toBeUndefined();
  expect(path).toBe(join(folder(), "second.log"));
  expect(readFileSync(path, "utf8")).toBe("one\ntwo\n");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(place.path(".cache", "tau")).mode & 0o777).toBe(0o700);
});

const pieces = Array.from({ length: 9 }, (_, index) => `${index}`.repeat(1_500_001));

it("keeps all of a long output, even if calls were lost before or after they took effect", async () => {
  for (const when of ["before", "after"] as const) {
    for (let which = 0; which < 6; which += 1) {
      let seen = 0;
      meet = (_, at) => {
        if (at === when && seen++ === which) throw new WorkspaceError("lost", "workspace lost");
      };
      const { path, failure } = await write(outputs(), `${when}-${which}.log`, pieces);
      expect(failure).toBeUndefined();
      expect(readFileSync(path, "utf8") === pieces.join("")).toBe(true);
    }
  }
});

it("keeps all of a long output in a sandbox with few programs", async () => {
  const workspace = await justBashWorkspace();
  const { homeDirectory } = await workspace.describe();
  const opened = new OutputsThere(workspace, { homeDirectory, path: posix });
  const { path, failure } = await write(opened, "long.log", pieces);
  expect(failure).toBeUndefined();
  expect(Buffer.from(await workspace.read(path)).equals(Buffer.from(pieces.join("")))).toBe(true);
});

it("reports why the file is incomplete", async () => {
  meet = (call) => {
    if (call === "write") throw new WorkspaceError("no_space", "No space is left");
  };
  const { path, failure } = await write(outputs(), "full.log", pieces);
  expect(failure?.message).toBe("No space is left");
  expect(existsSync(path)).toBe(false);
});

it("removes outputs that are older than ten days", async () => {
  mkdirSync(folder(), { recursive: true });
  const days = (count: number) => Date.now() / 1000 - count * 24 * 3600;
  for (const [name, age] of [
    ["old.log", 12],
    ["recent.log", 9],
  ] as const) {
    writeFileSync(join(folder(), name), "");
    utimesSync(join(folder(), name), days(age), days(age));
  }
  await write(outputs(), "new.log", ["x"]);
  expect(readdirSync(folder()).toSorted()).toEqual(["new.log", "recent.log"]);
});
