import { type Workspace, WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { randomHex } from "../../base/random.ts";
import type { ShellConnection } from "./shell-connection.ts";
import { needAbsolute, operation, orFailure, shellFiles } from "./shell-files.ts";
import { escapeBytes } from "./shell-text.ts";

/** The longest content that a request contains as an argument of `printf`. */
const maxInline = 96 * 1024;
const maxBytes = 2 ** 31;

/** A workspace that is reached through `sh` at the other end of any program. */
export function shellWorkspace(id: string, cwd: string, connection: ShellConnection): Workspace {
  return {
    id,
    cwd,
    ...shellFiles((script, signal) => connection.run({ script }, signal)),
    async describe({ signal } = {}) {
      if (signal?.aborted) throw new WorkspaceError("aborted");
      return connection.place.description;
    },
    async write(path, bytes, options = {}) {
      if (bytes.length > maxBytes) throw new WorkspaceError("too_large", undefined, { path });
      const mode = (options.mode ?? 0o666).toString(8);
      const words = [path, mode, String(bytes.length), `.tau-${randomHex(8)}.tmp`];
      const text = bytes.length > maxInline ? undefined : escapeBytes(bytes);
      const isInline = text !== undefined && text.length <= maxInline;
      const content = isInline ? `printf %b '${text}'` : "cat";
      const script = operation("t_write", words, options, `t_content() { ${content}; }\n`);
      const { signal } = options;
      const answer = isInline
        ? await connection.run({ script }, signal)
        : await connection.runWithInput({ script, input: bytes }, signal);
      orFailure(answer, path);
    },
    async spawn(options) {
      if (options.cwd !== undefined) needAbsolute(options.cwd);
      if (options.command.length === 0) throw new WorkspaceError("failed", "The command is empty");
      return connection.spawn(options, cwd);
    },
    dispose: () => connection.close(),
  };
}
