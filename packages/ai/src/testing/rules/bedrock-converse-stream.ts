import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import { listOf, objectOf, textOf } from "../wire/json.ts";
import {
  isFilledList,
  messagesOf,
  modelOf,
  repeated,
  schemaFaults,
  unknownMembers,
} from "./common.ts";
import { type RuleRequest, rulesOf } from "./rule.ts";

const members: ReadonlySet<string> = new Set([
  ...["messages", "system", "inferenceConfig", "toolConfig", "guardrailConfig"],
  ...["additionalModelRequestFields", "promptVariables", "additionalModelResponseFieldPaths"],
  ...["requestMetadata", "performanceConfig", "serviceTier", "outputConfig"],
]);

const kinds: Readonly<Record<string, ReadonlySet<string>>> = {
  user: new Set(["text", "image", "document", "video", "toolResult", "guardContent", "cachePoint"]),
  assistant: new Set(["text", "toolUse", "reasoningContent", "cachePoint"]),
};

const imageFormats: ReadonlySet<unknown> = new Set(["png", "jpeg", "gif", "webp"]);
const idForm = /^[a-zA-Z0-9_-]{1,64}$/;
const mostCachePoints = 4;
const leastBudget = 1024;

function partsOf(message: JsonObject | undefined, kind: string): JsonObject[] {
  return listOf(message?.content).flatMap((block) =>
    block[kind] === undefined ? [] : [objectOf(block[kind])],
  );
}

function* required({ body }: RuleRequest): Generator<string> {
  for (const name of unknownMembers(body, members)) {
    yield `#: extraneous key [${name}] is not permitted`;
  }
  if (!isFilledList(body.messages)) {
    yield "A conversation must start with a user message. Try again with a conversation that starts with a user message.";
  }
}

function* roles(request: RuleRequest): Generator<string> {
  const messages = messagesOf(request);
  for (const [index, { role }] of messages.entries()) {
    if (role === messages[index - 1]?.role) {
      yield "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.";
    }
  }
  if (messages[0]?.role !== "user") {
    yield "A conversation must start with a user message. Try again with a conversation that starts with a user message.";
  }
  if (messages.at(-1)?.role === "assistant") {
    yield "This model does not support assistant message prefill. The conversation must end with a user message.";
  }
}

function* content(request: RuleRequest): Generator<string> {
  for (const [index, message] of messagesOf(request).entries()) {
    const place = `messages.${index}.content`;
    if (!isFilledList(message.content)) {
      yield `The content field in the Message object at ${place} is empty. Add a ContentBlock object to the content field and try again.`;
    }
    for (const [at, block] of listOf(message.content).entries()) {
      const [kind = ""] = Object.keys(block);
      if (Object.keys(block).length !== 1 || kinds[textOf(message.role)]?.has(kind) !== true) {
        yield `The content block at ${place}.${at} has the kind '${kind}', which is not permitted for the role '${message.role}'.`;
      }
      yield* blockFaults(block, `${place}.${at}`);
    }
  }
  for (const [at, block] of listOf(request.body.system).entries()) {
    yield* blockFaults(block, `system.${at}`);
  }
}

function* blockFaults(block: JsonObject, place: string): Generator<string> {
  if (block.text !== undefined && textOf(block.text).trim() === "") {
    yield `The text field in the ContentBlock object at ${place} is blank. Add text to the text field, and try again.`;
  }
  if (block.image !== undefined) {
    const { format, source } = objectOf(block.image);
    if (!imageFormats.has(format))
      yield `Member at '${place}.image.format' must satisfy enum value set: [gif, jpeg, png, webp]`;
    if (textOf(objectOf(source).bytes) === "") yield `The image at ${place} is empty.`;
  }
  for (const [at, inner] of listOf(objectOf(block.toolResult).content).entries()) {
    yield* blockFaults(inner, `${place}.toolResult.content.${at}`);
  }
}

function* calls(request: RuleRequest): Generator<string> {
  const ids: string[] = [];
  for (const [index, message] of messagesOf(request).entries()) {
    for (const { toolUseId, name, input } of partsOf(message, "toolUse")) {
      const place = `messages.${index}.content.toolUse`;
      ids.push(textOf(toolUseId));
      yield* idFaults(`${place}.toolUseId`, toolUseId);
      yield* idFaults(`${place}.name`, name);
      if (!isJsonObject(input)) {
        yield "The format of the value at input in the ToolUseBlock object is invalid. Provide a json object for the field and try again.";
      }
      if (hasEmptyKey(input)) yield `The document at ${place}.input has a member without a name.`;
    }
  }
  for (const id of repeated(ids)) yield `messages: \`tool_use\` ids must be unique: ${id}`;
}

function* idFaults(place: string, id: unknown): Generator<string> {
  if (!idForm.test(textOf(id))) {
    yield `Value '${id}' at '${place}' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+`;
  }
}

function hasEmptyKey(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, member]) => name === "" || hasEmptyKey(member));
}

function* pairs(request: RuleRequest): Generator<string> {
  const messages = messagesOf(request);
  for (const [index, message] of messages.entries()) {
    const ids = (at: number, kind: string) =>
      partsOf(messages[at], kind).map(({ toolUseId }) => textOf(toolUseId));
    const answered = ids(index + 1, "toolResult");
    const open = ids(index, "toolUse").filter((id) => !answered.includes(id));
    if (open.length > 0) {
      yield `Expected toolResult blocks at messages.${index + 1}.content for the following Ids: ${open.join(", ")}`;
    }
    const own = ids(index, "toolResult");
    const asked = ids(index - 1, "toolUse");
    if (own.some((id) => !asked.includes(id)) || repeated(own).length > 0) {
      yield `The number of toolResult blocks at messages.${index}.content exceeds the number of toolUse blocks of previous turn.`;
    }
    const types = listOf(message.content).map((block) => Object.keys(block)[0]);
    if (types.lastIndexOf("toolResult") >= own.length) {
      yield `messages.${index}: toolResult blocks must come before any other content`;
    }
  }
}

function* tools(request: RuleRequest): Generator<string> {
  const { toolConfig } = request.body;
  const uses = messagesOf(request).some(
    (message) => partsOf(message, "toolUse").length + partsOf(message, "toolResult").length > 0,
  );
  if (uses && toolConfig === undefined) {
    yield "The toolConfig field must be defined when using toolUse and toolResult content blocks.";
  }
  const specs = listOf(objectOf(toolConfig).tools).filter(({ toolSpec }) => toolSpec !== undefined);
  if (toolConfig !== undefined && specs.length === 0) {
    yield "Value at 'toolConfig.tools' failed to satisfy constraint: Member must have length greater than or equal to 1";
  }
  const names: string[] = [];
  for (const [index, spec] of specs.entries()) {
    const { name, description, inputSchema } = objectOf(spec.toolSpec);
    const place = `toolConfig.tools.${index}.toolSpec`;
    names.push(textOf(name));
    yield* idFaults(`${place}.name`, name);
    if (description === "")
      yield `${place}.description: Member must have length greater than or equal to 1`;
    const { json } = objectOf(inputSchema);
    if (objectOf(json).type !== "object") {
      yield `The value at ${place}.inputSchema.json.type must be one of the following: object.`;
    }
    for (const { path, why } of schemaFaults(json)) {
      yield `The value at ${place}.inputSchema.json${path} is invalid: ${why}`;
    }
  }
  for (const name of repeated(names)) yield `The toolConfig field has two tools called ${name}.`;
}

function* cachePoints(request: RuleRequest): Generator<string> {
  const count = JSON.stringify(request.body).match(/"cachePoint":\{/g)?.length ?? 0;
  const model = modelOf(request.body, request.path);
  if (count > 0 && !/claude|nova|^arn:/.test(model)) {
    yield "You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information.";
  }
  if (count > mostCachePoints) {
    yield `A maximum of ${mostCachePoints} cache points may be provided. Found ${count}.`;
  }
}

function* thinking({ body }: RuleRequest): Generator<string> {
  const { thinking: wanted } = objectOf(body.additionalModelRequestFields);
  const { type, budget_tokens: budget } = objectOf(wanted);
  const { maxTokens, temperature } = objectOf(body.inferenceConfig);
  if (type === "enabled") {
    if (typeof budget !== "number" || budget < leastBudget) {
      yield `thinking.enabled.budget_tokens: Input should be greater than or equal to ${leastBudget}`;
    }
    if (Number(budget) >= Number(maxTokens)) {
      yield "`max_tokens` must be greater than `thinking.budget_tokens`.";
    }
  }
  const isOn = type === "enabled" || type === "adaptive";
  if (isOn && temperature !== undefined && temperature !== 1) {
    yield "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.";
  }
  for (const message of messagesOf({ body })) {
    for (const { reasoningText } of partsOf(message, "reasoningContent")) {
      if (reasoningText !== undefined && textOf(objectOf(reasoningText).signature) === "") {
        yield "messages: thinking.signature: Field required";
      }
    }
  }
}

export const bedrockRules = rulesOf("bedrock-converse-stream", {
  required,
  roles,
  content,
  calls,
  pairs,
  tools,
  "cache-points": cachePoints,
  thinking,
});
