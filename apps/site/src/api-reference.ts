import { join } from "node:path";
import { Application } from "typedoc";

/** The libraries whose public names appear in the reference. */
const libraries = ["coding-agent", "rpc-client", "rpc-protocol", "agent", "ai"];

export interface ReferenceOptions {
  readonly root: string;
  readonly folder: string;
}

/**
 * Writes the reference of the libraries and its sidebar from their doc comments.
 *
 * @throws Error if the sources cannot be read; the cause was printed
 */
export async function writeApiReference({ root, folder }: ReferenceOptions): Promise<void> {
  const app = await Application.bootstrapWithPlugins({
    entryPoints: libraries.map((name) => join(root, "packages", name, "src/index.ts")),
    tsconfig: join(root, "tsconfig.test.json"),
    plugin: ["typedoc-plugin-markdown", "typedoc-vitepress-theme"],
    out: join(folder, "api"),
    basePath: root,
    name: "Libraries",
    readme: "none",
    // `pnpm check` does the type checking; this only reads the sources.
    skipErrorChecking: true,
    excludePrivate: true,
    excludeInternal: true,
    disableSources: true,
    // Suppresses warnings about members of generated types, whose names are not parameters.
    logLevel: "Error",
    ...({ docsRoot: folder, entryFileName: "index", hidePageHeader: true } as object),
  });
  const project = await app.convert();
  if (project === undefined) throw new Error("typedoc could not read the libraries");
  for (const module of project.children ?? []) {
    module.name = module.name.replace(/^packages\/(.*)\/src$/, "@tau-agent/$1");
  }
  await app.generateOutputs(project);
}
