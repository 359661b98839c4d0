import { fileURLToPath } from "node:url";
import type { HostModules } from "@tau-agent/coding-agent";
import { type ProcessEnvironment, readEnvironment } from "../process/environment.ts";
import { PI_VERSION } from "../process/version.ts";

/** The modules that extensions import from the host; loaded only if there is an extension. */
export async function loadHostModules(environment: ProcessEnvironment): Promise<HostModules> {
  const { createHostModules } = await import("@tau-agent/coding-agent/host-modules");
  const { cwd, agentDirectory, homeDirectory, temporaryDirectory, variables } = environment;
  return createHostModules({
    cwd,
    agentDirectory,
    homeDirectory,
    temporaryDirectory,
    environment: variables,
    version: PI_VERSION,
    packageDirectory: fileURLToPath(
      new URL(".", import.meta.resolve("@tau-agent/cli/package.json")),
    ),
    loadPackages: async (modules) => {
      const { writePackages } = await import("./extension-packages.ts");
      return writePackages(environment, { modules, library: import.meta.url });
    },
    loadRpcClient: async () => {
      const { extensionRpcClient } = await import("./extension-rpc-client.ts");
      return extensionRpcClient(environment);
    },
  });
}

/**
 * The same modules for a program that an extension has started and that uses this one as a library.
 *
 * @public called by the code that `writePackages` writes
 */
export function hostModulesOfProcess(): Promise<HostModules> {
  return loadHostModules(readEnvironment());
}
