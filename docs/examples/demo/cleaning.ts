/** The task that needs an approval, and how the scripted model does it. */
import { type ScenarioRequest, type Turn, toolCall, turn } from "@tau-agent/ai/testing";
import { doneCalls } from "./conversation.ts";

/** Asks for a command that will be refused, and for one that will not. */
export const CLEANING_PROMPT =
  "Delete the folder test with the tool bash, then list what is left with the command ls.";

/** The scripted model's next step if the conversation is about cleaning up. */
export function cleanUp(request: ScenarioRequest): Turn | undefined {
  if (request.lastUserText !== CLEANING_PROMPT) return undefined;
  const done = doneCalls(request).map(({ args }) => args.command);
  const next = ["rm -r test", "ls"].find((command) => !done.includes(command));
  if (next !== undefined) return turn(toolCall("bash", { command: next }));
  return turn("I was not allowed to delete the tests, so they are still there.");
}
