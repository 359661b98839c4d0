import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import {
  isWorkspaceError,
  type Workspace,
  type WorkspaceOwner,
  type WorkspaceProcess,
} from "@tau-agent/rpc-protocol/workspace";
import { unlessMissing } from "@tau-agent/system";

export interface KeptCommandOptions {
  readonly workspace: Workspace;
  readonly owner: () => WorkspaceOwner;
  readonly keepMs: number;
}

/** The command of a call that an earlier host started. */
export class KeptCommand {
  readonly #id: string;
  readonly #options: KeptCommandOptions;

  constructor(id: string, options: KeptCommandOptions) {
    this.#id = id;
    this.#options = options;
  }

  /** Takes the command over, so that it keeps running until its fate is decided. False if it never began. */
  async hold(): Promise<boolean> {
    return (await this.#adopt()) !== undefined;
  }

  /** Ends the command and returns when it ended; undefined if it never ran or the time is unknown. */
  async end(): Promise<number | undefined> {
    const over = await this.endedAt();
    if (over !== undefined) return over;
    const process = await this.#adopt();
    if (process === undefined) return undefined;
    await process.kill("SIGKILL");
    await process.done.catch(() => undefined);
    return Date.now();
  }

  /** When the command ended, in ms since the epoch. */
  async endedAt(): Promise<number | undefined> {
    const { endedAt } = await this.#outcome();
    return typeof endedAt === "number" ? endedAt : undefined;
  }

  /** Whether the command was ended because no host took it over in time. */
  async isUnclaimed(): Promise<boolean> {
    return (await this.#outcome()).unclaimed === true;
  }

  /** Removes the command's output, once the result of its call is stored. */
  async forget(): Promise<void> {
    const { workspace } = this.#options;
    const folder = await this.#folder();
    if (folder !== undefined) await unlessMissing(workspace.remove(folder, { recursive: true }));
  }

  async #adopt(): Promise<WorkspaceProcess | undefined> {
    const { workspace, owner, keepMs } = this.#options;
    const options = { ...owner(), commandId: this.#id, fromOffset: 0, keepMs, onOutput: () => {} };
    try {
      return await workspace.durable?.adopt(options);
    } catch (error) {
      if (isWorkspaceError(error, "not_found")) return undefined;
      throw error;
    }
  }

  async #outcome(): Promise<Readonly<Record<string, unknown>>> {
    const folder = await this.#folder();
    if (folder === undefined) return {};
    const bytes = await unlessMissing(this.#options.workspace.read(`${folder}/outcome.json`));
    try {
      const value: unknown = JSON.parse(Buffer.from(bytes ?? []).toString());
      return isJsonObject(value) ? value : {};
    } catch {
      return {};
    }
  }

  /** The folder of its files on this machine; a remote workspace manages its own. */
  async #folder(): Promise<string | undefined> {
    const { workspace, owner } = this.#options;
    if (workspace.id !== "local") return undefined;
    const { temporaryDirectory } = await workspace.describe();
    const { durablePath } = await import("@tau-agent/system/durability");
    return `${durablePath(temporaryDirectory, owner().session)}/commands/${this.#id}`;
  }
}
