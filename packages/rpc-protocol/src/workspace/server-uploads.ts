import { type FrameId, MAX_FILE_BYTES } from "./frames.ts";
import type { Workspace, WorkspaceWriteOptions } from "./workspace.ts";
import { WorkspaceError } from "./workspace-error.ts";

/** A file that is written in parts; it replaces its target when it is complete. */
export interface WorkspaceUpload {
  append(bytes: Uint8Array): Promise<void>;
  finish(): Promise<void>;
  discard(): Promise<void>;
}

export type OpenUpload = (path: string, options: WorkspaceWriteOptions) => Promise<WorkspaceUpload>;

/** One part of a file. */
export interface FilePart {
  /** The id of the request. */
  readonly id: FrameId;
  readonly upload: FrameId;
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
  readonly options: WorkspaceWriteOptions;
}

interface Running {
  readonly path: string;
  /** The processing of the parts so far, one after the other. */
  work: Promise<void>;
  file: WorkspaceUpload | undefined;
  newestId: FrameId;
  /** Why no more parts are accepted. */
  failure: WorkspaceError | undefined;
}

/** The uploads in progress. After a part has failed, an upload accepts no more parts and replaces nothing. */
export class ServerUploads {
  readonly #open: OpenUpload;
  readonly #running = new Map<FrameId, Running>();

  constructor(open: OpenUpload) {
    this.#open = open;
  }

  add(part: FilePart): Promise<void> {
    const { upload, path, id, isLast } = part;
    let running = this.#running.get(upload);
    if (running === undefined) {
      const work = Promise.resolve();
      running = { path, work, file: undefined, newestId: id, failure: undefined };
      this.#running.set(upload, running);
    }
    running.newestId = id;
    if (isLast) this.#running.delete(upload);
    const known = running;
    const done = known.work.then(() => this.#write(known, part));
    known.work = done.catch(() => {});
    return done;
  }

  /** Discards the upload whose latest part was sent with this request. */
  cancel(id: FrameId): void {
    for (const running of this.#running.values()) {
      if (running.newestId === id) void this.#fail(running, new WorkspaceError("aborted"));
    }
  }

  async end(): Promise<void> {
    const given = [...this.#running.values()];
    this.#running.clear();
    const error = new WorkspaceError("aborted");
    await Promise.all(given.map((running) => this.#fail(running, error)));
  }

  async #write(running: Running, part: FilePart): Promise<void> {
    const { path, bytes, isLast, options } = part;
    try {
      if (running.failure !== undefined) throw running.failure;
      if (path !== running.path) {
        throw new WorkspaceError("failed", `The parts of an upload have one path: ${running.path}`);
      }
      running.file ??= await this.#open(path, options);
      await running.file.append(bytes);
      if (options.signal?.aborted) throw new WorkspaceError("aborted");
      if (running.failure !== undefined) throw running.failure;
      if (!isLast) return;
      await running.file.finish();
      running.file = undefined;
    } catch (error) {
      const failure = error instanceof WorkspaceError ? error : new WorkspaceError("failed");
      await this.#discard(running, failure);
      throw error;
    }
  }

  #fail(running: Running, error: WorkspaceError): Promise<void> {
    running.failure ??= error;
    running.work = running.work.then(() => this.#discard(running, error));
    return running.work;
  }

  async #discard(running: Running, error: WorkspaceError): Promise<void> {
    running.failure ??= error;
    const { file } = running;
    running.file = undefined;
    // The original error matters, not one from discarding the file.
    await file?.discard().catch(() => {});
  }
}

/** For a workspace that can only write whole files: keeps the parts in memory until the last one has arrived. */
export function uploadsInMemory(workspace: Workspace): OpenUpload {
  return async (path, options) => {
    let parts: Uint8Array[] = [];
    let bytes = 0;
    return {
      append: async (part) => {
        bytes += part.length;
        if (bytes > MAX_FILE_BYTES) throw new WorkspaceError("too_large", undefined, { path });
        parts.push(part);
      },
      finish: () => workspace.write(path, Buffer.concat(parts), options),
      discard: async () => {
        parts = [];
      },
    };
  };
}
