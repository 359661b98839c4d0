import { type FileState, isSame } from "../files/file-state.ts";

/** The three states of a path that are merged when a change is taken back. */
export interface ThreeStates {
  readonly base: FileState | undefined;
  readonly ours: FileState | undefined;
  readonly theirs: FileState | undefined;
}

/** The state without the change, or why there is none. */
export type MergedState = { readonly state: FileState | undefined } | { readonly conflict: string };

/** Merges the contents of a file; undefined if they conflict. */
export type MergeContents = (
  base: string,
  ours: string,
  theirs: string,
) => Promise<string | undefined>;

/** Takes back a change to one path, and keeps later changes. */
export async function mergeState(
  { base, ours, theirs }: ThreeStates,
  mergeContents: MergeContents,
): Promise<MergedState> {
  if (isSame(ours, base) || isSame(ours, theirs)) return { state: theirs };
  if (isSame(base, theirs)) return { state: ours };
  if (ours === undefined) return { conflict: "it was deleted since" };
  if (theirs === undefined) return { conflict: "it was changed since, and did not exist before" };
  if (base === undefined) return { conflict: "it was created since, and existed before" };
  if (base.kind !== "file" || ours.kind !== "file" || theirs.kind !== "file") {
    return { conflict: "it was changed since, and is not a file each time" };
  }
  const mode = mergeValue(base.mode, ours.mode, theirs.mode);
  if (mode === undefined) return { conflict: "its permissions were changed since" };
  const id =
    mergeValue(base.id, ours.id, theirs.id) ?? (await mergeContents(base.id, ours.id, theirs.id));
  if (id === undefined) return { conflict: "the same lines were changed since" };
  return { state: { kind: "file", mode, id } };
}

function mergeValue<Value>(base: Value, ours: Value, theirs: Value): Value | undefined {
  if (ours === base || ours === theirs) return theirs;
  return base === theirs ? ours : undefined;
}
