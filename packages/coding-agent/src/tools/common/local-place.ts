import {
  LocalWorkspace,
  type LocalWorkspaceOptions,
  type ToolEnvironment,
} from "@tau-agent/system";

/** The workspace of this machine. By default it searches with the ripgrep binary of this package. */
export function createLocalWorkspace(options: LocalWorkspaceOptions): LocalWorkspace {
  return new LocalWorkspace({ ripgrep: findRipgrep, ...options });
}

/** This machine as a workspace, for an environment. */
export function localWorkspace(
  environment: Omit<ToolEnvironment, "workspace" | "temporaryDirectory">,
): LocalWorkspace {
  const { cwd, homeDirectory, processes, sandbox, shellPath, protectedFiles } = environment;
  const { createOutputMask } = environment;
  return createLocalWorkspace({
    ...{ cwd, homeDirectory, processes, sandbox, shellPath, protectedFiles },
    environment: environment.environment,
    outputKeys: () => createOutputMask?.()?.keys ?? [],
  });
}

/** An environment whose tools act on this machine. */
export function withWorkspace<Given extends Parameters<typeof localWorkspace>[0]>(
  environment: Given,
): Given & Pick<ToolEnvironment, "workspace"> {
  return { ...environment, workspace: localWorkspace(environment) };
}

/**
 * Electron can read files inside its archive, but the system cannot start them: executables are next to the archive.
 */
export function unpacked(path: string): string {
  return path.replace(/\.asar(?=[\\/])/, ".asar.unpacked");
}

/** The path of ripgrep's executable; undefined if there is none. */
async function findRipgrep(): Promise<string | undefined> {
  try {
    // The module throws if there is no binary for the platform.
    return unpacked((await import("@vscode/ripgrep")).rgPath);
  } catch {
    return undefined;
  }
}
