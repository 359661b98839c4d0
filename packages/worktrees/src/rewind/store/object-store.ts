import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { deflateSync, inflateSync } from "node:zlib";
import { errorCode, randomHex } from "@tau-agent/system";
import type { Git, GitLocation } from "../../git/git.ts";
import { listChanges, type RawChange } from "../../git/lists.ts";

export type ObjectKind = "blob" | "tree" | "commit";

/** The repository that keeps checkpoints: the folder's own, or one of ours. */
export interface StorePlace {
  /** The folder with refs and objects. */
  readonly gitDir: string;
  readonly algorithm: "sha1" | "sha256";
  readonly temporaryDirectory: string;
}

/** How many bytes of objects are held in memory at a time. */
const batchBytes = 64 * 1024 * 1024;

/**
 * Writes objects of git, readable by their owner only, and reads them back. Objects are not written by git itself:
 * no filter, attribute or line-ending rule may change the bytes of a file, and git cannot switch all of these off.
 */
export class ObjectStore {
  readonly place: StorePlace;
  readonly #git: Git;
  /** Objects that certainly exist. */
  readonly #known = new Set<string>();

  constructor(git: Git, place: StorePlace) {
    this.#git = git;
    this.place = place;
  }

  idOf(kind: ObjectKind, content: Buffer): string {
    return createHash(this.place.algorithm)
      .update(headOf(kind, content))
      .update(content)
      .digest("hex");
  }

  noteKnown(ids: Iterable<string>): void {
    for (const id of ids) this.#known.add(id);
  }

  /** The ids without an object; asks git about all of them together. */
  async missing(ids: Iterable<string>): Promise<ReadonlySet<string>> {
    const unknown = [...new Set(ids)].filter((id) => !this.#known.has(id) && !this.#isLoose(id));
    if (unknown.length === 0) return new Set();
    const sizes = await this.#sizes(unknown);
    this.noteKnown(sizes.keys());
    return new Set(unknown.filter((id) => !sizes.has(id)));
  }

  /** Writes an object unless it exists as a loose file. */
  write(kind: ObjectKind, content: Buffer, id = this.idOf(kind, content)): string {
    if (this.#known.has(id)) return id;
    const { folder, file } = this.#pathOf(id);
    if (!existsSync(file)) {
      const bytes = deflateSync(Buffer.concat([headOf(kind, content), content]), { level: 1 });
      makePrivate(folder);
      const written = join(folder, `tmp_obj_${randomHex(6)}`);
      try {
        writeFileSync(written, bytes, { mode: 0o600, flag: "wx" });
        chmodSync(written, 0o600);
        renameSync(written, file);
      } catch (error) {
        rmSync(written, { force: true });
        throw error;
      }
    }
    this.#known.add(id);
    return id;
  }

  /**
   * Reads objects and passes each on.
   *
   * @throws {ToolError} git failed; missing objects are passed on as undefined.
   */
  async read(
    ids: Iterable<string>,
    take: (id: string, content: Buffer | undefined) => void | Promise<void>,
  ): Promise<void> {
    const packed: string[] = [];
    for (const id of new Set(ids)) {
      const content = this.#readLoose(id);
      if (content === undefined) packed.push(id);
      else await take(id, content);
    }
    if (packed.length === 0) return;
    const sizes = await this.#sizes(packed);
    for (const batch of batchesOf(packed, sizes)) {
      const found = await this.#readBatch(batch);
      for (const id of batch) await take(id, found.get(id));
    }
  }

  async readOne(id: string): Promise<Buffer | undefined> {
    let found: Buffer | undefined;
    await this.read([id], (_, content) => {
      found = content;
    });
    return found;
  }

  run(args: readonly string[]): Promise<string> {
    return this.#git.run(args, this.#request);
  }

  /** Runs git on the store; returns nothing if it fails. */
  async lines(args: readonly string[]): Promise<string[]> {
    const { exitCode, stdout } = await this.#git.try(args, this.#request);
    return exitCode === 0 ? stdout.split("\n").filter((line) => line !== "") : [];
  }

  /** Runs git on the store and returns a list of names, one character per byte. */
  names(args: readonly string[]): Promise<string[]> {
    return this.#git.names(args, this.#request);
  }

  changes(args: readonly string[]): Promise<RawChange[]> {
    return listChanges(this.#git, args, this.#request);
  }

  get #request() {
    const { gitDir } = this.place;
    const location: GitLocation = { gitDir, workTree: gitDir };
    return { cwd: gitDir, location };
  }

  #isLoose(id: string): boolean {
    return existsSync(this.#pathOf(id).file);
  }

  #pathOf(id: string): { folder: string; file: string } {
    const folder = join(this.place.gitDir, "objects", id.slice(0, 2));
    return { folder, file: join(folder, id.slice(2)) };
  }

  #readLoose(id: string): Buffer | undefined {
    try {
      const bytes = inflateSync(readFileSync(this.#pathOf(id).file));
      return bytes.subarray(bytes.indexOf(0) + 1);
    } catch {
      return undefined;
    }
  }

  async #sizes(ids: readonly string[]): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    const chunks: Buffer[] = [];
    await this.#feed(["cat-file", "--batch-check=%(objectname) %(objectsize)"], ids, (chunk) =>
      chunks.push(chunk),
    );
    for (const line of Buffer.concat(chunks).toString("latin1").split("\n")) {
      const [id = "", size = ""] = line.split(" ");
      if (/^\d+$/.test(size)) sizes.set(id, Number(size));
    }
    return sizes;
  }

  async #readBatch(ids: readonly string[]): Promise<Map<string, Buffer>> {
    const chunks: Buffer[] = [];
    await this.#feed(["cat-file", "--batch"], ids, (chunk) => chunks.push(chunk));
    const bytes = Buffer.concat(chunks);
    const found = new Map<string, Buffer>();
    for (let at = 0; at < bytes.length; ) {
      const end = bytes.indexOf(10, at);
      const [id = "", kind = "", size = ""] = bytes.toString("latin1", at, end).split(" ");
      at = end + 1;
      if (kind === "missing") continue;
      found.set(id, bytes.subarray(at, at + Number(size)));
      at += Number(size) + 1;
    }
    return found;
  }

  async #feed(
    args: readonly string[],
    ids: readonly string[],
    take: (chunk: Buffer) => void,
  ): Promise<void> {
    const inputFile = join(this.place.temporaryDirectory, `list-${randomHex(6)}`);
    makePrivate(this.place.temporaryDirectory);
    writeFileSync(inputFile, `${ids.join("\n")}\n`, { mode: 0o600 });
    try {
      await this.#git.feed(args, { ...this.#request, inputFile }, take);
    } finally {
      rmSync(inputFile, { force: true });
    }
  }
}

function headOf(kind: ObjectKind, content: Buffer): Buffer {
  return Buffer.from(`${kind} ${content.length}\0`);
}

function batchesOf(ids: readonly string[], sizes: ReadonlyMap<string, number>): string[][] {
  const batches: string[][] = [[]];
  let bytes = 0;
  for (const id of ids) {
    const size = sizes.get(id) ?? 0;
    if (bytes > 0 && bytes + size > batchBytes) {
      batches.push([]);
      bytes = 0;
    }
    bytes += size;
    batches.at(-1)?.push(id);
  }
  return batches;
}

/** Makes a private folder; an existing one is left unchanged. */
function makePrivate(folder: string): void {
  try {
    mkdirSync(folder, 0o700);
    chmodSync(folder, 0o700);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}
