import { createHash } from "node:crypto";
import type { PlatformPath } from "node:path";
import { errorMessage, isJsonObject } from "@tau-agent/rpc-protocol/plain";
import {
  isWorkspaceError,
  type Workspace,
  type WorkspaceOwner,
} from "@tau-agent/rpc-protocol/workspace";
import { attempt, ProcessError, randomHex, runScript, unlessMissing } from "@tau-agent/system";
import type { JobEnd, JobRecord } from "./job-record.ts";

/** Where job files are kept: in the workspace, below a folder that only its user can open. */
export interface JobPlace {
  readonly workspace: Workspace;
  /** The path functions of its platform. */
  readonly path: PlatformPath;
  /** Contains a folder for each session. */
  readonly directory: string;
}

/** A job as recorded in its folder. */
export interface FoundJob {
  readonly folder: string;
  readonly record: JobRecord;
  /** Undefined while the job runs, or if its host was killed first. */
  readonly end: JobEnd | undefined;
}

const create = 'umask 077; mkdir -p "$1" && chmod 700 "$1" && mkdir "$1/$2"';

/** The recorded files of jobs; each job has a folder. */
export class JobFolders {
  readonly place: JobPlace;

  constructor(place: JobPlace) {
    this.place = place;
  }

  /** @throws {ProcessError} if the folder cannot be created */
  async create(
    directory: string,
    recordOf: (jobId: string) => JobRecord,
  ): Promise<{ folder: string; record: JobRecord }> {
    const { workspace, path } = this.place;
    const jobId = `job-${randomHex(3)}`;
    const folder = path.join(directory, jobId);
    try {
      // On Windows, a folder cannot be created with a mode.
      if (path.sep === "\\") await workspace.createDirectory(folder);
      else await runScript(workspace, create, [directory, jobId]);
      const record = recordOf(jobId);
      await this.#write(folder, "job.json", record);
      return { folder, record };
    } catch (error) {
      if (isWorkspaceError(error, "lost", "aborted")) throw error;
      const text = `Cannot keep the output of a job in ${folder}: ${errorMessage(error)}`;
      throw new ProcessError("spawn_failed", text, { cause: error });
    }
  }

  writeEnd(folder: string, end: JobEnd): Promise<void> {
    return this.#write(folder, "end.json", end);
  }

  /** The jobs recorded in a session's folder. */
  async read(directory: string): Promise<readonly FoundJob[]> {
    const { workspace, path } = this.place;
    const entries = (await unlessMissing(workspace.list(directory))) ?? [];
    const names = entries.map(({ name }) => name).filter((name) => /^job-[0-9a-f]+$/.test(name));
    const found = await Promise.all(
      names.map(async (name) => {
        const folder = path.join(directory, name);
        const [record, end] = await Promise.all([
          this.#read<JobRecord>(folder, "job.json"),
          this.#read<JobEnd>(folder, "end.json"),
        ]);
        return record?.jobId === name ? [{ folder, record, end }] : [];
      }),
    );
    return found.flat().sort((left, right) => left.record.startedAt - right.record.startedAt);
  }

  async remove(folder: string): Promise<void> {
    await unlessMissing(this.place.workspace.remove(folder, { recursive: true }));
  }

  #write(folder: string, name: string, value: object): Promise<void> {
    const { workspace, path } = this.place;
    const bytes = Buffer.from(JSON.stringify(value));
    return workspace.write(path.join(folder, name), bytes, { mode: 0o600 });
  }

  async #read<Value>(folder: string, name: string): Promise<Value | undefined> {
    const { workspace, path } = this.place;
    const bytes = await unlessMissing(workspace.read(path.join(folder, name)));
    // The record is incomplete if its writer was killed between the steps of a write.
    const value: unknown = bytes && attempt(() => JSON.parse(Buffer.from(bytes).toString()));
    return isJsonObject(value) ? (value as unknown as Value) : undefined;
  }
}

/** The owner of a job's command: the job itself, whatever hosts come and go. */
export function ownerOf(folder: string): WorkspaceOwner & { readonly commandId: string } {
  const name = createHash("sha256").update(folder).digest("hex").slice(0, 32);
  return { session: `job-${name}`, epoch: 1, commandId: "job" };
}
