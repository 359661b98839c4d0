import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { attempt, type ToolEnvironment } from "@tau-agent/system";

/** The host's modules by the names that extensions import; each is loaded on first use. */
export type HostModules = Readonly<Record<string, () => Promise<object>>>;

/** The same modules for a remote session: their tools act in its workspace. */
export function modulesElsewhere(
  modules: HostModules,
  environment: () => ToolEnvironment | undefined,
): HostModules {
  const make = modules["pi.tools"];
  if (make === undefined) return modules;
  const load = (module: () => Promise<object>) => async () => {
    const { toolsIn } = (await make()) as { toolsIn(elsewhere: typeof environment): object };
    return { ...(await module()), ...toolsIn(environment) };
  };
  return Object.fromEntries(
    Object.entries(modules).map(([name, module]) => [
      name,
      /\/(?:pi-)?coding-agent$/.test(name) ? load(module) : module,
    ]),
  );
}

/** More files than an extension has: a guard against reading a whole project. */
const maxFiles = 500;
const maxFileBytes = 4 * 1024 * 1024;

/**
 * The host modules that an extension and its own files mention. Imports inside a module are
 * synchronous, so these must be loaded before the extension runs.
 */
export async function hostImports(
  entry: string,
  hostModules: HostModules,
): Promise<{ modules: Record<string, object>; mentions: ReadonlySet<string> }> {
  const names = new Set<string>();
  const mentions = new Set<string>();
  for (const text of sourcesOf(entry).values()) {
    for (const [word] of text.matchAll(
      /\b(?:modelRegistry|typebox|zod|arktype|getSystemPrompt)(?:Options)?\b|\.pi\b/g,
    ))
      mentions.add(word.replace(/^\.|Options$/g, ""));
    // The extension locates pi's packages as files, to start programs of its own.
    if (/\b(?:import\.meta|require)\.resolve\b/.test(text)) mentions.add("packages");
    // Lists of models must be read in advance, even if the extension accesses them by another name.
    if (/\b(?:ctx|context)\.models\./.test(text)) mentions.add("modelRegistry");
    for (const [, name = ""] of text.matchAll(/["'`](@?[a-z][^"'`\s$]*)["'`]/g)) names.add(name);
  }
  const modules: Record<string, object> = {};
  for (const name of names) {
    const key = hostNameOf(name, hostModules);
    const load = key === undefined ? undefined : hostModules[key];
    if (load !== undefined) modules[name] = await load();
  }
  return { modules, mentions };
}

/** The texts of an extension's own files: the entry and everything reachable by relative imports. */
export function sourcesOf(entry: string): ReadonlyMap<string, string> {
  const sources = new Map<string, string>();
  const queue = [entry];
  const seen = new Set(queue);
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    const text = readSource(file);
    sources.set(file, text);
    for (const [, name = ""] of text.matchAll(/["'`](\.{1,2}\/[^"'`\s$]*)["'`]/g)) {
      const path = resolveSource(join(dirname(file), name));
      if (path === undefined || seen.has(path) || seen.size >= maxFiles) continue;
      seen.add(path);
      queue.push(path);
    }
  }
  return sources;
}

/** The host module that an import name refers to; deep paths refer to their package. */
export function hostNameOf(name: string, hostModules: HostModules): string | undefined {
  for (let part = name; part !== ""; part = part.slice(0, Math.max(0, part.lastIndexOf("/")))) {
    if (Object.hasOwn(hostModules, part)) return part;
  }
  return undefined;
}

function readSource(path: string): string {
  return (
    attempt(() => (statSync(path).size > maxFileBytes ? "" : readFileSync(path, "utf8"))) ?? ""
  );
}

/** The file that a relative import refers to, also without its extension or with that of the compiled file. */
function resolveSource(path: string): string | undefined {
  const bare = path.replace(/\.[mc]?js$/, "");
  const candidates = [path, `${path}.ts`, `${path}.js`, `${bare}.ts`, `${bare}.mts`, `${bare}.tsx`];
  candidates.push(join(path, "index.ts"), join(path, "index.js"));
  return candidates.find((candidate) => {
    return attempt(() => statSync(candidate).isFile()) ?? false;
  });
}
