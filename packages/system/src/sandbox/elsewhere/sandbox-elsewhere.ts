import { join } from "node:path";
import type { WorkspaceReach, WorkspaceSandbox } from "@tau-agent/rpc-protocol/workspace";
import { isHostPlace } from "../../base/files/host-places.ts";
import { isInside } from "../../base/files/isolated-tree.ts";
import type { EnclosedCommand, PlainCommand, Sandbox } from "../../processes/sandbox.ts";
import { failureNotice } from "../policy/failure-notice.ts";
import { type SandboxPolicy, settingPath } from "../policy/sandbox-settings.ts";
import { sourceVariables } from "../policy/secret-settings.ts";

export interface ElsewhereOptions {
  readonly workspaceId: string;
  readonly policy: SandboxPolicy;
  readonly opened: WorkspaceSandbox;
  /** Whether the network of its commands ends at this host. */
  readonly usesHost: boolean;
  /** The working folder there. */
  readonly cwd: () => string;
  readonly homeDirectory: string;
  /** The sandbox of this machine, for programs that stay here, such as the user's own MCP servers. */
  readonly openHere: () => Promise<Sandbox>;
  /** Ends the proxy. */
  readonly onClose: () => Promise<void>;
}

/**
 * A sandbox that another machine keeps. Files are judged there, when they are opened; here it is known what
 * the sandbox is. Programs of this machine run in one of their own.
 */
export class SandboxElsewhere implements Sandbox {
  readonly workspaceId: string;
  readonly usesHost: boolean;
  readonly #options: ElsewhereOptions;
  #here: Promise<Sandbox> | undefined;

  constructor(options: ElsewhereOptions) {
    this.#options = options;
    this.workspaceId = options.workspaceId;
    this.usesHost = options.usesHost;
  }

  get isAvailable(): boolean {
    return this.#options.opened.available;
  }

  get failureNotice(): string | undefined {
    return this.isAvailable ? failureNotice(this.#options.policy, this.#writable) : undefined;
  }

  get inherited(): SandboxPolicy {
    const { policy, cwd, opened } = this.#options;
    const folder = cwd();
    const closed = this.#absolute(policy.denyRead).concat(opened.denied);
    const prefix = `${folder}/`;
    // What is closed in the caller's folder is closed in a copy of it, too.
    const relatives = closed.flatMap((path) =>
      path.startsWith(prefix) ? [path.slice(prefix.length)] : [],
    );
    return {
      ...policy,
      write: this.#absolute(policy.write),
      denyRead: [...new Set([...policy.denyRead, ...closed, ...relatives])],
    };
  }

  async enclose(command: PlainCommand): Promise<EnclosedCommand> {
    this.#here ??= this.#options.openHere();
    const hidden = new Set(sourceVariables(this.#options.policy.secrets));
    const own = Object.entries(command.variables).filter(([name]) => !hidden.has(name));
    return (await this.#here).enclose({ ...command, variables: Object.fromEntries(own) });
  }

  hostPath(path: string): string {
    return path;
  }

  isPrivate(path: string): boolean {
    const isSeen = ["/tmp", "/dev/shm"].some((folder) => isInside(folder, path));
    return isSeen && ![this.#options.cwd(), ...this.#writable].some((each) => isInside(each, path));
  }

  refuseRead(): void {}

  refuseWrite(): void {}

  mayRead(): boolean {
    return true;
  }

  reach(): WorkspaceReach {
    return { allow: ["/"], deny: [] };
  }

  get closed(): readonly string[] {
    return this.#options.opened.denied;
  }

  isForHost(path: string): boolean {
    const prefix = `${this.#options.cwd()}/`;
    return path.startsWith(prefix) && isHostPlace(path.slice(prefix.length));
  }

  get hostPlaces(): readonly string[] {
    const cwd = this.#options.cwd();
    return [join(cwd, ".pi"), join(cwd, ".mcp.json")];
  }

  /** The host loads no code from there. */
  keepForHost(): void {}

  async close(): Promise<void> {
    // Where the connection is lost, the sandbox has ended with it.
    await this.#options.opened.close().catch(() => {});
    await this.#options.onClose();
    await (await this.#here)?.close();
  }

  get #writable(): readonly string[] {
    const { policy, cwd } = this.#options;
    const own = policy.mode === "workspace" ? [cwd()] : [];
    return [...own, ...this.#absolute(policy.write)];
  }

  #absolute(paths: readonly string[]): string[] {
    const { homeDirectory, cwd } = this.#options;
    return paths.map((path) => settingPath(path, { cwd: cwd(), homeDirectory }));
  }
}
