import { type Check, eventually, holds, pause, rejects, same, sameBytes } from "./bench.ts";

const everyByte = Uint8Array.from({ length: 1024 }, (_, index) => index % 256);

/** Checks of reading and writing. */
export const fileChecks: readonly Check[] = [
  {
    name: "bytes are read as they were written",
    run: async (bench) => {
      await bench.workspace.write(bench.at("file"), everyByte);
      sameBytes(await bench.workspace.read(bench.at("file")), everyByte, "all byte values");
      await bench.workspace.write(bench.at("empty"), new Uint8Array());
      sameBytes(await bench.workspace.read(bench.at("empty")), new Uint8Array(), "an empty file");
    },
  },
  {
    name: "five megabytes are written and read",
    run: async (bench) => {
      const bytes = Buffer.alloc(5 * 1024 * 1024 + 3, everyByte);
      await bench.workspace.write(bench.at("file"), bytes);
      sameBytes(await bench.workspace.read(bench.at("file")), bytes, "a large file");
      const part = await bench.workspace.read(bench.at("file"), {
        offset: 4_194_305,
        length: 70_001,
      });
      sameBytes(part, bytes.subarray(4_194_305, 4_264_306), "a part of it");
    },
  },
  {
    name: "read() takes an offset and a length",
    run: async (bench) => {
      await bench.workspace.write(bench.at("file"), everyByte);
      const read = (offset?: number, length?: number) =>
        bench.workspace.read(bench.at("file"), { offset, length });
      sameBytes(await read(10, 20), everyByte.subarray(10, 30), "20 bytes at 10");
      sameBytes(await read(1000), everyByte.subarray(1000), "all from 1000 on");
      sameBytes(await read(undefined, 7), everyByte.subarray(0, 7), "the first 7 bytes");
      sameBytes(await read(5, 0), new Uint8Array(), "no bytes");
    },
  },
  {
    name: "read() past the end is empty, across it short",
    run: async (bench) => {
      await bench.workspace.write(bench.at("file"), everyByte);
      for (const offset of [1024, 2000, 5_000_000]) {
        const read = (length?: number) =>
          bench.workspace.read(bench.at("file"), { offset, length });
        sameBytes(await read(), new Uint8Array(), `all from ${offset} on`);
        sameBytes(await read(10), new Uint8Array(), `10 bytes at ${offset}`);
      }
      const across = await bench.workspace.read(bench.at("file"), { offset: 1020, length: 50 });
      sameBytes(across, everyByte.subarray(1020), "across the end");
    },
  },
  {
    name: "read() of a folder is is_a_directory",
    run: (bench) => rejects("is_a_directory", () => bench.workspace.read(bench.folder), "read()"),
  },
  {
    name: "read() of nothing is not_found",
    run: async (bench) => {
      await rejects("not_found", () => bench.workspace.read(bench.at("nothing")), "read()");
      await bench.link("nothing", "dangling");
      await rejects(
        "not_found",
        () => bench.workspace.read(bench.at("dangling")),
        "of a dangling link",
      );
    },
  },
  {
    name: "read() of what is neither file nor folder is failed",
    run: async (bench) => {
      const made = await bench.run({
        command: ["sh", "-c", 'mkfifo "$1"', "sh", bench.at("pipe")],
      });
      if (made.exit.exitCode !== 0) return;
      await rejects(
        "failed",
        () => bench.workspace.read(bench.at("pipe")),
        "read() of a named pipe",
      );
    },
  },
  {
    name: "read() follows a link",
    run: async (bench) => {
      await bench.write("file", "target");
      await bench.link("file", "link");
      same(await bench.text("link"), "target", "by way of a link");
    },
  },
  {
    name: "write() replaces the whole file",
    run: async (bench) => {
      await bench.write("file", "something long");
      await bench.write("file", "short");
      same(await bench.text("file"), "short", "the text");
    },
  },
  {
    name: "write() replaces in one step",
    limits: ["atomic-write", "streamed-output", "stdin"],
    run: async (bench) => {
      const old = "old ".repeat(50_000);
      await bench.write("file", old);
      // A reader that has the old file open can still read it.
      const script = 'exec 3<"$1"; echo ready; read -r line; cat <&3';
      const { process, printed } = await bench.start({
        command: ["sh", "-c", script, "sh", bench.at("file")],
        stdin: "open",
      });
      holds(await eventually(10_000, () => printed.stdout.length > 0), "the reader did not start");
      await bench.write("file", "new");
      await process.write(Buffer.from("go\n"));
      await process.endInput();
      await process.done;
      const seen = Buffer.concat(printed.stdout).toString().replace("ready\n", "");
      holds(
        seen === old,
        `a reader saw ${seen.length} characters instead of the ${old.length} old ones`,
      );
      same(await bench.text("file"), "new", "the new text");
    },
  },
  {
    name: "write() leaves nothing beside the file",
    run: async (bench) => {
      await bench.write("file");
      await bench.write("file", "again");
      same(await bench.names(), ["file"], "the folder");
    },
  },
  {
    name: "write() keeps the mode of what it replaces",
    limits: ["file-mode"],
    run: async (bench) => {
      for (const mode of [0o750, 0o600]) {
        await bench.write("file");
        await bench.line(`chmod ${mode.toString(8)} "$1"`, bench.at("file"));
        await bench.workspace.write(bench.at("file"), Buffer.from("new"), { mode: 0o644 });
        same((await bench.workspace.stat(bench.at("file")))?.mode, mode, "the mode");
      }
    },
  },
  {
    name: "a new file has mode 0666 less the umask",
    limits: ["file-mode"],
    run: async (bench) => {
      const umask = Number.parseInt((await bench.line("umask")).stdout.toString(), 8);
      await bench.write("file");
      same((await bench.workspace.stat(bench.at("file")))?.mode, 0o666 & ~umask, "the mode");
    },
  },
  {
    name: "write() gives a new file the mode it is told, less the umask",
    limits: ["file-mode"],
    run: async (bench) => {
      const umask = Number.parseInt((await bench.line("umask")).stdout.toString(), 8);
      await bench.workspace.write(bench.at("file"), Buffer.from("x"), { mode: 0o755 });
      same((await bench.workspace.stat(bench.at("file")))?.mode, 0o755 & ~umask, "the mode");
    },
  },
  {
    name: "write() follows a link at the end of the path",
    run: async (bench) => {
      await bench.write("folder/file", "old");
      await bench.link("folder/file", "link");
      await bench.write("link", "new");
      same(await bench.text("folder/file"), "new", "the text of the target");
      const { stdout } = await bench.line(
        '[ -L "$1" ] && echo link || echo file',
        bench.at("link"),
      );
      same(stdout.toString(), "link\n", "what the link is now");
    },
  },
  {
    name: "write() makes the folders on the way",
    run: async (bench) => {
      await bench.write("one/two/three/file", "deep");
      same(await bench.text("one/two/three/file"), "deep", "the text");
    },
  },
  {
    name: "write() to a folder is is_a_directory, below a file not_a_directory",
    run: async (bench) => {
      const bytes = Buffer.from("x");
      await rejects(
        "is_a_directory",
        () => bench.workspace.write(bench.folder, bytes),
        "to a folder",
      );
      await bench.write("file", "kept");
      const below = bench.at("file", "x");
      await rejects("not_a_directory", () => bench.workspace.write(below, bytes), "below a file");
      same(await bench.text("file"), "kept", "the file");
    },
  },
  {
    name: "write() works where the folder is not writable",
    limits: ["file-mode"],
    run: async (bench) => {
      await bench.write("folder/file", "old");
      await bench.line('chmod 555 "$1"', bench.at("folder"));
      try {
        await bench.write("folder/file", "new");
        same(await bench.text("folder/file"), "new", "the text");
      } finally {
        await bench.line('chmod 755 "$1"', bench.at("folder"));
      }
    },
  },
  {
    name: "write() at once to many files keeps them apart",
    run: async (bench) => {
      const names = Array.from({ length: 12 }, (_, index) => `file ${index}`);
      await Promise.all(names.map((name) => bench.write(name, name)));
      const texts = await Promise.all(names.map((name) => bench.text(name)));
      same(texts, names, "the texts");
      await pause(0);
    },
  },
];
