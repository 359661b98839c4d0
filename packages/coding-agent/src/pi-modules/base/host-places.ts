import { tmpdir } from "node:os";
import { join } from "node:path";
import { findHomeDirectory } from "@tau-agent/system";
import type { HostModules } from "../../extensions/load/host-imports.ts";

export interface HostPlaces {
  readonly cwd: string;
  readonly agentDirectory: string;
  readonly homeDirectory: string;
  readonly temporaryDirectory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  /** Where the host's program is installed; default the agent directory. */
  readonly packageDirectory?: string | undefined;
  /**
   * Creates packages that programs of extensions can import, and returns the file behind each name; without it, only
   * extensions can use the names.
   */
  readonly loadPackages?: ((modules: HostModules) => Promise<object>) | undefined;
  /** Loads the class with which extensions start other hosts; without it they cannot. */
  readonly loadRpcClient?: (() => Promise<object>) | undefined;
}

export interface HostModulesOptions extends Partial<HostPlaces> {
  readonly cwd: string;
  readonly version: string;
}

export function completePlaces(options: HostModulesOptions): HostPlaces {
  const homeDirectory = options.homeDirectory ?? findHomeDirectory();
  return {
    ...options,
    homeDirectory,
    agentDirectory: options.agentDirectory ?? join(homeDirectory, ".pi", "agent"),
    temporaryDirectory: options.temporaryDirectory ?? tmpdir(),
    environment: options.environment ?? {},
  };
}
