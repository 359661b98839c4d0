import type { ToolEnvironment } from "@tau-agent/system";
import { reachOf } from "./file-problem.ts";

/** A text to write, and the path as the model wrote it. */
export interface WrittenText {
  readonly shown: string;
  readonly text: string;
  readonly signal: AbortSignal;
}

/** Writes a text in the place where the session's tools write. */
export async function writeText(
  file: string,
  { shown, text, signal }: WrittenText,
  environment: ToolEnvironment,
): Promise<void> {
  environment.sandbox?.refuseWrite(file, shown);
  const within = reachOf("write", environment);
  await environment.workspace.write(file, Buffer.from(text), { within, signal });
}
