import type { WorkspaceDescription } from "@tau-agent/rpc-protocol/workspace";

/** What a shell reports about the machine it runs on. */
export interface ShellPlace {
  readonly description: WorkspaceDescription;
  /** ripgrep's program on that machine. */
  readonly ripgrep: string | undefined;
}

/** The request that {@link readPlace} reads the answer of. */
export const placeScript = `( t_do() {
  [ -d "$HOME" ] || HOME=$(eval "printf %s ~")
  case $HOME in /*) ;; *) HOME=/ ;; esac
  case $TMPDIR in /*) [ -d "$TMPDIR" ] || TMPDIR=/tmp ;; *) TMPDIR=/tmp ;; esac
  t_none=; for t_tool in stat readlink dd mv rm mkdir chmod cat env; do
    command -v $t_tool >/dev/null || t_none="$t_none $t_tool"
  done
  printf '%s\\0' "$(uname -s)" "$HOME" "$TMPDIR" "$(command -v bash || command -v sh)" \\
    "$(id -un 2>/dev/null || printf %s "$USER")" "$(command -v rg)" "$t_none"
}; t_do )`;

/** @throws {Error} the machine lacks something that the shell form needs */
export function readPlace(body: Buffer, needsTools = true): ShellPlace {
  const [system = "", home = "/", temporary = "/tmp", shell = "sh", user, ripgrep, none] = body
    .toString("utf8")
    .split("\0");
  if (/^(?:MINGW|MSYS|CYGWIN|Windows)/iu.test(system)) {
    throw new Error("the shell form does not work on Windows; start tau exec-server there");
  }
  if (needsTools && none !== undefined && none.trim() !== "") {
    throw new Error(`programs are missing there: ${none.trim()}`);
  }
  const limited = ["modified-at-seconds", "within", "kill-tree"];
  return {
    description: {
      platform: system === "Darwin" ? "darwin" : "linux",
      homeDirectory: home,
      temporaryDirectory: temporary.replace(/(?<=.)\/+$/u, ""),
      shell,
      ...(user === undefined || user === "" ? {} : { user }),
      limited,
    },
    ripgrep: ripgrep === "" ? undefined : ripgrep,
  };
}
