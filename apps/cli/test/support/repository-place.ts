import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Turn } from "@tau-agent/ai/testing";
import { makePlace, type Place } from "./place.ts";

/** Runs git and returns its output. */
export const git = (cwd: string, ...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@localhost", ...args], {
    cwd,
    encoding: "utf8",
  });

/** The content of a reply that calls a tool. */
export const call = (name: string, args: Record<string, unknown>): Turn["content"] => [
  { type: "toolCall", name, arguments: args },
];
/** One reply to a new message, one to the tool result. */
export const worker = (mark: string, content: Turn["content"]): Turn[] => [
  { when: { lastUserIncludes: mark, hasToolResults: false }, content },
  { when: { lastUserIncludes: mark, hasToolResults: true }, content: `${mark} done` },
];

/** A place whose project is a repository with one commit. */
export function repositoryPlace(
  scenario: Turn[],
  settings: Record<string, unknown> = {},
  args: readonly string[] = [],
): Place {
  const place = makePlace({
    scenario,
    arguments: args,
    files: { "agent/settings.json": JSON.stringify(settings) },
  });
  firstCommit ??= makeFirstCommit();
  cpSync(firstCommit, join(place.cwd, ".git"), { recursive: true });
  return place;
}

/**
 * The git directory of a project with one commit; copied, because every project has the same files and git is slow.
 */
let firstCommit: string | undefined;

function makeFirstCommit(): string {
  const { cwd, folder } = makePlace();
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  git(cwd, "init", "-q");
  git(cwd, "add", "-A");
  git(cwd, "commit", "-qm", "first");
  return join(cwd, ".git");
}

/** The processes of hosts that run this place's scenario. */
export function hostsOf(place: Place): number[] {
  return processesWith(place.folder);
}

/** Processes whose command line contains a text. */
export function processesWith(text: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        return pid > 0 && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
      } catch {
        return false;
      }
    });
}
