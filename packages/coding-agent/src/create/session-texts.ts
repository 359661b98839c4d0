import type { McpAccess } from "@tau-agent/mcp";
import type { OpenExtensions } from "../extensions/open-extensions.ts";
import type { CommandInfo } from "../resources/list-commands.ts";
import type { PromptResources } from "../resources/resources.ts";
import type { SessionParts } from "../session/build-session.ts";
import type { SessionInputs } from "../session/session-inputs.ts";

/** Where the texts of a session come from. */
interface TextSources {
  readonly resources: PromptResources;
  readonly mcp: McpAccess;
  readonly opened: Pick<OpenExtensions, "hooks"> | undefined;
  readonly textCommands: () => Promise<readonly CommandInfo[]>;
  readonly parts: () => Pick<SessionParts, "problems">;
}

/** The system prompt of a session, and the commands its prompts may begin with. */
export function sessionTexts({
  resources,
  mcp,
  opened,
  textCommands,
  parts,
}: TextSources): Pick<SessionInputs, "systemPrompt" | "listCommands"> {
  return {
    listCommands: async () => [
      ...(opened?.hooks.commandInfos() ?? []),
      ...(await textCommands()),
      ...mcp.commands,
    ],
    systemPrompt: async (tools) => {
      const prompt = await resources.systemPrompt(tools);
      // Texts are read for the first prompt, so only now is it known which were left out.
      for (const problem of await resources.diagnostics()) parts().problems.noteOnce(problem);
      return mcp.section === "" ? prompt : `${prompt}\n\n${mcp.section}`;
    },
  };
}
