import { readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isInside } from "@tau-agent/system";

/** What an agent must not read: the tasks and the repositories around them, whose history also contains the checks. */
export async function hiddenPlaces(tasksFolder: string): Promise<string[]> {
  const places = [tasksFolder];
  for (let folder = tasksFolder; ; folder = dirname(folder)) {
    places.push(...(await repositoryAt(join(folder, ".git"))));
    if (folder === dirname(folder)) return outermost(places);
  }
}

/** A hidden folder already hides what is inside it. */
function outermost(places: readonly string[]): string[] {
  return places.filter(
    (place, index) =>
      places.indexOf(place) === index &&
      !places.some((other) => other !== place && isInside(other, place)),
  );
}

async function repositoryAt(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return [];
  if (found.isDirectory()) return [path];
  // In a work tree or a submodule, `.git` is a file with the path of the folder.
  const named = /^gitdir: (.*)/.exec(await readFile(path, "utf8").catch(() => ""))?.[1];
  if (named === undefined) return [];
  const own = resolve(dirname(path), named.trim());
  const common = await readFile(join(own, "commondir"), "utf8").catch(() => undefined);
  return common === undefined ? [own] : [own, resolve(own, common.trim())];
}

/** Variables that reveal the current folder or the command that was run. */
const telling = /^(PWD|OLDPWD|INIT_CWD|_|npm_.*)$/;

/** A host's environment without the variables that reveal the tasks. */
export function discreetEnvironment(
  variables: Readonly<Record<string, string | undefined>>,
  hidden: readonly string[],
): Record<string, string | undefined> {
  const names = Object.keys(variables).filter((name) => {
    const value = variables[name] ?? "";
    return telling.test(name) || hidden.some((place) => value.includes(place));
  });
  return { ...variables, ...Object.fromEntries(names.map((name) => [name, undefined])) };
}
