/**
 * The name of a shell that reads lines differently from bash, sh and dash; undefined for these
 * three and the default shell.
 */
export function otherShell(shellPath: string | undefined): string | undefined {
  const name = (shellPath ?? "").replace(/^.*[\\/]/, "");
  return /^(?:(?:ba|da)?sh(?:\.exe)?)?$/i.test(name) ? undefined : name;
}
