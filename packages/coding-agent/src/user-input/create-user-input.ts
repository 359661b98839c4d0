import type { SettingsStore, ToolEnvironment } from "@tau-agent/system";
import type { PromptResources } from "../resources/resources.ts";
import { UserInput, type UserInputOptions } from "./input.ts";

type ExpandRemote = NonNullable<UserInputOptions["expandRemote"]>;

type ReadResource = NonNullable<UserInputOptions["readResource"]>;

/** Turns user input into messages: expands templates, fetches images and scales them down. */
export function createUserInput({
  resources,
  settings,
  toolEnvironment,
  mcp,
}: {
  readonly resources: PromptResources;
  readonly settings: SettingsStore;
  readonly toolEnvironment: Pick<ToolEnvironment, "web">;
  /** Expands the prompts of MCP servers, and reads their resources. */
  readonly mcp?:
    | { expand(text: string): ReturnType<ExpandRemote>; readonly attach: ReadResource }
    | undefined;
}): UserInput {
  return new UserInput({
    expand: (text) => resources.expand(text),
    expandRemote: mcp && ((text) => mcp.expand(text)),
    readResource: mcp && ((resource) => mcp.attach(resource)),
    fetch: toolEnvironment.web?.fetch,
    prepareImage: async (image) => {
      const { preparePromptImage } = await import("./prompt-image.ts");
      return preparePromptImage(image, { resizes: settings.get("images.autoResize") });
    },
  });
}
