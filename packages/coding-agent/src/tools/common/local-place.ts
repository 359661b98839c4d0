import {
  LocalWorkspace,
  type LocalWorkspaceOptions,
  type ToolEnvironment,
} from "@tau-agent/system";

/** The workspace of this machine. By default it searches with the ripgrep that this package comes with. */
export function createLocalWorkspace(options: LocalWorkspaceOptions): LocalWorkspace {
  return new LocalWorkspace({ ripgrep: findRipgrep, ...options });
}

/** This machine as the workspace of an environment. */
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

/** Electron reads files inside of its archive, but the system starts none: programs are beside it. */
export function unpacked(path: string): string {
  return path.replace(/\.asar(?=[\\/])/, ".asar.unpacked");
}

/** The path of ripgrep's executable, if there is one. */
async function findRipgrep(): Promise<string | undefined> {
  try {
    // Its module throws where there is no binary for the platform.
    return unpacked((await import("@vscode/ripgrep")).rgPath);
  } catch {
    return undefined;
  }
}
