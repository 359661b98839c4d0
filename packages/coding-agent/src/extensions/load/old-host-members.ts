import type { HostModules } from "./host-imports.ts";

/** Module behind each member that older hosts put on the `pi` object. */
const memberModules: Readonly<Record<string, string>> = {
  typebox: "@sinclair/typebox",
  // No name of a package: an extension that imports zod has one of its own.
  zod: "pi.zod",
  arktype: "pi.arktype",
  pi: "@oh-my-pi/pi-coding-agent",
};

/**
 * Members of the `pi` object that only some pi-compatible hosts have, as far as they are
 * documented.
 */
export async function oldHostMembers(
  mentions: ReadonlySet<string>,
  hostModules: HostModules,
): Promise<object> {
  const silent = (): void => {};
  const members: Record<string, unknown> = {
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    // Nothing of a terminal is shown here, and no write fails for want of a sandbox.
    registerAssistantThinkingRenderer: silent,
    registerComposerShape: silent,
    registerFileWriteFallback: silent,
    registerFileDeleteFallback: silent,
  };
  for (const [member, name] of Object.entries(memberModules)) {
    const load = mentions.has(member) ? hostModules[name] : undefined;
    if (load !== undefined) members[member] = await load();
  }
  return members;
}
