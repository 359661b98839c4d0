import type { HostModules } from "./host-imports.ts";

/** The module behind each member that older hosts add to the `pi` object. */
const memberModules: Readonly<Record<string, string>> = {
  typebox: "@sinclair/typebox",
  // Not a package name: an extension that imports zod has its own copy.
  zod: "pi.zod",
  arktype: "pi.arktype",
  pi: "@oh-my-pi/pi-coding-agent",
};

/** Members of the `pi` object that only some pi-compatible hosts have, if they are documented. */
export async function oldHostMembers(
  mentions: ReadonlySet<string>,
  hostModules: HostModules,
): Promise<object> {
  const silent = (): void => {};
  const members: Record<string, unknown> = {
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    // No terminal is rendered here, and no write fails because the sandbox is missing.
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
