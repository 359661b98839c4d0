/** A tool or prompt of a server, by the names the server and its file use. */
export interface RemoteName {
  readonly server: string;
  readonly tool: string;
}

/** The longest name that all vendors accept. */
const MAX_LENGTH = 64;
const KEPT_LENGTH = 55;
const HASH_LENGTH = 8;

/**
 * The names for the model, in the order of the given ones. They depend only on the set of names; `taken`
 * are names that were given out before and stay with their owners. Two names never become one: a name
 * that cannot be distinguished from another is undefined.
 */
export function localNames(
  remote: readonly RemoteName[],
  taken: ReadonlySet<string> = new Set(),
): readonly (string | undefined)[] {
  const plain = remote.map(plainName);
  const counts = countsOf([...plain, ...taken]);
  const names = remote.map((name, index) => {
    const own = plain[index] ?? "";
    return own.length > MAX_LENGTH || (counts.get(own) ?? 0) > 1 ? hashedName(name, own) : own;
  });
  const used = new Set(taken);
  return names.map((name) => {
    if (used.has(name)) return undefined;
    used.add(name);
    return name;
  });
}

function plainName({ server, tool }: RemoteName): string {
  return `mcp__${simple(server)}__${simple(tool)}`;
}

function simple(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, "_");
}

function hashedName({ server, tool }: RemoteName, plain: string): string {
  // Loaded with the first name that needs it.
  const { createHash } = process.getBuiltinModule("node:crypto");
  const hash = createHash("sha256").update(`${server}\0${tool}`).digest("hex");
  return `${plain.slice(0, KEPT_LENGTH)}_${hash.slice(0, HASH_LENGTH)}`;
}

function countsOf(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
