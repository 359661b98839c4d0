// Summarises the conversation itself instead of asking the model.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function compaction(pi: ExtensionApi): void {
  pi.on("session_before_compact", ({ preparation }) => ({
    compaction: {
      summary: `${preparation.messagesToSummarize.length + preparation.turnPrefixMessages.length} messages were here.`,
      firstKeptEntryId: preparation.firstKeptEntryId,
      tokensBefore: preparation.tokensBefore,
    },
  }));
  pi.on("session_compact", (event) => {
    pi.appendEntry("compacted", { fromExtension: event.fromExtension });
  });
}
