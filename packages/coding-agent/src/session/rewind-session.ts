import { type SessionTree, userMessageOf, userText } from "@tau-agent/sessions/log";
import type { RewindSession, UserEntry } from "@tau-agent/worktrees";
import type { SessionParts } from "./session-parts.ts";

export function rewindSession({
  conversation,
  driver,
  navigation,
  work,
}: SessionParts): RewindSession {
  const { header, tree } = conversation.log;
  return {
    id: header.id,
    isBusy: driver.isBusy,
    leafId: tree.leafId,
    length: tree.length,
    promptEntryId: () => lastUserEntry(tree),
    userEntry: (entryId) => userEntry(tree, entryId),
    navigate: async (entryId) => {
      const { cancelled } = await navigation.navigate(entryId);
      // Recorded, because the next host would otherwise continue from the last entry of the file.
      if (!cancelled) {
        conversation.append({ type: "custom", customType: "rewind", data: { entryId } });
      }
      return { cancelled };
    },
    perform: (change) => work.perform(change),
  };
}

/** Searches from the leaf without parsing other messages. */
function lastUserEntry(tree: SessionTree): string | undefined {
  for (const position of tree.positions()) {
    const role = tree.roleAt(position);
    if (role !== undefined && role !== "user") continue;
    const entry = tree.at(position);
    if (entry && userMessageOf(entry)) return entry.id;
  }
  return undefined;
}

function userEntry(tree: SessionTree, entryId: string): UserEntry | undefined | null {
  const position = tree.indexOf(entryId);
  const entry = position === undefined ? undefined : tree.at(position);
  if (position === undefined || entry === undefined) return null;
  const message = userMessageOf(entry);
  return message && { text: userText(message), position };
}
