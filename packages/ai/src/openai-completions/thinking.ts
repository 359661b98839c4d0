import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { StreamOptions } from "../provider.ts";
import { budgetBelow, outputLimit } from "../request/output-limit.ts";
import type { CompletionsCompat, ThinkingFormat } from "./compat.ts";

type Fields = Record<string, unknown>;

/** The requested thinking, in the vendor's terms if the model defines them. */
interface Wish {
  readonly isOn: boolean;
  /** The vendor's value for the level; also for "off" if there is one. */
  readonly value: string | undefined;
  /** Whether thinking can be turned off explicitly. */
  readonly canDisable: boolean;
  readonly budget: number | undefined;
  readonly compat: CompletionsCompat;
}

const formats: Readonly<Record<ThinkingFormat, (wish: Wish) => Fields>> = {
  openai: effort,
  openrouter: (wish) =>
    wish.isOn || wish.canDisable ? { reasoning: { effort: wish.value ?? "none" } } : {},
  deepseek: (wish) => ({ ...typedThinking(wish, {}), ...effortWhenOn(wish) }),
  zai: (wish) => ({
    // Z.ai discards earlier thinking unless told to keep it.
    ...typedThinking(wish, { clear_thinking: false }),
    ...effortWhenOn(wish),
  }),
  together: (wish) => ({
    ...toggle(wish, (enabled) => ({ reasoning: { enabled } })),
    ...effortWhenOn(wish),
  }),
  baseten: (wish) => ({
    ...template(wish, "chat_template_args", wish.compat.chatTemplateArgs),
    ...effortWhenOn(wish),
  }),
  qwen: (wish) => ({
    ...toggle(wish, (enable_thinking) => ({ enable_thinking })),
    ...effortWhenOn(wish),
  }),
  "qwen-chat-template": (wish) =>
    toggle(wish, (enable_thinking) => ({
      // Without earlier thinking, the template degrades tool arguments to `{}`.
      chat_template_kwargs: { enable_thinking, preserve_thinking: true },
    })),
  "chat-template": (wish) => template(wish, "chat_template_kwargs", wish.compat.chatTemplateKwargs),
  "string-thinking": (wish) =>
    wish.isOn || wish.canDisable ? { thinking: wish.value ?? "none" } : {},
  "ant-ling": (wish) => (wish.isOn && wish.value ? { reasoning: { effort: wish.value } } : {}),
};

/** The request members that turn thinking on or off or set its level. Empty for models that cannot think. */
export function thinkingFields(
  model: Model,
  compat: CompletionsCompat,
  options: StreamOptions,
): Fields {
  if (!model.reasoning) return {};
  const level = options.thinkingLevel ?? "off";
  const mapped = model.thinkingLevelMap?.[level];
  const isOn = level !== "off";
  const isMappedOnly = compat.thinkingFormat === "ant-ling";
  const asked = isOn ? options.thinkingBudgets?.[level] : undefined;
  const budget = asked && budgetBelow(asked, outputLimit(model, options));
  const value = mapped ?? (isOn && !isMappedOnly ? defaultValue(level, compat) : undefined);
  const wish: Wish = { isOn, value, canDisable: mapped !== null, budget, compat };
  const fields = formats[compat.thinkingFormat](wish);
  if (compat.thinkingTokenBudgetField !== undefined && budget !== undefined) {
    fields[compat.thinkingTokenBudgetField] = budget;
  }
  return fields;
}

function defaultValue(level: string, compat: CompletionsCompat): string {
  return level === "xhigh" && compat.thinkingFormat === "deepseek" ? "max" : level;
}

function effort(wish: Wish): Fields {
  // Thinking is turned off only if the vendor has a value for it: others refuse the field or think by default.
  if (!wish.compat.supportsReasoningEffort || wish.value === undefined) return {};
  return { reasoning_effort: wish.value };
}

function effortWhenOn(wish: Wish): Fields {
  return wish.isOn ? effort(wish) : {};
}

function toggle(wish: Wish, fields: (enabled: boolean) => Fields): Fields {
  return wish.isOn || wish.canDisable ? fields(wish.isOn) : {};
}

function typedThinking(wish: Wish, whenOn: Fields): Fields {
  return toggle(wish, (enabled) => ({
    thinking: enabled ? { type: "enabled", ...whenOn } : { type: "disabled" },
  }));
}

/** Fills in the template arguments: `{"$var": "thinking.enabled"}` and the like become values. */
function template(wish: Wish, field: string, declared: Readonly<Fields> | undefined): Fields {
  const filled: Fields = {};
  for (const [name, given] of Object.entries(
    declared ?? { enable_thinking: { $var: "thinking.enabled" } },
  )) {
    const value = isVariable(given) ? variable(wish, given) : given;
    if (value !== undefined) filled[name] = value;
  }
  return Object.keys(filled).length === 0 ? {} : { [field]: filled };
}

interface Variable {
  readonly $var: string;
  readonly omitWhenOff?: boolean;
}

function isVariable(value: unknown): value is Variable {
  return typeof value === "object" && value !== null && "$var" in value;
}

function variable(wish: Wish, { $var, omitWhenOff }: Variable): unknown {
  if (!wish.isOn && omitWhenOff === true) return undefined;
  if ($var === "thinking.enabled") return wish.isOn;
  if ($var === "thinking.effort") return wish.value;
  return $var === "thinking.budget" ? wish.budget : undefined;
}
