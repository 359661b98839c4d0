import { hostOf, readShellLine } from "@tau-agent/system";
import { asOwnFile, type IsolatedCopy, isOriginal } from "./isolated-paths.ts";
import { type RealPaths, realPathsHere, withSlashes } from "./real-paths.ts";
import type { CallPath, Subject, ToolTraits } from "./rules/subject.ts";

/** A call whose arguments fit the tool's schema. */
export interface JudgedCall {
  readonly tool: ToolTraits;
  readonly input: Readonly<Record<string, unknown>>;
  /** Whether it is a built-in tool rather than another tool of the same name. */
  readonly isBuiltIn: boolean;
}

export interface PathContext {
  readonly cwd: string;
  readonly homeDirectory: string;
  /** The files that a path may refer to for a built-in tool. */
  readonly resolveOwn: (path: string) => readonly string[] | Promise<readonly string[]>;
  /** The URI of a client that a built-in tool would use for such a path. */
  readonly uriOf?: ((path: string) => string | undefined) | undefined;
  /** The workspace's real paths; default this machine's. */
  readonly realPaths?: RealPaths | undefined;
  /** The tree of an isolated subagent, whose files are judged like the user's own. */
  readonly copy?: IsolatedCopy | undefined;
  /** The shell that runs lines of `bash`, if one is configured. */
  readonly shellPath?: string | undefined;
}

/** All parts of a call that are judged separately. */
export async function subjectsOf(
  { tool, input, isBuiltIn }: JudgedCall,
  context: PathContext,
): Promise<readonly Subject[]> {
  if (tool.name === "bash" && typeof input.command === "string") {
    return subjectsOfLine(input.command, tool, context);
  }
  if (tool.name === "web_fetch" && typeof input.url === "string" && URL.canParse(input.url)) {
    return [{ kind: "host", tool, host: hostOf(new URL(input.url)) }];
  }
  const path = pathOf(tool, input, isBuiltIn);
  if (path === undefined) return [{ kind: "call", tool }];
  const uri = isBuiltIn ? context.uriOf?.(path) : undefined;
  if (uri !== undefined) return [{ kind: "uri", tool, uri }];
  // A custom tool may pass the path to a built-in one, which understands `@` and URLs.
  const foreign = isBuiltIn ? [] : [fromShell(path, context)];
  const paths = [...new Set([...foreign, ...(await context.resolveOwn(path))])];
  return [{ kind: "path", tool, paths: await callPaths(paths, context), text: path }];
}

/** Built-in search tools use the working folder by default. */
const searchesFolder: ReadonlySet<string> = new Set(["grep", "find", "ls"]);

function pathOf(
  { name }: ToolTraits,
  { path }: Readonly<Record<string, unknown>>,
  isBuiltIn: boolean,
): string | undefined {
  if (typeof path === "string") return path;
  return isBuiltIn && searchesFolder.has(name) ? "." : undefined;
}

async function subjectsOfLine(
  line: string,
  tool: ToolTraits,
  context: PathContext,
): Promise<readonly Subject[]> {
  const read = await readShellLine(line, context.shellPath);
  if (!read.understood) {
    return [{ kind: "opaque", tool, reason: read.reason, commands: read.commands }];
  }
  const write: ToolTraits = { name: "write", isReadOnly: false, isNeverAsked: false };
  const subjectOf = async (part: (typeof read.parts)[number]): Promise<Subject> => {
    if (part.kind === "write") {
      const paths = await callPaths([fromShell(part.path, context)], context);
      return { kind: "path", tool: write, paths, text: part.path };
    }
    const { text, name, isWrapper = false } = part;
    const baseName = name.slice(name.lastIndexOf("/") + 1);
    const hasPath = baseName !== name && text.startsWith(name);
    const baseText = hasPath ? `${baseName}${text.slice(name.length)}` : undefined;
    return { kind: "command", tool, text, baseText, isWrapper };
  };
  const subjects = await Promise.all(read.parts.map(subjectOf));
  // A line that only redirects output or assigns variables is still a call of the shell.
  const isJudged = subjects.some((subject) => subject.kind === "command" && !subject.isWrapper);
  return isJudged ? subjects : [...subjects, { kind: "call", tool }];
}

function fromShell(path: string, context: PathContext): string {
  const { cwd, homeDirectory, realPaths = realPathsHere } = context;
  const { join, resolve } = realPaths.path;
  if (path === "~") return homeDirectory;
  return path.startsWith("~/") ? join(homeDirectory, path.slice(2)) : resolve(cwd, path);
}

function callPaths(given: readonly string[], context: PathContext): Promise<readonly CallPath[]> {
  return Promise.all(given.map((each) => callPath(each, context)));
}

async function callPath(
  given: string,
  { copy, realPaths = realPathsHere }: PathContext,
): Promise<CallPath> {
  const real = await realPaths.of(given);
  const plain = (path: string) => withSlashes(path, realPaths.path);
  const path = { given: plain(asOwnFile(given, copy)), real: plain(asOwnFile(real, copy)) };
  if (copy === undefined) return path;
  return { ...path, place: plain(given), isOriginal: isOriginal(real, copy) };
}
