import type { Diagnostic } from "@tau-agent/system";
import { askEach, lookAt } from "./disk.ts";
import type { LoadOptions, ResourcePlace } from "./places.ts";
import type { TextBounds } from "./project-bounds.ts";
import { originOf, readBoundText } from "./text-bounds.ts";

interface NamedResource {
  readonly name: string;
  readonly filePath: string;
}

export interface ResourceKind<
  Place extends ResourcePlace,
  File extends { path: string },
  Resource,
> {
  /** The word that begins diagnostics: `Skill`, `Template`. */
  readonly noun: string;
  readonly filesIn: (place: Place, diagnostics: Diagnostic[]) => Promise<readonly File[]>;
  readonly read: (
    file: File & { readonly text: string },
    place: Place,
    diagnostics: Diagnostic[],
  ) => Promise<Resource | undefined>;
}

interface CollectOptions extends LoadOptions {
  readonly bounds: TextBounds;
  readonly diagnostics: Diagnostic[];
}

/**
 * Reads the resources of places, the strongest first. If two have the same name, the stronger place
 * wins, with a diagnostic. A file that is reached twice counts once, silently.
 */
export async function collectResources<
  Place extends ResourcePlace,
  File extends { path: string },
  Resource extends NamedResource,
>(
  places: readonly Place[],
  kind: ResourceKind<Place, File, Resource>,
  { onlyNamed, excludes, bounds, diagnostics }: CollectOptions,
): Promise<Resource[]> {
  const resources = new Map<string, Resource>();
  const seen = new Set<string>();
  const counting = onlyNamed ? places.filter(({ isNamed }) => isNamed) : places;
  const listed = askEach(
    counting,
    ({ disk }) => disk,
    async (place) => {
      const { disk, includes } = place;
      const problems: Diagnostic[] = [];
      const files = (await kind.filesIn(place, problems)).filter(
        ({ path }) => !excludes?.(path, disk) && includes?.(path) !== false,
      );
      return {
        place,
        problems,
        files: askEach(files, disk, (file) => readLater(file, place, kind, bounds)),
      };
    },
  );
  for (const list of listed) {
    const { place, problems, files } = await list();
    diagnostics.push(...problems);
    for (const file of files) {
      const { path, found, read } = await file();
      const real = `${place.disk.id}\0${(await found)?.realPath ?? path}`;
      // An unreadable link in the project must not hide the user's own file, which may be readable.
      const failed = `${place.scope}\0${real}`;
      if (seen.has(real) || seen.has(failed)) continue;
      const { resource, problems } = await read();
      diagnostics.push(...problems);
      seen.add(resource === undefined ? failed : real);
      if (resource === undefined) continue;
      const other = resources.get(resource.name);
      if (other === undefined) resources.set(resource.name, resource);
      else {
        const { name, filePath: path } = resource;
        const message = `${kind.noun} ${name} of ${path} is hidden by ${other.filePath}`;
        diagnostics.push({ severity: "warning", message, path });
      }
    }
  }
  return [...resources.values()];
}

/** Looks a file up, and reads it once it turns out to be needed; on a remote disk, reads it at once. */
async function readLater<Place extends ResourcePlace, File extends { path: string }, Resource>(
  file: File,
  place: Place,
  kind: ResourceKind<Place, File, Resource>,
  bounds: TextBounds,
) {
  const { disk } = place;
  const found = lookAt(disk, file.path);
  const [read] = askEach([found], disk, async () => {
    const problems: Diagnostic[] = [];
    const read = await readBoundText(file.path, originOf(place), bounds, { disk, found });
    if ((await found)?.kind === "directory") return { resource: undefined, problems };
    if (read.kind === "unreadable") problems.push(read.diagnostic);
    if (read.kind !== "text") return { resource: undefined, problems };
    return { resource: await kind.read({ ...file, text: read.text }, place, problems), problems };
  });
  return { path: file.path, found, read: read as NonNullable<typeof read> };
}
