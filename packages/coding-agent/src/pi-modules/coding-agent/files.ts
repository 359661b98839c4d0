import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { describeChangeNow, detectImageType } from "@tau-agent/system";
import { gatedPaths } from "../../create/trust/gated-files.ts";
import { contextFileNames } from "../../resources/files/context-files.ts";
import { ancestorsOf, type ResourceDirs } from "../../resources/files/places.ts";
import { textBoundsNow } from "../../resources/files/project-bounds.ts";
import { readBoundTextNow } from "../../resources/files/text-bounds.ts";
import type { HostPlaces } from "../base/host-places.ts";
import type { AgentsFile } from "./resource-loader.ts";

type LoadDirectory = (options: { dir: string; source?: string }) => {
  readonly skills: readonly { readonly name: string }[];
};

/** pi's functions for files: announcing changes, and reading all texts in a directory. */
export async function piFiles(places: HostPlaces, loadDirectory: LoadDirectory) {
  const { diffArrays } = await import("diff");
  const change = (oldContent: string, newContent: string, path = "file") =>
    describeChangeNow({ path, oldContent, newContent }, diffArrays);
  return {
    generateDiffString: (oldContent: string, newContent: string) => {
      const { diff, firstChangedLine } = change(oldContent, newContent);
      return { diff, firstChangedLine };
    },
    generateUnifiedPatch: (path: string, oldContent: string, newContent: string) =>
      change(oldContent, newContent, path).patch,
    loadSkills: (options: SkillsOptions = {}) => loadSkills(options, places, loadDirectory),
    loadProjectContextFiles: ({ cwd = places.cwd, agentDir = places.agentDirectory } = {}) =>
      contextFiles({ cwd, agentDirectory: agentDir, homeDirectory: places.homeDirectory }),
    detectSupportedImageMimeTypeFromFile: imageTypeOf,
    hasTrustRequiringProjectResources: (cwd: string) =>
      gatedPaths({ cwd: resolve(cwd), agentDirectory: resolve(places.agentDirectory) }).some(
        existsSync,
      ),
    formatReadLineRange: ({ offset, limit }: { offset?: number; limit?: number } = {}) => {
      if (offset === undefined && limit === undefined) return "";
      const first = offset ?? 1;
      return limit === undefined ? `:${first}` : `:${first}-${first + limit - 1}`;
    },
  };
}

interface SkillsOptions {
  readonly cwd?: string;
  readonly agentDir?: string;
  readonly skillPaths?: readonly string[];
  readonly includeDefaults?: boolean;
}

/** The first skill of a name wins: the project's, then the user's, then those of given paths. */
function loadSkills(
  { skillPaths = [], includeDefaults = true, ...own }: SkillsOptions,
  places: HostPlaces,
  loadDirectory: LoadDirectory,
) {
  const { cwd = places.cwd, agentDir = places.agentDirectory } = own;
  const standard = [
    { dir: join(cwd, ".pi", "skills"), source: "project" },
    { dir: join(agentDir, "skills"), source: "user" },
    { dir: join(places.homeDirectory, ".agents", "skills"), source: "user" },
  ];
  const named = skillPaths.map((path) => {
    const absolute = resolve(cwd, path);
    return { dir: path.endsWith(".md") ? dirname(absolute) : absolute, source: "path" };
  });
  const found = [...(includeDefaults ? standard : []), ...named].flatMap(
    (place) => loadDirectory(place).skills,
  );
  const skills = [...new Map(found.toReversed().map((skill) => [skill.name, skill])).values()];
  return { skills: skills.reverse(), diagnostics: [] };
}

function contextFiles(dirs: ResourceDirs): AgentsFile[] {
  const bounds = textBoundsNow(dirs);
  const folders = [...new Set([dirs.agentDirectory, ...ancestorsOf(dirs.cwd).reverse()])];
  return folders.flatMap((folder) => {
    const origin = folder === dirs.agentDirectory ? "own" : "project";
    for (const name of contextFileNames) {
      const path = join(folder, name);
      const file = readBoundTextNow(path, origin, bounds);
      if (file.kind === "text") return [{ path, content: file.text }];
    }
    return [];
  });
}

/** Detects the type of an image from its first bytes; null for any other file. */
async function imageTypeOf(path: string): Promise<string | null> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0);
    return detectImageType(buffer.subarray(0, bytesRead)) ?? null;
  } finally {
    await file.close();
  }
}
