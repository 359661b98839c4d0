import {
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { getCompileCacheDir } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";

// Imports nothing of the program: what both used would become another file that each start reads.

/** How old kept code must be before a process adds to it, which takes some 15 ms of its end. */
const UNCHANGED_MS = 10_000;
/** Less is not worth writing the file again. */
const WORTHWHILE_BYTES = 4 * 1024;

/** A script whose code is kept. */
interface RunningScript {
  readonly script: Script;
  /** The file of its kept code. */
  readonly path: string;
  /** The length of the kept code that V8 took; 0 if V8 compiled the script itself. */
  readonly takenBytes: number;
}

/** The scripts of this process. Like Node's table of modules, they belong to the program and not to a session. */
const running: RunningScript[] = [];

/**
 * Runs a chunk of the program that the build has turned into a script (`bundling/chunks-as-scripts.ts`). When the
 * process ends, the compiled code of the functions that have run is kept where Node keeps that of modules, and the next
 * process need not compile them. So the code of a first prompt or a first fork is soon there, too.
 *
 * @param chunks - the chunks that the script imports
 * @returns the values that the chunk exports, in the order that the build knows
 */
export function runScript(name: string, ...chunks: readonly object[]): readonly unknown[] {
  const filename = join(import.meta.dirname, name);
  const folder = getCompileCacheDir();
  // V8 itself compares no more than the length of a script with that of its code.
  const changed = folder && Math.trunc(statSync(filename).mtimeMs).toString(36);
  const path = folder && join(folder, `${name}.${changed}`);
  const cachedData = path === undefined ? undefined : readKept(path);
  const script = new Script(readFileSync(filename, "utf8"), { filename, cachedData });
  if (folder !== undefined && path !== undefined) {
    const takenBytes = script.cachedDataRejected === false ? (cachedData?.length ?? 0) : 0;
    if (running.length === 0) process.once("exit", () => keepAll(folder));
    running.push({ script, path, takenBytes });
  }
  // V8 has taken what it needs; otherwise a megabyte would wait for the next collection. A small buffer
  // shares its memory with others.
  if (cachedData?.length === cachedData?.buffer.byteLength) cachedData?.buffer.transfer(0);
  const load = (specifier: string, options?: ImportCallOptions) => import(specifier, options);
  return script.runInThisContext()(load, ...chunks);
}

/** Only what this user has written: all users may share the folder. */
function readKept(path: string): Buffer<ArrayBuffer> | undefined {
  try {
    const file = openSync(path, "r");
    try {
      const isOwn = fstatSync(file).uid === (process.geteuid?.() ?? 0);
      return isOwn ? readFileSync(file) : undefined;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/** A failure only means that the next process compiles again what this one has. */
function keepAll(folder: string): void {
  try {
    if (!running.some(isDue) || haveFlagsChanged(folder)) return;
    for (const each of running) keep(each);
  } catch {}
}

function isDue({ path, takenBytes }: RunningScript): boolean {
  return takenBytes === 0 || Date.now() - statSync(path).mtimeMs > UNCHANGED_MS;
}

function keep({ script, path, takenBytes }: RunningScript): void {
  const code = script.createCachedData();
  // V8 drops code that has not run for long, and a process that ran for days must not replace that of a start.
  if (takenBytes > 0 && code.length < takenBytes + WORTHWHILE_BYTES) {
    utimesSync(path, new Date(), new Date());
    return;
  }
  const written = `${path}.${process.pid}`;
  try {
    writeSynced(written, code);
    renameSync(written, path);
  } catch (error) {
    rmSync(written, { force: true });
    throw error;
  }
}

/** V8 trusts what it reads, and after a power failure a file that was only renamed may be full of zeros. */
function writeSynced(path: string, code: Buffer): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeFileSync(file, code);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** V8 refuses code that was kept under other flags. Node has them in the name of the folder. */
function haveFlagsChanged(folder: string): boolean {
  const [, flags] = /-([\da-f]{1,8})-\d+$/.exec(folder) ?? [];
  const { cachedDataVersionTag } = process.getBuiltinModule("node:v8");
  return flags !== undefined && Number.parseInt(flags, 16) !== cachedDataVersionTag();
}
