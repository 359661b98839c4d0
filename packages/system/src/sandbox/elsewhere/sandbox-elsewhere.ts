import { join } from "node:path";
import type { WorkspaceSandbox } from "@tau-agent/rpc-protocol/workspace";
import { isHostPlace } from "../../base/files/host-places.ts";
import { isInside } from "../../base/files/isolated-tree.ts";
import type { Sandbox } from "../../processes/sandbox.ts";
import { failureNotice } from "../policy/failure-notice.ts";
import { type SandboxPolicy, settingPath } from "../policy/sandbox-settings.ts";
import { sourceVariables } from "../policy/secret-settings.ts";

export interface ElsewhereOptions {
  readonly workspaceId: string;
  readonly policy: SandboxPolicy;
  readonly opened: WorkspaceSandbox;
  /** Whether the commands' network traffic goes through this host. */
  readonly usesHost: boolean;
  /** The working folder on that machine. */
  readonly cwd: () => string;
  readonly homeDirectory: string;
  /** Opens a sandbox on this machine, for programs that stay here, such as the user's own MCP servers. */
  readonly openHere: () => Promise<Sandbox>;
  /** Closes the proxy. */
  readonly onClose: () => Promise<void>;
}

/**
 * A sandbox on another machine. That machine checks files when they are opened; this host only knows the
 * sandbox's properties. Programs on this machine run in a separate sandbox.
 */
export function createSandboxElsewhere(options: ElsewhereOptions): Sandbox {
  const { workspaceId, usesHost, opened } = options;
  let here: Promise<Sandbox> | undefined;

  function writable(): readonly string[] {
    const { policy, cwd } = options;
    const own = policy.mode === "workspace" ? [cwd()] : [];
    return [...own, ...absolute(policy.write)];
  }

  function absolute(paths: readonly string[]): string[] {
    const { homeDirectory, cwd } = options;
    return paths.map((path) => settingPath(path, { cwd: cwd(), homeDirectory }));
  }

  return {
    workspaceId,
    usesHost,
    isAvailable: opened.available,
    closed: opened.denied,
    get failureNotice() {
      return opened.available ? failureNotice(options.policy, writable()) : undefined;
    },
    get inherited() {
      const { policy, cwd } = options;
      const folder = cwd();
      const closed = absolute(policy.denyRead).concat(opened.denied);
      const prefix = `${folder}/`;
      // Paths that are closed in the caller's folder are also closed in a copy of it.
      const relatives = closed.flatMap((path) =>
        path.startsWith(prefix) ? [path.slice(prefix.length)] : [],
      );
      return {
        ...policy,
        write: absolute(policy.write),
        denyRead: [...new Set([...policy.denyRead, ...closed, ...relatives])],
      };
    },
    async enclose(command) {
      here ??= options.openHere();
      const hidden = new Set(sourceVariables(options.policy.secrets));
      const own = Object.entries(command.variables).filter(([name]) => !hidden.has(name));
      return (await here).enclose({ ...command, variables: Object.fromEntries(own) });
    },
    hostPath: (path) => path,
    isPrivate(path) {
      const isSeen = ["/tmp", "/dev/shm"].some((folder) => isInside(folder, path));
      return isSeen && ![options.cwd(), ...writable()].some((each) => isInside(each, path));
    },
    refuseRead() {},
    refuseWrite() {},
    mayRead: () => true,
    reach: () => ({ allow: ["/"], deny: [] }),
    isForHost(path) {
      const prefix = `${options.cwd()}/`;
      return path.startsWith(prefix) && isHostPlace(path.slice(prefix.length));
    },
    get hostPlaces() {
      const cwd = options.cwd();
      return [join(cwd, ".pi"), join(cwd, ".mcp.json")];
    },
    /** The host loads no code from that machine. */
    keepForHost() {},
    async close() {
      // If the connection is lost, the sandbox has ended with it.
      await opened.close().catch(() => {});
      await options.onClose();
      await (await here)?.close();
    },
  };
}
