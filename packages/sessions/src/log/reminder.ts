import type { CustomMessage } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { escapeXml } from "@tau-agent/system";

/** What happens to a stopped reply: it is removed from the conversation, or stays. */
type ContextMode = "discard" | "keep";

interface BrokenRule {
  readonly name: string;
  readonly filePath: string;
  readonly content: string;
}

export interface ReminderDetails {
  readonly rules: readonly string[];
  readonly contextMode: ContextMode;
}

/** pi's name for reminders of stream rules. */
const customType = "ttsr-injection";

const openings = {
  discard:
    "The reply you had begun was stopped and taken back, because it went against a rule of the user. Begin it again, in keeping with the rule.",
  keep: "Your reply was stopped at this point, because it went against a rule of the user. Correct what goes against the rule, then go on.",
} as const;

/** The message that shows rules to the model. */
export function createReminder(
  rules: readonly BrokenRule[],
  contextMode: ContextMode,
): CustomMessage {
  const parts = rules.map(
    ({ name, filePath, content }) =>
      `<system-reminder reason="rule_violation" rule="${escapeXml(name)}" path="${escapeXml(filePath)}">\n${content}\n</system-reminder>`,
  );
  const details: ReminderDetails = { rules: rules.map(({ name }) => name), contextMode };
  return {
    role: "custom",
    customType,
    content: [openings[contextMode], ...parts].join("\n\n"),
    display: false,
    details,
    timestamp: Date.now(),
  };
}

/** The details of a reminder; undefined for every other message or entry. */
export function reminderDetails(message: {
  readonly customType: string;
  readonly details?: unknown;
}): ReminderDetails | undefined {
  const { details } = message;
  if (message.customType !== customType || !isJsonObject(details)) return undefined;
  const rules = Array.isArray(details.rules) ? details.rules : [];
  return {
    rules: rules.filter((name) => typeof name === "string"),
    contextMode: details.contextMode === "keep" ? "keep" : "discard",
  };
}
