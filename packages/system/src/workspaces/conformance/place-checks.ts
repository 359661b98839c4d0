import { type Bench, type Check, holds, rejects, same } from "./bench.ts";

async function isLink(bench: Bench, name: string): Promise<boolean> {
  return (
    (await bench.line('[ -L "$1" ] && echo yes || echo no', bench.at(name))).stdout.toString() ===
    "yes\n"
  );
}

/** Checks of removing, renaming and making folders. */
export const placeChecks: readonly Check[] = [
  {
    name: "remove() removes a file and an empty folder",
    run: async (bench) => {
      await bench.write("file");
      await bench.workspace.createDirectory(bench.at("folder"));
      for (const name of ["file", "folder"]) await bench.workspace.remove(bench.at(name));
      same(await bench.names(), [], "what is left");
    },
  },
  {
    name: "remove() of nothing is not_found",
    run: async (bench) => {
      for (const recursive of [false, true]) {
        const call = () => bench.workspace.remove(bench.at("nothing"), { recursive });
        await rejects("not_found", call, `recursive ${recursive}`);
      }
    },
  },
  {
    name: "remove() of a folder that is not empty is not_empty",
    run: async (bench) => {
      await bench.write("folder/file");
      await rejects("not_empty", () => bench.workspace.remove(bench.at("folder")), "remove()");
      same(await bench.names("folder"), ["file"], "the folder");
    },
  },
  {
    name: "remove() with recursive takes all that is in a folder",
    run: async (bench) => {
      for (const name of ["folder/file", "folder/.hidden", "folder/deep/er/file"])
        await bench.write(name);
      await bench.workspace.remove(bench.at("folder"), { recursive: true });
      same(await bench.names(), [], "what is left");
    },
  },
  {
    name: "remove() removes links and does not follow them",
    limits: ["link-removal"],
    run: async (bench) => {
      await bench.write("kept/file");
      await bench.link("kept", "folder link");
      await bench.link("kept/file", "file link");
      await bench.link("nothing", "dangling");
      await bench.workspace.remove(bench.at("folder link"), { recursive: true });
      for (const name of ["file link", "dangling"]) await bench.workspace.remove(bench.at(name));
      same(await bench.names(), ["kept"], "what is left");
      same(await bench.names("kept"), ["file"], "what the links led to");
    },
  },
  {
    name: "remove() with recursive does not follow links inside",
    run: async (bench) => {
      await bench.write("kept/file");
      await bench.workspace.createDirectory(bench.at("folder"));
      await bench.link(bench.at("kept"), "folder/link");
      await bench.workspace.remove(bench.at("folder"), { recursive: true });
      same(await bench.names("kept"), ["file"], "what the link led to");
    },
  },
  {
    name: "rename() moves a file and a folder",
    run: async (bench) => {
      await bench.write("file", "text");
      await bench.write("folder/inner");
      await bench.workspace.rename(bench.at("file"), bench.at("moved"));
      await bench.workspace.rename(bench.at("folder"), bench.at("moved folder"));
      same(await bench.names(), ["moved", "moved folder"], "names");
      same(
        [await bench.text("moved"), await bench.names("moved folder")],
        ["text", ["inner"]],
        "content",
      );
    },
  },
  {
    name: "rename() replaces a file",
    run: async (bench) => {
      await bench.write("from", "new");
      await bench.write("to", "old");
      await bench.workspace.rename(bench.at("from"), bench.at("to"));
      same([await bench.names(), await bench.text("to")], [["to"], "new"], "names and text");
    },
  },
  {
    name: "rename() never replaces a folder: exists",
    run: async (bench) => {
      await bench.write("file");
      for (const name of ["empty", "from"]) await bench.workspace.createDirectory(bench.at(name));
      for (const from of ["file", "from"]) {
        const call = () => bench.workspace.rename(bench.at(from), bench.at("empty"));
        await rejects("exists", call, `${from} over a folder`);
      }
      same(
        [await bench.names(), await bench.names("empty")],
        [["empty", "file", "from"], []],
        "names",
      );
    },
  },
  {
    name: "rename() of nothing is not_found",
    run: async (bench) => {
      const call = () => bench.workspace.rename(bench.at("nothing"), bench.at("to"));
      await rejects("not_found", call, "rename()");
    },
  },
  {
    name: "rename() moves a link, not what it leads to",
    run: async (bench) => {
      await bench.write("file");
      await bench.link("file", "link");
      await bench.workspace.rename(bench.at("link"), bench.at("moved"));
      same(await bench.names(), ["file", "moved"], "names");
      holds(await isLink(bench, "moved"), "it is no link any more");
    },
  },
  {
    name: "createDirectory() makes parents, and is content with a folder",
    run: async (bench) => {
      await bench.workspace.createDirectory(bench.at("one", "two", "three"));
      await bench.write("one/two/file", "kept");
      for (const names of [
        ["one", "two"],
        ["one", "two", "three"],
      ]) {
        await bench.workspace.createDirectory(bench.at(...names));
      }
      same(await bench.names("one", "two"), ["file", "three"], "names");
    },
  },
  {
    name: "createDirectory() over a file is exists",
    run: async (bench) => {
      await bench.write("file", "kept");
      await rejects(
        "exists",
        () => bench.workspace.createDirectory(bench.at("file")),
        "createDirectory()",
      );
      same(await bench.text("file"), "kept", "the file");
    },
  },
  {
    name: "createDirectory() below a file is not_a_directory",
    run: async (bench) => {
      await bench.write("file");
      const call = () => bench.workspace.createDirectory(bench.at("file", "x"));
      await rejects("not_a_directory", call, "createDirectory()");
    },
  },
];
