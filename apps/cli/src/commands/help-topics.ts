import { nearestHint } from "@tau-agent/coding-agent";
import { commandHelp, helpText, optionsHelp } from "../command-line/help.ts";
import type { Subcommand } from "../command-line/subcommand.ts";
import { refuse } from "../command-line/values.ts";

/** Topics besides the subcommands. */
const topics: Readonly<Record<string, () => Promise<string>>> = {
  options: async () => optionsHelp(),
};

/**
 * What `tau help` says on a topic; without one, what `tau --help` says.
 *
 * @throws {ProtocolError} `invalid_option` with the nearest topic
 */
export async function helpOn(subcommands: readonly Subcommand[], topic?: string): Promise<string> {
  if (topic === undefined) return helpText(subcommands, Object.keys(topics));
  const command = subcommands.find(({ name }) => name === topic);
  if (command !== undefined) return commandHelp(command);
  if (Object.hasOwn(topics, topic)) return (await topics[topic]?.()) ?? "";
  const names = [...Object.keys(topics), ...subcommands.map(({ name }) => name)];
  return refuse(topic, `there is no such topic${nearestHint(topic, names)}; see tau help`);
}
