import type { Frame } from "./frame-stream.ts";

/** Commands that begin work; a worker that is about to end refuses them. */
const beginning = /^(prompt|steer|follow_up|queue_message|abort_and_prompt|bash|compact)$/;

/** The answer to a command that the worker does not pass to its host; otherwise undefined. */
export function refusalOf(
  { type, id }: Frame,
  worker: { readonly control: ReadonlySet<string> | undefined; readonly isDraining: boolean },
): Frame | undefined {
  const command = String(type);
  const refuse = (code: string, error: string): Frame => ({
    type: "response",
    ...(id === undefined ? {} : { id }),
    command,
    success: false,
    error,
    code,
  });
  if (command === "parse") return refuse("parse", "Failed to parse command");
  if (worker.control !== undefined && !worker.control.has(command)) {
    return refuse("unknown_command", `This worker does not take ${command}; see --control`);
  }
  if (!worker.isDraining || !beginning.test(command)) return undefined;
  return refuse("draining", "The worker is about to end");
}
