import type { ClientCapabilities } from "@agentclientprotocol/sdk";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { type ClientPlace, clientFiles } from "./client-files.ts";
import { clientTerminal } from "./client-terminal.ts";

export interface OverlayPlace extends ClientPlace {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly onTerminal: (toolCallId: string, terminalId: string) => void;
}

/**
 * This machine with the client's files and, for `bash`, its terminals, as far as the client offers them; undefined if
 * it offers neither.
 */
export function clientOverlay(
  place: OverlayPlace,
  capabilities: ClientCapabilities | undefined,
): ((local: Workspace, toolCallId?: string) => Workspace) | undefined {
  const { fs, terminal } = capabilities ?? {};
  if (!fs?.readTextFile && !fs?.writeTextFile && !terminal) return undefined;
  return (local, toolCallId) => {
    const onTerminal = (terminalId: string): void => {
      if (toolCallId !== undefined) place.onTerminal(toolCallId, terminalId);
    };
    const isInTerminal = terminal === true && toolCallId !== undefined;
    return {
      id: local.id,
      cwd: local.cwd,
      describe: (options) => local.describe(options),
      stat: (path, options) => local.stat(path, options),
      list: (path, options) => local.list(path, options),
      remove: (path, options) => local.remove(path, options),
      rename: (from, to, options) => local.rename(from, to, options),
      createDirectory: (path, options) => local.createDirectory(path, options),
      ...(local.search && { search: local.search.bind(local) }),
      spawn: isInTerminal
        ? clientTerminal(local, { ...place, onTerminal })
        : (options) => local.spawn(options),
      ...clientFiles(local, place, capabilities),
    };
  };
}
