import type { Diagnostic } from "@tau-agent/system";
import { type LoadOptions, type ResourcePlace, realPathOf } from "./places.ts";

interface NamedResource {
  readonly name: string;
  readonly filePath: string;
}

export interface ResourceKind<
  Place extends ResourcePlace,
  File extends { path: string },
  Resource,
> {
  /** As a diagnostic begins: `Skill`, `Template`. */
  readonly noun: string;
  readonly filesIn: (place: Place) => Promise<readonly File[]>;
  readonly read: (file: File, place: Place) => Promise<Resource | undefined>;
}

/**
 * Reads the resources of places, the strongest first. Of two with one name the stronger place wins,
 * with a diagnostic; the same file reached twice counts once, silently.
 */
export async function collectResources<
  Place extends ResourcePlace,
  File extends { path: string },
  Resource extends NamedResource,
>(
  places: readonly Place[],
  kind: ResourceKind<Place, File, Resource>,
  { onlyNamed, excludes, diagnostics }: LoadOptions & { diagnostics: Diagnostic[] },
): Promise<Resource[]> {
  const resources = new Map<string, Resource>();
  const seen = new Set<string>();
  for (const place of onlyNamed ? places.filter(({ isNamed }) => isNamed) : places) {
    for (const file of await kind.filesIn(place)) {
      const real = await realPathOf(file.path);
      // A project's link must not hide the user's own file, which may be read.
      const failed = `${place.scope}\0${real}`;
      if (seen.has(real) || seen.has(failed) || excludes?.(file.path)) continue;
      if (place.includes?.(file.path) === false) continue;
      const resource = await kind.read(file, place);
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
