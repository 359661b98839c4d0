import type { OutputPlace } from "@tau-agent/system";
import { OutputsThere } from "../../tools/common/outputs-there.ts";
import type { SessionBase } from "./session-base.ts";

/** Where a session stores outputs that are too long to show: on the machine where its tools act. */
export function outputPlaceOf({
  workspace,
  disk,
  places,
  sandboxed: { sandbox },
}: Pick<SessionBase, "workspace" | "disk" | "places" | "sandboxed">): OutputPlace {
  const temporaryDirectory = sandbox?.outputDirectory ?? places.temporaryDirectory;
  if (workspace === undefined || disk === undefined) return { temporaryDirectory };
  const outputs = new OutputsThere(workspace, disk);
  return { temporaryDirectory, outputFile: (name) => outputs.open(name) };
}
