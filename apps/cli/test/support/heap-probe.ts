import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** What is in a heap. */
export interface HeapContents {
  /** How many objects and closures there are. */
  readonly objects: number;
  readonly strings: ReadonlySet<string>;
}

/** Tells what a host has in memory, after it has collected its garbage. */
export class HeapProbe {
  readonly #file: string;

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), "tau-heap-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    this.#file = join(folder, "heap");
  }

  /** The words that start a Node whose memory can be asked for. */
  get command(): string[] {
    const file = JSON.stringify(this.#file);
    const code = `
      import { renameSync, writeFileSync } from "node:fs";
      import { writeHeapSnapshot } from "node:v8";
      const collected = (answer) => () => {
        gc();
        // What finalizers let go of is collected the second time.
        setTimeout(() => {
          gc();
          answer(${file} + "-part");
          renameSync(${file} + "-part", ${file});
        }, 100);
      };
      process.on("SIGUSR2", collected((part) => {
        const { heapUsed, external } = process.memoryUsage();
        writeFileSync(part, String(heapUsed + external));
      }));
      process.on("SIGURG", collected((part) => writeHeapSnapshot(part)));`;
    const module = `data:text/javascript,${encodeURIComponent(code)}`;
    return [process.execPath, "--expose-gc", "--import", module];
  }

  /** Bytes in use. */
  async read(pid: number | undefined): Promise<number> {
    return Number(await this.#answer(pid, "SIGUSR2"));
  }

  async contents(pid: number | undefined): Promise<HeapContents> {
    const { snapshot, nodes, strings } = JSON.parse(await this.#answer(pid, "SIGURG")) as Snapshot;
    const { node_fields: fields, node_types: types } = snapshot.meta;
    const counted = ["object", "closure"].map((type) => types[0].indexOf(type));
    let objects = 0;
    for (let at = 0; at < nodes.length; at += fields.length) {
      if (counted.includes(nodes[at] ?? -1)) objects += 1;
    }
    return { objects, strings: new Set(strings) };
  }

  async #answer(pid: number | undefined, signal: NodeJS.Signals): Promise<string> {
    if (pid === undefined) throw new Error("there is no host");
    process.kill(pid, signal);
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      if (!existsSync(this.#file)) continue;
      const text = readFileSync(this.#file, "utf8");
      renameSync(this.#file, `${this.#file}-read`);
      return text;
    }
  }
}

/** As V8 writes it: the first number of each node is its type. */
interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly [readonly string[]];
    };
  };
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
}
