import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  dataFolder,
  makePlace as makeHostPlace,
  type Place,
  type TranscriptSetup,
} from "@tau-agent/conformance";

export type { Place } from "@tau-agent/conformance";

/** How to start a test's host. */
export type PlaceSetup = Partial<TranscriptSetup> & { readonly dialect?: string };

/** Folders and arguments of one host with a scripted model. */
export function makePlace(setup: PlaceSetup = {}): Place {
  const place = makeHostPlace(setup, (folder) => ({
    arguments: ["--provider", "scripted", "--model", modelFile(setup, folder)],
    files: { "scenario.json": JSON.stringify(setup.scenario ?? []) },
  }));
  const given = setup.arguments ?? [];
  const mode = given.includes("--mode") || given.includes("-p") ? [] : ["--mode", "rpc"];
  return { ...place, arguments: [...mode, ...place.arguments] };
}

function modelFile({ model }: PlaceSetup, folder: string): string {
  if (model === undefined) return join(folder, "scenario.json");
  return fileURLToPath(new URL(`models/${model}`, dataFolder));
}
