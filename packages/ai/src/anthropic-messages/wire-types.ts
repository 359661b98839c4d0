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

/** A message of the user's or the model's. */
export type TurnParam = Exclude<MessageParam, SystemMessageParam>;

/** What a request's list of messages may hold. */
export type WireMessage = TurnParam | ControlMessage;

/** The body of a request; `temperature` belongs to API version 2023-06-01 only. */
export type AnthropicRequest = Omit<
  MessageCreateParamsStreaming,
  "messages" | "thinking" | "output_config"
> & {
  messages: WireMessage[];
  thinking?: ThinkingConfigParam | BetaThinkingConfigAdaptive;
  output_config?: { effort: Effort };
  temperature?: number;
};
