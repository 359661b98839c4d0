import { join } from "node:path";
import type { Diagnostic } from "@tau-agent/system";
import type { ExtensionFactory } from "../api/api.ts";
import { ExtensionError, reasonOf } from "../api/errors.ts";
import type { ExtensionFile } from "./discover.ts";
import { type HostModules, hostImports } from "./host-imports.ts";
import { closePrivateCache, openPrivateCache } from "./private-cache.ts";

export interface LoadedFactory {
  readonly file: ExtensionFile;
  readonly factory: ExtensionFactory;
  readonly mentions: ReadonlySet<string>;
}

export interface InlineFactory {
  readonly name: string;
  readonly factory: ExtensionFactory;
}

/** Treats functions as extensions. Their source cannot be scanned for what they use, so everything is prepared. */
export function inlineFactories(
  given: readonly (InlineFactory | ExtensionFactory)[],
): LoadedFactory[] {
  const mentions = new Set(["modelRegistry", "getSystemPrompt"]);
  return given.map((extension, index) => {
    const isBare = typeof extension === "function";
    const { name, factory } = isBare ? { name: `${index + 1}`, factory: extension } : extension;
    const path = `<inline:${name}>`;
    const file = { path, realPath: path, scope: "temporary", isNamed: true } as const;
    return { file, factory, mentions };
  });
}

export interface LoadOptions {
  /** The modules that replace imports of pi's packages. */
  readonly hostModules: HostModules;
  readonly cacheDirectory: string;
}

/**
 * Imports TypeScript or JavaScript extensions without a build. The compiler is loaded here, with the first extension. A
 * failure becomes a diagnostic and does not affect other extensions.
 */
export async function loadFactories(
  files: readonly ExtensionFile[],
  options: LoadOptions,
): Promise<{ factories: LoadedFactory[]; diagnostics: Diagnostic[] }> {
  const factories: LoadedFactory[] = [];
  const diagnostics: Diagnostic[] = [];
  if (files.length === 0) return { factories, diagnostics };
  const cache = join(options.cacheDirectory, "extensions");
  const isPrivate = openPrivateCache(cache);
  const loading = { ...options, cache: isPrivate ? cache : false } as const;
  for (const file of files) {
    try {
      factories.push(await loadFactory(file, loading));
    } catch (error) {
      diagnostics.push(loadFailure(file, error));
    }
  }
  if (isPrivate) closePrivateCache(cache);
  return { factories, diagnostics };
}

export function loadFailure(file: ExtensionFile, error: unknown): Diagnostic {
  const message = `The extension ${file.path} could not be loaded: ${reasonOf(error)}`;
  const mark = file.isNamed ? { isFatal: true as const } : {};
  return { severity: "error", message, path: file.path, ...mark };
}

async function loadFactory(
  file: ExtensionFile,
  options: LoadOptions & { readonly cache: string | false },
): Promise<LoadedFactory> {
  const { createJiti } = await import("jiti");
  const { modules, mentions } = await hostImports(file.realPath, options.hostModules);
  const jiti = createJiti(import.meta.url, {
    // Modules are not cached, so that a reload sees changed files.
    moduleCache: false,
    // The host's modules must take precedence over packages of the same name.
    tryNative: false,
    fsCache: options.cache,
    virtualModules: modules,
    // Imports are resolved to the host's modules first.
    alias: mentions.has("packages") ? await packageFiles(options.hostModules) : {},
  });
  const loaded: unknown = await jiti.import(file.realPath);
  const factory = factoryOf(loaded);
  if (factory === undefined) {
    throw new ExtensionError("load_failed", "its default export is not a function");
  }
  return { file, factory, mentions };
}

async function packageFiles(hostModules: HostModules): Promise<Record<string, string>> {
  const load = hostModules["pi.packages"];
  return load === undefined ? {} : ((await load()) as Record<string, string>);
}

/** The default export; some compilers wrap it twice. */
function factoryOf(loaded: unknown): ExtensionFactory | undefined {
  let value: unknown = loaded;
  for (let depth = 0; depth < 3; depth += 1) {
    if (typeof value === "function") return value as ExtensionFactory;
    value = (value as { default?: unknown } | null | undefined)?.default;
  }
  return undefined;
}

/** Orders extensions: first those of the command line, then the project's, the user's, and those of packages. */
export function inOrder(factories: readonly LoadedFactory[]): LoadedFactory[] {
  const ranks = { temporary: 0, project: 1, user: 2 };
  const rankOf = ({ file }: LoadedFactory): number =>
    file.path.startsWith("<inline:")
      ? 5
      : ranks[file.scope] + (file.package === undefined || file.scope === "temporary" ? 0 : 2);
  return [...factories].sort((a, b) => rankOf(a) - rankOf(b));
}
