/** The name of a shell that reads lines in another way than bash, sh and dash; undefined for those and by default. */
export function otherShell(shellPath: string | undefined): string | undefined {
  const name = (shellPath ?? "").replace(/^.*[\\/]/, "");
  return /^(?:(?:ba|da)?sh(?:\.exe)?)?$/i.test(name) ? undefined : name;
}
