import { workspaceLimits } from "@tau-agent/rpc-protocol/workspace";
import { type Check, holds, rejects, same } from "./bench.ts";

const isAbsolute = /^(?:\/|[A-Za-z]:[\\/]|\\\\)/u;

/** Checks of a workspace's description, and of the facts about a path. */
export const statChecks: readonly Check[] = [
  {
    name: "describe() names platform, folders, shell and known limits",
    run: async ({ workspace, description }) => {
      const { platform, homeDirectory, temporaryDirectory, shell, limited } = description;
      holds(["linux", "darwin", "win32"].includes(platform), `platform: ${platform}`);
      for (const path of [homeDirectory, temporaryDirectory, workspace.cwd]) {
        holds(isAbsolute.test(path), `not an absolute path: ${path}`);
      }
      same((await workspace.stat(temporaryDirectory))?.kind, "directory", "temporaryDirectory");
      holds(typeof shell === "string" && shell !== "", "there is no shell");
      holds(Array.isArray(limited), "limited is not a list");
      same(
        limited.filter((word) => !Object.hasOwn(workspaceLimits, word)),
        [],
        "unknown limits",
      );
      holds(typeof workspace.id === "string" && workspace.id !== "", "there is no id");
    },
  },
  {
    name: "stat() tells kind and size of a file",
    run: async (bench) => {
      await bench.write("file", "12345");
      const found = await bench.workspace.stat(bench.at("file"));
      same([found?.kind, found?.size], ["file", 5], "kind and size");
    },
  },
  {
    name: "stat() tells a folder",
    run: async ({ workspace, folder }) =>
      same((await workspace.stat(folder))?.kind, "directory", "kind"),
  },
  {
    name: "stat() follows a link",
    run: async (bench) => {
      await bench.write("file", "12345");
      await bench.link("file", "link");
      const found = await bench.workspace.stat(bench.at("link"));
      same([found?.kind, found?.size], ["file", 5], "stat() of a link");
    },
  },
  {
    name: "stat() without followLinks shows a link, also a dangling one",
    limits: ["link-kinds"],
    run: async (bench) => {
      await bench.write("file");
      await bench.link("file", "link");
      await bench.link("nothing", "dangling");
      for (const name of ["link", "dangling"]) {
        const found = await bench.workspace.stat(bench.at(name), { followLinks: false });
        same(found?.kind, "symlink", `the kind of ${name}`);
      }
    },
  },
  {
    name: "stat() of nothing is undefined",
    run: async (bench) => {
      same(await bench.workspace.stat(bench.at("nothing")), undefined, "nothing");
      same(await bench.workspace.stat(bench.at("no folder", "x")), undefined, "in no folder");
    },
  },
  {
    name: "stat() below a file is undefined",
    run: async (bench) => {
      await bench.write("file");
      same(await bench.workspace.stat(bench.at("file", "x")), undefined, "below a file");
    },
  },
  {
    name: "stat() of a dangling link is undefined",
    run: async (bench) => {
      await bench.link("nothing", "dangling");
      same(await bench.workspace.stat(bench.at("dangling")), undefined, "a dangling link");
    },
  },
  {
    name: "stat() of links that lead to themselves is undefined",
    run: async (bench) => {
      await bench.link("two", "one");
      await bench.link("one", "two");
      same(await bench.workspace.stat(bench.at("one")), undefined, "a loop of links");
    },
  },
  {
    name: "mode is the permission bits, without the kind",
    limits: ["file-mode"],
    run: async (bench) => {
      await bench.write("file");
      await bench.line('chmod 640 "$1"', bench.at("file"));
      same((await bench.workspace.stat(bench.at("file")))?.mode, 0o640, "mode");
    },
  },
  {
    name: "modifiedAt is in milliseconds, by the clock of the place",
    run: async (bench) => {
      const before = Number((await bench.line("date +%s")).stdout) * 1000;
      await bench.write("file");
      const at = (await bench.workspace.stat(bench.at("file")))?.modifiedAt;
      if (at === undefined) return;
      holds(Math.abs(at - before) < 15_000, `modifiedAt is ${at}, the clock was at ${before}`);
    },
  },
  {
    name: "modifiedAt is more exact than a second",
    limits: ["modified-at-seconds"],
    run: async (bench) => {
      const parts: number[] = [];
      for (const name of ["a", "b", "c", "d"]) {
        await bench.write(name);
        parts.push(((await bench.workspace.stat(bench.at(name)))?.modifiedAt ?? 0) % 1000);
      }
      holds(
        parts.some((part) => part !== 0),
        "whole seconds only",
      );
    },
  },
  {
    name: "realPath has no links",
    run: async (bench) => {
      await bench.workspace.createDirectory(bench.at("folder"));
      await bench.write("folder/file");
      await bench.link("folder", "way");
      const direct = await bench.workspace.stat(bench.at("folder", "file"));
      const found = await bench.workspace.stat(bench.at("way", "file"));
      same(found?.realPath, direct?.realPath, "realPath by way of a link");
    },
  },
  {
    name: "list() gives names and kinds",
    run: async (bench) => {
      await bench.write("file");
      await bench.workspace.createDirectory(bench.at("folder"));
      const entries = await bench.workspace.list(bench.folder);
      const rows = entries.map(({ name, kind }) => `${name} ${kind}`).toSorted();
      same(rows, ["file file", "folder directory"], "list()");
    },
  },
  {
    name: "list() shows links as links",
    limits: ["link-kinds"],
    run: async (bench) => {
      await bench.workspace.createDirectory(bench.at("folder"));
      for (const [target, name] of [
        ["folder", "a"],
        ["nothing", "b"],
      ] as const)
        await bench.link(target, name);
      const entries = await bench.workspace.list(bench.folder);
      const links = entries.filter(({ kind }) => kind === "symlink").map(({ name }) => name);
      same(links.toSorted(), ["a", "b"], "links");
    },
  },
  {
    name: "list() has hidden names, but neither . nor ..",
    run: async (bench) => {
      for (const name of [".hidden", "..two", "seen"]) await bench.write(name);
      same(await bench.names(), ["..two", ".hidden", "seen"], "list()");
    },
  },
  {
    name: "any name can be written, listed and read",
    limits: ["odd-names"],
    run: async (bench) => {
      const names = [
        "a b",
        "-n",
        "quo'te",
        'dou"ble',
        "$HOME",
        "back`tick`",
        "*",
        "[a]",
        "ü ☃ 𝄞",
        "#x",
        "~",
      ];
      if (bench.description.platform !== "win32")
        names.push("line\nbreak", "back\\slash", "end\n", "tab\t");
      for (const name of names) await bench.write(name, name);
      same(await bench.names(), names.toSorted(), "list()");
      for (const name of names)
        same(await bench.text(name), name, `the text of ${JSON.stringify(name)}`);
    },
  },
  {
    name: "a name that is not UTF-8 is listed with U+FFFD, and opens nothing",
    run: async (bench) => {
      const script = 'n=$(printf "x\\377y"); : >"$1/$n" 2>/dev/null; [ -e "$1/$n" ] || echo no';
      const made = await bench.run({ command: ["sh", "-c", script, "sh", bench.folder] });
      // Not every system can create such names.
      if (made.exit.exitCode !== 0 || made.stdout.length > 0 || made.stderr.length > 0) return;
      const names = await bench.names();
      if (names.length === 1 && !names[0]?.includes("\u{fffd}") && names[0] !== "x\u{ff}y") {
        throw new Error(`listed as ${JSON.stringify(names)}`);
      }
      if (names[0]?.includes("\u{fffd}")) {
        same(await bench.workspace.stat(bench.at(names[0])), undefined, "stat() of such a name");
      }
    },
  },
  {
    name: "list() of an empty folder is empty, of many names complete",
    run: async (bench) => {
      same(await bench.names(), [], "an empty folder");
      await bench.line(
        'i=0; while [ $i -lt 700 ]; do : >"$1/name $i"; i=$((i + 1)); done',
        bench.folder,
      );
      same((await bench.names()).length, 700, "the number of names");
    },
  },
  {
    name: "list() follows a link to a folder",
    run: async (bench) => {
      await bench.write("folder/file");
      await bench.link("folder", "link");
      same(await bench.names("link"), ["file"], "list() of a link");
    },
  },
  {
    name: "list() of a file is not_a_directory, of nothing not_found",
    run: async (bench) => {
      await bench.write("file");
      await rejects("not_a_directory", () => bench.workspace.list(bench.at("file")), "of a file");
      await rejects("not_found", () => bench.workspace.list(bench.at("nothing")), "of nothing");
    },
  },
];
