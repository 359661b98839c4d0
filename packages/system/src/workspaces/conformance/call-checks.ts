import type { WorkspaceCall, WorkspaceReach } from "@tau-agent/rpc-protocol/workspace";
import { type Bench, type Check, holds, rejects, same } from "./bench.ts";

type Calls = Readonly<Record<string, () => Promise<unknown>>>;

/** Every call that takes one path. */
function callsOn(
  { workspace }: Bench,
  path: string,
  options: WorkspaceCall & { within?: WorkspaceReach },
): Calls {
  return {
    stat: () => workspace.stat(path, options),
    list: () => workspace.list(path, options),
    read: () => workspace.read(path, options),
    write: () => workspace.write(path, Buffer.from("x"), options),
    createDirectory: () => workspace.createDirectory(path, options),
    rename: () => workspace.rename(path, `${path}2`, options),
    remove: () => workspace.remove(path, options),
  };
}

const methods = ["stat", "list", "read", "write", "createDirectory", "rename", "remove"] as const;

const relativeChecks = methods.map(
  (method): Check => ({
    name: `${method}() refuses a relative path: failed`,
    run: async (bench) => {
      const name = `${bench.folder.split(/[\\/]/u).at(-1)}-relative`;
      try {
        await rejects(
          "failed",
          callsOn(bench, name, {})[method] ?? (() => Promise.resolve()),
          method,
        );
      } finally {
        const made = `${bench.workspace.cwd}/${name}`;
        if ((await bench.workspace.stat(made)) !== undefined) await bench.workspace.remove(made);
      }
    },
  }),
);

const abortChecks = methods.map(
  (method): Check => ({
    name: `${method}() rejects with aborted when its signal is`,
    run: async (bench) => {
      await bench.write("file", "kept");
      const path =
        method === "list" ? bench.folder : bench.at(method === "createDirectory" ? "new" : "file");
      const calls = callsOn(bench, path, { signal: AbortSignal.abort() });
      await rejects("aborted", calls[method] ?? (() => Promise.resolve()), method);
      same(
        [await bench.names(), await bench.text("file")],
        [["file"], "kept"],
        "what is there after it",
      );
    },
  }),
);

const outsideChecks = methods.map(
  (method): Check => ({
    name: `${method}() outside of within is not_allowed, also by way of a link`,
    run: async (bench) => {
      const { inside, outside } = await twoFolders(bench);
      const isMade = method === "write" || method === "createDirectory";
      const names = method === "list" ? [""] : isMade ? ["/new"] : ["/file"];
      for (const name of names) {
        for (const folder of [outside, `${inside}/way`]) {
          const calls = callsOn(bench, `${folder}${name}`, {
            within: { allow: [inside], deny: [] },
          });
          await rejects(
            "not_allowed",
            calls[method] ?? (() => Promise.resolve()),
            `${method} of ${folder}${name}`,
          );
        }
      }
      same(await bench.names("outside"), ["file"], "the folder outside");
      same(await bench.text("outside/file"), "kept", "the file outside");
    },
  }),
);

async function twoFolders(bench: Bench): Promise<{ inside: string; outside: string }> {
  await bench.write("inside/file", "inside");
  await bench.write("outside/file", "kept");
  await bench.link(bench.at("outside"), "inside/way");
  return { inside: bench.at("inside"), outside: bench.at("outside") };
}

/** Rules for every call: absolute paths, signals, limits. */
export const callChecks: readonly Check[] = [
  ...relativeChecks,
  ...abortChecks,
  ...outsideChecks,
  {
    name: "a path with a NUL byte is failed",
    run: (bench) => rejects("failed", () => bench.workspace.read(`${bench.folder}/a\0b`), "read()"),
  },
  {
    name: "spawn() refuses a relative cwd",
    run: (bench) =>
      rejects("failed", () => bench.run({ command: "true", cwd: "relative" }), "spawn()"),
  },
  {
    name: "describe() rejects with aborted when its signal is",
    run: ({ workspace }) =>
      rejects("aborted", () => workspace.describe({ signal: AbortSignal.abort() }), "describe()"),
  },
  {
    name: "inside of within all is allowed",
    run: async (bench) => {
      const { inside } = await twoFolders(bench);
      const within = { allow: [inside], deny: [] };
      const { workspace } = bench;
      same((await workspace.stat(`${inside}/file`, { within }))?.kind, "file", "stat()");
      same((await workspace.read(`${inside}/file`, { within })).length, 6, "read()");
      same((await workspace.list(inside, { within })).length, 2, "list()");
      await workspace.write(`${inside}/new/file`, Buffer.from("x"), { within });
      await workspace.createDirectory(`${inside}/folder`, { within });
      await workspace.rename(`${inside}/new/file`, `${inside}/folder/file`, { within });
      await workspace.remove(`${inside}/folder/file`, { within });
    },
  },
  {
    name: "within judges what was really opened, and not_allowed names it",
    run: async (bench) => {
      const { inside, outside } = await twoFolders(bench);
      await bench.link(`${inside}/file`, "outside/in");
      const { workspace } = bench;
      const within = { allow: [inside], deny: [] };
      const bytes = await workspace.read(`${outside}/in`, { within });
      same(Buffer.from(bytes).toString(), "inside", "a link that leads inside");
      const real = (await workspace.stat(`${outside}/file`))?.realPath;
      try {
        await workspace.read(`${inside}/way/file`, { within });
      } catch (error) {
        if (real !== undefined)
          same((error as { path?: unknown }).path, real, "the path of not_allowed");
        return;
      }
      throw new Error("a link that leads outside was read");
    },
  },
  {
    name: "write() through a link that leads outside is not_allowed",
    run: async (bench) => {
      const { inside, outside } = await twoFolders(bench);
      await bench.link(`${outside}/file`, "inside/link");
      await bench.link(`${outside}/new`, "inside/dangling");
      const within = { allow: [inside], deny: [] };
      for (const name of ["link", "dangling"]) {
        const call = () => bench.workspace.write(`${inside}/${name}`, Buffer.from("x"), { within });
        await rejects("not_allowed", call, name);
      }
      same(
        [await bench.names("outside"), await bench.text("outside/file")],
        [["file"], "kept"],
        "outside",
      );
    },
  },
  {
    name: "deny wins over allow, for a file and for a folder",
    run: async (bench) => {
      const { inside } = await twoFolders(bench);
      await bench.write("inside/closed/file");
      const within = { allow: [bench.folder], deny: [`${inside}/file`, `${inside}/closed`] };
      for (const name of ["file", "closed/file"]) {
        await rejects(
          "not_allowed",
          () => bench.workspace.read(`${inside}/${name}`, { within }),
          name,
        );
      }
      await bench.workspace.read(bench.at("outside", "file"), { within });
    },
  },
  {
    name: "a folder whose name only begins alike is not inside",
    run: async (bench) => {
      await bench.write("in/file");
      await bench.write("inside/file");
      const within = { allow: [bench.at("in")], deny: [] };
      await rejects(
        "not_allowed",
        () => bench.workspace.read(bench.at("inside", "file"), { within }),
        "read()",
      );
    },
  },
  {
    name: "within is judged behind ..",
    run: async (bench) => {
      const { inside } = await twoFolders(bench);
      const within = { allow: [inside], deny: [] };
      const path = `${inside}/../outside/file`;
      await rejects("not_allowed", () => bench.workspace.read(path, { within }), "read()");
    },
  },
  {
    name: "rename() judges both ends",
    run: async (bench) => {
      const { inside, outside } = await twoFolders(bench);
      const within = { allow: [inside], deny: [] };
      const { workspace } = bench;
      await rejects(
        "not_allowed",
        () => workspace.rename(`${inside}/file`, `${outside}/new`, { within }),
        "out",
      );
      await rejects(
        "not_allowed",
        () => workspace.rename(`${outside}/file`, `${inside}/new`, { within }),
        "in",
      );
      holds((await workspace.stat(`${outside}/file`)) !== undefined, "the file outside is gone");
    },
  },
];
