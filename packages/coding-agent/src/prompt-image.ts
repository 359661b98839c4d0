import type { ImageContent } from "@tau-agent/rpc-protocol/messages";
export async function preparePromptImage(image: ImageContent, _resize: boolean): Promise<ImageContent> { return image; }
