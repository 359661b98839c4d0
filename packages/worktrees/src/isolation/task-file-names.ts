/** The part of an id that is safe in file and branch names; bounded, because models choose ids. */
export function slugOf(id: string): string {
  const words = id.replace(/[^\p{L}\p{N}_]+/gu, "-").replace(/^-+|-+$/g, "");
  return [...words].slice(0, 40).join("") || "task";
}

/** A unique name for each id, even on file systems that ignore case. */
export function taskFileNames(ids: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  const names = new Map<string, string>();
  for (const id of ids) {
    const slug = slugOf(id);
    let name = slug;
    for (let count = 2; taken.has(keyOf(name)); count++) name = `${slug}-${count}`;
    taken.add(keyOf(name));
    names.set(id, name);
  }
  return names;
}

function keyOf(name: string): string {
  return name.normalize("NFC").toLowerCase();
}
