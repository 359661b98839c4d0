import type {
  BetaOutputConfig,
  BetaSystemMessageParam,
  BetaThinkingConfigAdaptive,
} from "@anthropic-ai/sdk/resources/beta/messages/messages";
import type {
  MessageCreateParamsStreaming,
  MessageParam,
  SystemMessageParam,
  ThinkingConfigParam,
} from "@anthropic-ai/sdk/resources/messages";

/** How much work a model puts into a reply. */
export type Effort = NonNullable<BetaOutputConfig["effort"]>;

/** A change of instructions, tools or effort between two messages. */
export type ControlMessage = BetaSystemMessageParam;

/** A message of the user or the model. */
export type TurnParam = Exclude<MessageParam, SystemMessageParam>;

/** A message in a request. */
export type WireMessage = TurnParam | ControlMessage;

/** The body of a request; `temperature` exists only in API version 2023-06-01. */
export type AnthropicRequest = Omit<
  MessageCreateParamsStreaming,
  "messages" | "thinking" | "output_config"
> & {
  messages: WireMessage[];
  thinking?: ThinkingConfigParam | BetaThinkingConfigAdaptive;
  output_config?: { effort: Effort };
  temperature?: number;
};
