// Runs a client's `bash` commands elsewhere; this one only echoes them.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function userBash(pi: ExtensionApi): void {
  pi.on("user_bash", ({ command }) => ({
    operations: {
      exec: async (_command, cwd, { onData }) => {
        onData(Buffer.from(`in ${cwd.length > 0 ? "a folder" : "no folder"}: ${command}\n`));
        return { exitCode: 0 };
      },
    },
  }));
}
