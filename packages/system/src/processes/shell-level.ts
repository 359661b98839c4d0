/**
 * Variables for a child with an open input. Node makes that input a socket, and a bash that reads from a socket
 * takes itself for a remote login unless another shell started it: it would first run the user's `.bashrc`,
 * which may print, wait or change what the command sees.
 */
export function withShellLevel(
  variables: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Number(variables.SHLVL) > 0 ? variables : { ...variables, SHLVL: "1" };
}
