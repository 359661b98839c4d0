import type { SourcedRule } from "@tau-agent/rpc-protocol";
import {
  allowsHost,
  commandMatcher,
  type Matcher,
  nameMatcher,
  pathMatcher,
} from "@tau-agent/system";
import type { RuleFolders, Subject } from "./subject.ts";

export interface CompiledRule {
  readonly rule: SourcedRule;
  readonly fitsTool: Matcher;
  readonly fitsAll: boolean;
  readonly fitsCommand: Matcher;
  readonly fitsPath: Matcher;
  readonly fitsHost: Matcher;
  readonly fitsUri: Matcher;
}

/**
 * Compiles a rule for the folders of a session.
 *
 * @param tools - name matchers that were compiled for other rules
 */
export function compileRule(
  rule: SourcedRule,
  folders: RuleFolders,
  tools = new Map<string, Matcher>(),
): CompiledRule {
  const { tool, match = "*" } = rule;
  const fitsTool = tools.get(tool) ?? nameMatcher(tool);
  tools.set(tool, fitsTool);
  const bases = [...new Set([folders.cwd, folders.realCwd])];
  let paths: Matcher[] | undefined;
  let commands: Matcher | undefined;
  return {
    rule,
    fitsTool,
    fitsAll: match === "*",
    fitsCommand: (text) => {
      commands ??= commandMatcher(match);
      return commands(text);
    },
    fitsHost: (host) => allowsHost([match], host),
    fitsUri: pathMatcher("", match),
    fitsPath: (path) => {
      paths ??= bases.map((base) => fromFolder(match, base, folders.homeDirectory));
      return paths.some((fits) => fits(path));
    },
  };
}

/** Makes a pattern absolute, relative to the home directory or the folder. */
function fromFolder(pattern: string, cwd: string, homeDirectory: string): Matcher {
  if (pattern.startsWith("/")) return pathMatcher("", pattern);
  if (pattern === "~") return pathMatcher(homeDirectory, "");
  if (pattern.startsWith("~/")) return pathMatcher(slashed(homeDirectory), pattern.slice(2));
  let base = cwd;
  let rest = pattern;
  for (;;) {
    if (rest.startsWith("./")) rest = rest.slice(2);
    else if (rest.startsWith("../")) {
      rest = rest.slice(3);
      base = base.slice(0, Math.max(0, base.lastIndexOf("/")));
    } else break;
  }
  return rest === "." ? pathMatcher(base, "") : pathMatcher(slashed(base), rest);
}

function slashed(folder: string): string {
  return folder.endsWith("/") ? folder : `${folder}/`;
}

/**
 * Whether a rule applies. In doubt, a rule that denies or asks applies, and one that allows does
 * not: it must match the real file, and the command as written.
 */
export function fits(compiled: CompiledRule, subject: Subject): boolean {
  const { rule, fitsTool, fitsAll, fitsCommand, fitsPath, fitsHost, fitsUri } = compiled;
  if (!fitsTool(subject.tool.name)) return false;
  if (fitsAll) return true;
  const isAllow = rule.action === "allow";
  switch (subject.kind) {
    case "path":
      return isAllow
        ? subject.paths.every(({ real, isOriginal }) => !isOriginal && fitsPath(real))
        : subject.paths.some(({ given, real }) => fitsPath(given) || fitsPath(real));
    case "uri":
      // A rule about all files does not allow URIs.
      return (!isAllow || /^[^/]+:\/\//.test(rule.match ?? "")) && fitsUri(subject.uri);
    case "host":
      return fitsHost(subject.host);
    case "command": {
      const { text, baseText } = subject;
      if (fitsCommand(text)) return true;
      return !isAllow && baseText !== undefined && fitsCommand(baseText);
    }
    default:
      return false;
  }
}

/** Whether a rule denies or asks about a part of a line, or about writing files. */
export function isAboutParts({ rule, fitsTool, fitsAll }: CompiledRule): boolean {
  if (rule.action === "allow") return false;
  return (fitsTool("bash") && !fitsAll) || fitsTool("write");
}
